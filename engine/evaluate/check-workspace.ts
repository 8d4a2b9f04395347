/*
 * Runs a check in its own workspace: takes over its carried paths, measures its time, and names where it is
 * configured.
 */

import { type Clock, toRfc3339 } from '../../core/base/clock.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { CarriedPath, CheckCarry, CheckTime, WrittenOutside } from '../../core/interfaces/stage.ts';
import type { WritConfig } from '../config/config.ts';
import type { AdmittedContract } from '../intent/admit-contract.ts';
import { hookCheckId, scannerCheckId } from '../state/checks.ts';
import type { Attempt } from '../state/open-run.ts';
import { carryLimits, type HandedOn, type TrackedCarry } from './carry-store.ts';
import type { OpenWorkspace, WorkspaceSide } from './open-workspace.ts';
import { outsideOf, type WrittenElsewhere } from './run-on-workers.ts';
import { rewrittenFindings, writtenOutside } from './written-outside.ts';

/** State shared by the workspaces of one check; the code that opens them fills it. */
export interface Passing {
  carried?: CheckCarry;
  /** Files that its command wrote outside the spec's scope in its last run. */
  wroteOutside?: WrittenOutside | undefined;
  /** What its command wrote if it ran on a worker: nothing changed here then. */
  elsewhere?: WrittenElsewhere | undefined;
  /** Carried paths that were refused, and why; tracked files that were written. */
  readonly findings: Finding[];
  /** Measures its time. */
  readonly watch: Pick<CheckWatch, 'making' | 'running'>;
}

/**
 * Runs `act` in a separate workspace, which is deleted afterwards. It checks the tracked files for changes. If the
 * command ran and a later check needs its output, it copies the carried paths.
 */
export async function inWorkspace<T extends { readonly result?: unknown }>(
  {
    identity: { scope },
    services: { signal },
    environment,
  }: Pick<Attempt, 'identity' | 'services' | 'environment'>,
  side: WorkspaceSide,
  from: {
    readonly received: readonly CarriedPath[];
    readonly handsOn: boolean;
    readonly tellsWrites: boolean;
  },
  passing: Passing,
  act: (world: OpenWorkspace) => Promise<T>,
): Promise<T> {
  // If a check runs its command twice, the first run's output carries over to the second.
  const received = passing.carried?.handedOn ?? from.received;
  const world = await passing.watch.making(() => side.open(received));
  try {
    const ran = await act(world);
    if (ran.result === undefined || signal.aborted) return ran;
    const { elsewhere } = passing;
    const isUntouched = elsewhere === undefined && (await world.isUntouched());
    const changed = elsewhere ? changedOf(elsewhere) : isUntouched ? [] : await world.changed();
    const rewritten = rewrittenFindings(changed, environment.config.workspace.rewrites);
    if (from.tellsWrites)
      passing.wroteOutside = elsewhere
        ? outsideOf(elsewhere, scope)
        : isUntouched
          ? undefined
          : await writtenOutside(await world.place(), changed, scope);
    const told = new Set(passing.findings.map(({ message }) => message));
    passing.findings.push(...rewritten.filter(({ message }) => !told.has(message)));
    const isCarrying = environment.config.workspace.carry.length > 0 && from.handsOn;
    if (!isCarrying) return ran;
    const { carried, refused } = await world.handOn();
    passing.carried = { received, handedOn: carried };
    passing.findings.push(...carryFindings(world.tracked, refused));
    return ran;
  } finally {
    await world.close();
  }
}

function changedOf({ written }: WrittenElsewhere): readonly string[] {
  return written.flatMap(({ path, was }) => (was === 'changed' ? [path] : []));
}

/**
 * Returns why a check with carried paths fails. If the candidate tracks a carried path, later checks would use
 * content that was never committed. Pure.
 */
export function carryFindings(
  tracked: readonly TrackedCarry[],
  refused: HandedOn['refused'],
): readonly Finding[] {
  return [
    ...tracked.map(({ path, tracked: found }) =>
      finding(
        'CARRY_TRACKED',
        path,
        `\`[workspace] carry\` names \`${path}\`, where the tree tracks \`${found}\``,
      ),
    ),
    ...refused.map(({ path, reason }) =>
      finding(
        'CARRY_REFUSED',
        path,
        `expected at \`${path}\`, which \`[workspace] carry\` names, only files, directories and links within the workspace, at most ${carryLimits.entries} entries and ${carryLimits.bytes} bytes, found: ${reason}; let the check leave something else there, or name less in \`carry\` at the policy commit`,
      ),
    ),
  ];
}

