/* How far the work on a plan has come, and which replan triggers fire. */
import { uuidV7From } from '../../core/base/ids.ts';
import {
  type PlanDraft,
  type PlannedTask,
  type ReplanTrigger,
  replanTriggers,
} from '../../core/interfaces/plan.ts';
import { mustPass } from '../../core/interfaces/stage.ts';
import { schedulerOf } from '../../spec/facts.ts';
import { sealObject } from '../../store/stored-object.ts';
import {
  type ContextFrame,
  type ContextFrames,
  openAdmission,
  openContextFrames,
} from '../context/admission.ts';
import { frameBody } from '../context/collect-context.ts';
import { type ContextSnapshot, openEvidence } from '../state/context-snapshot.ts';
import { type OpenRun, policyOf } from '../state/open-run.ts';
import { nothingSpent, type Spent } from '../state/spent.ts';
import type { SettledAttempt } from './attempt-files.ts';
import type { DecidedFinding, DecidedStage } from './decision-input.ts';

/** How far the work on a plan has come in this process; rebuilt from the steps by every process. */
export interface PlanState {
  draft: PlanDraft;
  /** Every attempt so far, of all revisions, in the order they settled here; `addAttempt` adds to it. */
  readonly attempts: SettledAttempt[];
  /** The same by Task key: a thousand Tasks do not each look through the attempts of all. */
  readonly attemptsOf: Map<string, SettledAttempt[]>;
  /** The context pipeline; `undefined` where no worker works. */
  readonly frames: RunFrames | undefined;
  /** Accepted work by Task key. */
  readonly accepted: Map<string, SettledAttempt>;
  /**
   * Accepted work that a Task must continue from, already merged with the work of other Tasks. The Task's next
   * attempt is based on it. Ordered by hand-back.
   */
  beneath: readonly SettledAttempt[];
  /** Where the next attempt at a Task starts, where that is not what its dependencies left. */
  readonly onto: Map<string, string>;
  /** Why the last attempt at a Task did not count. */
  readonly failure: Map<string, string>;
  /** The context snapshot of each attempt so far, by the attempt's name. */
  readonly context: Map<string, Pick<ContextSnapshot, 'sha256' | 'dependencies'>>;
  /** Model usage of drafting spec and plan; also counted in `costUnits`. */
  readonly drafting: Spent;
  /** Units of 0.001 USD. */
  costUnits: number;
  /** The spec's cost limit plus the amount a person has added since; 0: no limit. */
  costLimit: number;
}

/** State before any attempt; only the drafting cost is spent. */
export function newPlanState(
  draft: PlanDraft,
  costLimit: number,
  frames: RunFrames | undefined,
  drafting: Spent = nothingSpent,
): PlanState {
  return {
    draft,
    attempts: [],
    attemptsOf: new Map(),
    frames,
    accepted: new Map(),
    beneath: [],
    onto: new Map(),
    failure: new Map(),
    context: new Map(),
    drafting,
    costUnits: drafting.costUnits,
    costLimit,
  };
}

/** One more attempt has settled. */
export function addAttempt(state: PlanState, settled: SettledAttempt): void {
  state.attempts.push(settled);
  const own = state.attemptsOf.get(settled.key);
  if (own) own.push(settled);
  else state.attemptsOf.set(settled.key, [settled]);
  state.costUnits += settled.usage.costUnits;
}

/** Returns the state before that attempt, so that running its checks again does not count it twice. */
export function withoutAttempt(state: PlanState, settled: SettledAttempt): PlanState {
  const attempts = state.attempts.filter(({ name }) => name !== settled.name);
  if (attempts.length === state.attempts.length) return state;
  const attemptsOf = new Map(state.attemptsOf);
  attemptsOf.set(
    settled.key,
    attempts.filter(({ key }) => key === settled.key),
  );
  return { ...state, attempts, attemptsOf, costUnits: state.costUnits - settled.usage.costUnits };
}

/** Attempts at a Task in the current revision. */
export function attemptsAt(state: PlanState, key: string): readonly SettledAttempt[] {
  return (state.attemptsOf.get(key) ?? []).filter(({ revision }) => revision === state.draft.revision);
}

/** Those attempts as triggers are sensed from them. */
export function sensedBefore(state: PlanState, key: string): readonly SensedAttempt[] {
  return attemptsAt(state, key).map(({ failedTests }) => ({ patchFindings: [], stages: [], failedTests }));
}

/** Tasks that a worker does; gates only run checks. */
export function implementationTasks({ draft }: PlanState): readonly PlannedTask[] {
  return draft.tasks.filter(({ kind }) => kind === 'implementation');
}

/**
 * Maximum number of Plan revisions after the first. The spec has no such limit; without one a run could replan until
 * its wall clock ends.
 */
export const maxReplans = 5;

