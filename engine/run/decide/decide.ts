import { canonicalDigest } from '../../../core/base/canonical.ts';
import { replanTriggers } from '../../../core/contract/replan-trigger.ts';
import type {
  DecidedStage,
  DecidedTask,
  DecisionInput,
  DecisionRecord,
  SealingFault,
} from '../record/decision-input.ts';
import { inputProblems } from '../record/decision-input-shape.ts';
import { isOverCap } from './budget.ts';
import { type Objection, objectionsTo } from './decision-objections.ts';
import { blameReasons, pickedTasks, pickReason } from './picked-tasks.ts';

/** A decision before it is bound to its input. */
type Verdict = Pick<DecisionRecord, 'type' | 'next' | 'reasons'>;

/**
 * Records → Decision (document 1, States and transitions). Pure: same input, same bytes, on any machine and in any
 * year. Commits only when nothing speaks against it *and* something was checked; whatever it does not understand speaks
 * against it.
 */
export function decide(input: DecisionInput): DecisionRecord {
  const problems = inputProblems(input);
  const { type, next, reasons } =
    problems.length > 0 ? abandon(problems.map((problem) => `decision input ${problem}`)) : judge(input);
  return {
    schema: 'urn:writ:decision:v1',
    runId: input.runId,
    type,
    next,
    rationale: reasons.length === 0 ? passedRationale(input.stages) : reasons.join('; '),
    reasons,
    inputDigest: canonicalDigest(input),
  };
}

function judge(input: DecisionInput): Verdict {
  const { sealing, policy } = input;
  // The log already says that the change was made: it must be told otherwise, whatever else became true meanwhile.
  if (sealing !== undefined && sealing !== 'provenance-failed')
    return { type: 'rollback', next: 'stop', reasons: [lostBy[sealing]] };
  const verdict = judgeChange(input);
  if (sealing === undefined) return verdict;
  const reasons = [...verdict.reasons, 'provenance failed'];
  if (verdict.type !== 'commit') return abandon(reasons);
  const isRolledBack = policy.rollbackOnProvenanceFail;
  return isRolledBack
    ? { type: 'rollback', next: 'stop', reasons }
    : { type: 'commit', next: 'swap', reasons };
}

const lostBy = {
  refuted: 'the record does not bear the change',
  'swap-lost': 'the target was moved before the swap',
  'changed-under-us': 'the working tree was changed before the swap',
} as const satisfies Partial<Record<SealingFault, string>>;

function judgeChange(input: DecisionInput): Verdict {
  const objections = objectionsTo(input);
  const reasons = [...objections.map(({ reason }) => reason), ...blameReasons(input)];
  const has = (weight: Objection['weight']): boolean => objections.some((one) => one.weight === weight);
  if (has('final')) return abandon(reasons);
  const triggers = replanTriggers.filter(
    (trigger) => input.triggers.enabled.includes(trigger) && input.triggers.fired.includes(trigger),
  );
  if (triggers.length > 0) return replan(input, triggers, reasons);
  if (has('again')) return retry(input, reasons);
  const overspent = overspending(input);
  if (overspent !== undefined) return waitForBudget([...reasons, overspent]);
  if (has('people')) return { type: 'checkpoint', next: 'wait-for-approval', reasons };
  return input.subject === 'attempt'
    ? { type: 'checkpoint', next: 'merge', reasons }
    : { type: 'commit', next: 'seal', reasons };
}

/** A new revision of the Plan; it brings Tasks with retries of their own, so only replans are counted here. */
function replan(input: DecisionInput, triggers: readonly string[], reasons: readonly string[]): Verdict {
  const { source, replans, policy } = input;
  const named = triggers.map((trigger) => `\`${trigger}\``).join(', ');
  if (source === 'supplied')
    return abandon([...reasons, `a supplied patch cannot be replanned for ${named}`]);
  if (replans.count >= replans.limit)
    return abandon([
      ...reasons,
      `replanned ${replans.count} times, at most ${replans.limit}; not again for ${named}`,
    ]);
  const overspent = overspending(input);
  if (overspent !== undefined) return waitForBudget([...reasons, overspent]);
  const type = policy.checkpointBeforeReplan ? 'checkpoint' : 'retry';
  return { type, next: 'replan', reasons: [...reasons, ...pickReason(input), `replanned for ${named}`] };
}

/** Tasks without a retry left that are named. */
const maxExhausted = 10;

function retry(input: DecisionInput, reasons: readonly string[]): Verdict {
  if (input.source === 'supplied') return abandon(reasons);
  const picked = pickedTasks(input);
  if (picked.length === 0) return abandon([...reasons, 'no task to try again']);
  const exhausted = picked.filter(({ attempt, maxRetries }) => attempt > maxRetries);
  if (exhausted.length > 0) {
    const words = ({ id, attempt, maxRetries }: DecidedTask): string =>
      `task \`${id}\` failed ${attempt} of ${maxRetries + 1} attempts`;
    return abandon([...reasons, ...exhausted.slice(0, maxExhausted).map(words)]);
  }
  const overspent = overspending(input);
  if (overspent !== undefined) return waitForBudget([...reasons, overspent]);
  return { type: 'retry', next: 'retry', reasons: [...reasons, ...pickReason(input)] };
}

/** Over the cap a person is asked before anything goes on (resolutions, maxCostUnits). */
function overspending({ cost }: DecisionInput): string | undefined {
  return isOverCap(cost) ? `used ${cost.usedUnits} of ${cost.limitUnits} cost units` : undefined;
}

function abandon(reasons: readonly string[]): Verdict {
  return { type: 'abandon', next: 'stop', reasons };
}

function waitForBudget(reasons: readonly string[]): Verdict {
  return { type: 'checkpoint', next: 'wait-for-budget', reasons };
}

function passedRationale(stages: readonly DecidedStage[]): string {
  const ran = stages.reduce((sum, stage) => sum + stage.ran, 0);
  const passed = stages.flatMap((stage) => stage.checks).filter((check) => check.status === 'passed').length;
  return `${passed} of ${ran} checks passed and no rule objects`;
}
