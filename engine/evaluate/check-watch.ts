/* Measures the time of a check, and names where a check is configured. */
import { type Clock, toRfc3339 } from '../../core/base/clock.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { CheckTime } from '../../core/interfaces/stage.ts';
import type { WritConfig } from '../config/config.ts';
import type { AdmittedContract } from '../intent/admit-contract.ts';
import { scannerCheckId } from '../state/checks.ts';

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
  { checks, policies, factors, scanners }: Pick<WritConfig, 'checks' | 'policies' | 'factors' | 'scanners'>,
): CheckOrigin | undefined {
  const at = (table: string): CheckOrigin => ({ path: '.writ/config.toml', table, id });
  if (mandatory.includes(id)) {
    if (checks.always.some(({ check }) => check.id === id)) return at('[[checks.always]]');
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
