import { type ReplanTrigger, replanTriggers } from '../../../core/contract/replan-trigger.ts';
import { mustPass } from '../../../core/contract/stage.ts';
import type { DecidedFinding, DecidedStage } from './decision-input.ts';

/**
 * Revisions of a Plan after its first. The contract names no bound; without one a run could replan until its wall clock
 * ends.
 */
export const maxReplans = 5;

/** What one attempt at a Task (or the merged candidate) came to, as far as triggers ask. */
export interface SensedAttempt {
  readonly patchFindings: readonly DecidedFinding[];
  readonly stages: readonly DecidedStage[];
  /** Tests that failed, by names that stay the same from one attempt to the next. */
  readonly failedTests: readonly string[];
}

/**
 * The triggers that the last attempt of `history` fires, in the contract's order; `history` holds the attempts at one
 * Task in one revision, oldest first. Pure. `evidence-conflict` and `unknown-api` are never fired here: only who reads
 * sources, and what calls are, knows them.
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