/** The outcome of one attempt at a Task (or of the merged candidate), as far as triggers need it. */
export interface SensedAttempt {
  readonly patchFindings: readonly DecidedFinding[];
  readonly stages: readonly DecidedStage[];
  /** Tests that failed, by names that stay the same from one attempt to the next. */
  readonly failedTests: readonly string[];
}

/**
 * Returns the triggers that the last attempt of `history` fires, in the spec's order. `history` holds the attempts at
 * one Task in one revision, oldest first. Pure. Never returns `evidence-conflict` or `unknown-api`: firing them
 * requires reading sources and resolving calls.
 */
export function firedTriggers(history: readonly SensedAttempt[]): readonly ReplanTrigger[] {
  const last = history.at(-1);
  if (!last) return [];
  const fires: Partial<Record<ReplanTrigger, boolean>> = {
    'scope-creep': isScopeCreep(last),
    'repeated-test-fail': isRepeatedFailure(last, history.at(-2)),
    'security-gate-fail': isSecurityFailure(last),
  };
  return replanTriggers.filter((trigger) => fires[trigger] === true);
}

/** An attempt to modify files that are out of scope. */
function isScopeCreep({ patchFindings, stages }: SensedAttempt): boolean {
  return [...patchFindings, ...stages.flatMap(({ findings }) => findings)].some(
    ({ rule, severity }) => rule === 'scope' && severity === 'error',
  );
}

/** The same test failed twice running; an attempt that got no test to fail in between ends the row. */
function isRepeatedFailure(last: SensedAttempt, before: SensedAttempt | undefined): boolean {
  const failedBefore = new Set(before?.failedTests);
  return last.failedTests.some((name) => failedBefore.has(name));
}

/** A security failure that somebody can address: a required check by name, or an error with a place. */
function isSecurityFailure({ stages }: SensedAttempt): boolean {
  return stages.some(
    ({ stage, checks, findings }) =>
      stage === 'security' &&
      (checks.some((check) => mustPass(check) && check.status === 'failed') ||
        findings.some(({ severity, path }) => severity === 'error' && path !== undefined)),
  );
}

/** The context pipeline (`contextPipeline` in the spec) of a run with a worker. */
interface RunFrames extends Pick<ContextFrames, 'checkpoint'> {
  /** Adds the outcome of an attempt as context for the next one. */
  add(settled: SettledAttempt): Promise<void>;
  /** Puts every frame into the record, and whether it is still seen or was evicted. */
  keep(): Promise<void>;
}

/** Opens the pipeline with its seed; rebuilt by every process from the attempts as it reads them back. */
export async function openRunFrames(run: OpenRun): Promise<RunFrames> {
  const {
    identity: { contract, runId, startedAtMs },
    services: { engine },
  } = run;
  const spec = contract.effective;
  const admit = openAdmission({
    spec,
    strategy: await openEvidence(run),
    hooks: engine.hooks,
    runId,
    words: policyOf(run).words,
  });
  const frames = await openContextFrames(spec, admit);
  const toFile = (frame: ContextFrame, evicted: boolean, nowMs: number): [string, Uint8Array] => [
    `frames/${String(frame.sequence).padStart(6, '0')}.json`,
    sealObject('context_frame', frameBody(runId, frame, evicted), {
      nowMs,
      objectId: uuidV7From(startedAtMs, `${runId}/frame/${frame.sequence}`),
      createdBy: schedulerOf(spec),
    }).bytes,
  ];
  return {
    checkpoint: frames.checkpoint,
    async add({ name, decision, failure }) {
      const accepted = decision.next === 'merge';
      await frames.push({
        kind: accepted ? 'CodeChange' : 'ErrorRecovery',
        name,
        text: accepted ? decision.rationale : `${decision.rationale}\n${failure}`,
        tags: { trust: 'untrusted' },
      });
    },
    async keep() {
      const nowMs = await run.services.steps.once('frames-at', () => run.services.settings.clock.now());
      await run.services.record.put([
        ...frames.evicted().map((frame) => toFile(frame, true, nowMs)),
        ...frames.frames().map((frame) => toFile(frame, false, nowMs)),
      ]);
    },
  };
}

/**
 * Returns the cap of the spec in units of 0.001 USD, plus the amount that people added while the run waited. 0 sets
 * no cap.
 */
export async function costLimit({
  identity: { contract },
  services: { steps, moreCostUnits },
}: Pick<OpenRun, 'identity' | 'services'>): Promise<number> {
  const { maxCostUnits } = contract.effective.constraints.resources;
  if (maxCostUnits === 0) return 0;
  let limit = maxCostUnits;
  for (let grant = 1; ; grant += 1) {
    const known = steps.ended(`more-cost/${grant}`);
    if (!known) {
      if (moreCostUnits === undefined) return limit;
      return limit + (await steps.once(`more-cost/${grant}`, () => moreCostUnits));
    }
    limit += known.answer as number;
  }
}