function finding(code: string, path: string, message: string): Finding {
  return { rule: 'check-outcome', severity: 'error', message, detail: { code, path } };
}

/** What the wall clock may differ from the other by before it was set: clocks are slewed by a few milliseconds. */
const leastStepMs = 1000;

/** By the wall clock, and by the one that never steps back. */
interface Moment {
  readonly wall: number;
  readonly even: number;
}

/**
 * Measures the time of one check. Durations use the monotonic clock, so they are never negative. If the wall clock
 * was set meanwhile, the result includes the step.
 */
export class CheckWatch {
  readonly #clock: Clock;
  #workspaceMs = 0;
  /** When the check was requested, or its last workspace was ready. */
  #ready: Moment;
  /** When its first command began. */
  #began: Moment | undefined;
  #time: Omit<CheckTime, 'workspaceMs'> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#ready = this.#now();
  }

  /** Makes a workspace. Counted by itself until the first command began. */
  async making<T>(make: () => Promise<T>): Promise<T> {
    const from = this.#now();
    try {
      return await make();
    } finally {
      this.#ready = this.#now();
      if (this.#began === undefined) this.#workspaceMs += this.#ready.even - from.even;
    }
  }

  /** Runs a command: the time goes from where the first one began to where the last one ended. */
  async running<T>(run: () => Promise<T>): Promise<T> {
    this.#began ??= this.#now();
    const began = this.#began;
    try {
      return await run();
    } finally {
      this.#time = this.#since(began);
    }
  }

  /** Returns the duration of the commands, or the time until now if it ran none. */
  read(): CheckTime {
    const time = this.#time ?? this.#since(this.#ready);
    return this.#workspaceMs === 0 ? time : { ...time, workspaceMs: Math.round(this.#workspaceMs) };
  }

  #now(): Moment {
    return { wall: this.#clock.now(), even: this.#clock.monotonic() };
  }

  #since({ wall, even }: Moment): CheckTime {
    const lasted = Math.max(0, this.#clock.monotonic() - even);
    const step = this.#clock.now() - wall - lasted;
    return {
      startedAt: toRfc3339(wall),
      durationMs: Math.round(lasted),
      ...(Math.abs(step) < leastStepMs ? {} : { clockStepMs: Math.round(step) }),
    };
  }
}

/** Location of a check that the spec does not name. */
interface CheckOrigin {
  readonly path: '.writ/config.toml';
  /** As it is written there. */
  readonly table: string;
  readonly id: string;
}

/** Returns the configuration table that adds a check to a spec, or `undefined` for a check of the spec itself. Pure. */
export function checkOrigin(
  id: string,
  { mandatory, effective }: Pick<AdmittedContract, 'mandatory' | 'effective'>,
  {
    checks,
    commit,
    policies,
    factors,
    scanners,
  }: Pick<WritConfig, 'checks' | 'commit' | 'policies' | 'factors' | 'scanners'>,
): CheckOrigin | undefined {
  const at = (table: string): CheckOrigin => ({ path: '.writ/config.toml', table, id });
  if (mandatory.includes(id)) {
    if (checks.always.some(({ check }) => check.id === id)) return at('[[checks.always]]');
    if (commit.hooks.some(({ name }) => hookCheckId(name) === id)) return at('[commit]');
    const scanner = [...scanners.keys()].find((one) => scannerCheckId(one) === id);
    if (scanner !== undefined) return at(`[scanner.${scanner}]`);
    const name = [...policies.keys()].find((one) => `policy-${one}` === id);
    return name === undefined ? undefined : at(`[policy.${name}]`);
  }
  const tag = effective.risk.factors.find((one) => factors.get(one)?.some(({ check }) => check.id === id));
  return tag === undefined ? undefined : at(`[factors.${tag}]`);
}

/** Adds to an error the place where its check was configured, because the spec does not contain that check. */
export function blameOrigin(finding: Finding, origin: CheckOrigin | undefined): Finding {
  if (origin === undefined || finding.severity !== 'error' || finding.path !== undefined) return finding;
  const { path, table, id } = origin;
  return {
    ...finding,
    message: `${finding.message} (check \`${id}\` of \`${table}\` in \`${path}\` at the policy commit)`,
    detail: { ...finding.detail, config: { path, table, id } },
  };
}
