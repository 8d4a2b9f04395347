import { emptyPatch } from '../../patch/empty-patch.ts';
import { normalisePatch } from '../../patch/normalise.ts';
import { decideRun } from '../decide/decide-run.ts';
import type { JudgedRun } from '../record/judged-run.ts';
import { nobodyYet } from '../record/nobody-yet.ts';
import type { PlanState } from '../record/plan-state.ts';
import type { Attempt, OpenRun } from '../state/attempt.ts';
import { workBase } from './accepted-work.ts';
import { beginAttempt } from './begin-attempt.ts';
import { workPlan } from './work-plan.ts';

/** A candidate to judge, or what ended the work before there was one. */
export interface MadeCandidate {
  readonly attempt: Attempt;
  readonly ended?: JudgedRun;
}

/**
 * Has the plan worked and merged. The only Task's accepted attempt is the candidate itself: its fast stage is not run
 * twice.
 */
export async function makeCandidate(run: OpenRun, state: PlanState, round: number): Promise<MadeCandidate> {
  try {
    const end = await workPlan(run, state);
    if (end.kind === 'ended') {
      const { attempt, judged } = await end.last.inFull();
      return { attempt, ended: judged };
    }
    const startsFromBase = workBase(run) === run.ground.base.tree;
    if (end.only && round === 1 && startsFromBase) return { attempt: (await end.only.inFull()).attempt };
    const { base } = run.ground;
    const patch =
      end.tree === base.tree ? emptyPatch(base) : await normalisePatch(run.means.scratch, base, end.tree);
    return { attempt: beginAttempt(run, `candidate-${round}`, patch) };
  } catch (fault) {
    if (run.means.settings.signal.aborted || !run.means.wallClockExceeded()) throw fault;
    return endEarly(run, state);
  }
}

/**
 * The run ends before there is anything to judge: the wall clock ran out, or a person cancelled it. That is a decision,
 * not a fault.
 */
export async function endEarly(
  run: OpenRun,
  state: PlanState,
  patch = emptyPatch(run.ground.base),
): Promise<MadeCandidate> {
  const attempt = beginAttempt(run, 'candidate-0', patch);
  const ended = await decideRun(attempt, {
    subject: 'candidate',
    conflicts: [],
    findings: [],
    stages: [],
    dependencies: [],
    before: [],
    human: nobodyYet(run),
    state,
  });
  return { attempt, ended };
}
