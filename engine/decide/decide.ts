/* Decides on a run. Pure. */
import { canonicalDigest } from '../../core/base/canonical.ts';
import { quoted } from '../../core/base/printable.ts';
import { replanTriggers } from '../../core/interfaces/plan.ts';
import { mustPass, type StageName, stageNames } from '../../core/interfaces/stage.ts';
import {
  type BlamedFindings,
  type DecidedFinding,
  type DecidedStage,
  type DecidedTask,
  type DecisionInput,
  type DecisionRecord,
  inputProblems,
  type SealingFault,
} from '../record/decision-input.ts';
import { approversNeeded, isOverCap } from './budget.ts';

/** A decision before it is bound to its input. */
type Verdict = Pick<DecisionRecord, 'type' | 'next' | 'reasons'>;

/**
 * Records → Decision. Pure: the same input gives the same bytes on any machine at any time. Commits only without
 * objections *and* with at least one passed check. An input that it does not understand is an objection.
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
  // The log already records the change as made, so a rollback must correct it, whatever else happened meanwhile.
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

/** Returns the reason if the cost is above `maxCostUnits`: a person must decide before the run continues. */
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
  return `${passed} of ${ran} checks passed; no rule reported an error`;
}

/**
 * One objection to the change. `final`: no further attempt can remove it. `again`: a further attempt may. `people`:
 * an approval removes it.
 */
interface Objection {
  readonly reason: string;
  readonly weight: 'final' | 'again' | 'people';
}

/** Returns every objection to the change, most decisive first. `evaluateChange` then chooses the next step. Pure. */
function objectionsTo(input: DecisionInput): readonly Objection[] {
  const before = [
    ...wallClockObjections(input),
    ...rejectionObjections(input),
    ...workObjections(input),
    ...findingObjections('patch', input.patchFindings, 'again'),
  ];
  const refusals = findingObjections('guard', input.refusals, 'final');
  const found = [...before, ...stageObjections(input, before.length + refusals.length > 0), ...refusals];
  if (found.some(({ weight }) => weight !== 'people')) return found;
  return [
    ...nothingPassedObjections(input),
    ...citationObjections(input),
    ...found,
    ...approvalObjections(input),
  ];
}

function wallClockObjections({ wallClock }: DecisionInput): Objection[] {
  const reason = `wall clock of ${wallClock.limitSeconds} s exceeded`;
  return wallClock.exceeded ? [{ reason, weight: 'final' }] : [];
}

/** A rejection ends the run, whether or not approval was required. */
function rejectionObjections({ human }: DecisionInput): Objection[] {
  const people = human.rejected === 1 ? '1 person' : `${human.rejected} people`;
  return human.rejected > 0 ? [{ reason: `rejected by ${people}`, weight: 'final' }] : [];
}

const maxNamed = 5;

/** The first names, and how many there are besides. */
function listed(names: readonly string[]): string {
  const first = names.slice(0, maxNamed).map((name) => `\`${name}\``);
  const rest = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : '';
  return `${first.join(', ')}${rest}`;
}

function workObjections({ worker, workerReason, conflicts }: DecisionInput): Objection[] {
  const objections: Objection[] = [];
  const why = workerReason === undefined ? '' : `: ${workerReason}`;
  if (worker === 'nothing') objections.push({ reason: `the worker answered nothing${why}`, weight: 'again' });
  if (worker === 'failed')
    objections.push({ reason: `the worker answered no usable patch${why}`, weight: 'again' });
  if (conflicts.length > 0)
    objections.push({ reason: `merge conflict in ${listed(conflicts)}`, weight: 'again' });
  return objections;
}

function findingObjections(
  where: string,
  findings: readonly DecidedFinding[],
  weight: Objection['weight'],
): Objection[] {
  const rules = new Set(
    findings.filter((finding) => finding.severity === 'error').map((finding) => finding.rule),
  );
  return [...rules].map((rule) => ({ reason: `${where} refused by \`${rule}\``, weight }));
}

/**
 * A stage that did not start is an objection only if no other reason explains it; otherwise it would repeat the
 * cause.
 */
function stageObjections(input: DecisionInput, wasStopped: boolean): Objection[] {
  const objections: Objection[] = [];
  let stopped = wasStopped;
  for (const name of stageNames) {
    const found = input.stages.filter((stage) => stage.stage === name);
    const [stage] = found;
    if (!stage || found.length > 1) {
      const reason = `stage \`${name}\` has ${found.length} records, expected 1`;
      objections.push({ reason, weight: 'final' });
      stopped = true;
    } else if (stage.status === 'not-started') {
      if (!stopped && !isForLater(input, name))
        objections.push({ reason: `stage \`${name}\` did not start`, weight: 'final' });
    } else {
      const against = objectionsToStage(stage, input);
      objections.push(...against);
      stopped ||= against.length > 0;
    }
  }
  return objections;
}

/** An attempt runs only the fast stage. The other stages run on the merged candidate. */
function isForLater({ subject }: DecisionInput, name: StageName): boolean {
  return subject === 'attempt' && name !== 'fast';
}

/**
 * If a check in a stage failed but the stage's status is not `failed`, the record contradicts itself. No further
 * attempt can fix that.
 */
function objectionsToStage(stage: DecidedStage, { policy }: DecisionInput): Objection[] {
  const { stage: name, status, checks } = stage;
  const endsHere = name === 'security' && policy.abandonOnSecurityGateFail;
  const failing = status === 'failed' && !endsHere ? 'again' : 'final';
  const objections = findingObjections(`stage \`${name}\``, stage.findings, failing);
  for (const check of checks) {
    const isTolerated = check.tolerated === true && check.status === 'failed' && name === 'integration';
    if (!mustPass(check) || check.status === 'passed' || isTolerated) continue;
    const waits = check.status === 'waiting' && status === 'waiting';
    objections.push({ reason: `check \`${check.id}\` ${check.status}`, weight: waits ? 'people' : failing });
  }
  if (stage.ran !== stage.expected || checks.length !== stage.ran) {
    const reason = `stage \`${name}\` ran ${stage.ran} of ${stage.expected} checks`;
    objections.push({ reason, weight: failing });
  }
  const settled = stage.expected === 0 ? ['skipped', 'passed'] : ['passed'];
  if (objections.length === 0 && !settled.includes(status))
    objections.push({ reason: `stage \`${name}\` ${status}`, weight: failing });
  return objections;
}

/** People approve what is merged. */
function approvalObjections({ subject, human, touchesGoverning, owners = [] }: DecisionInput): Objection[] {
  if (subject !== 'candidate') return [];
  const objections: Objection[] = [];
  const needed = approversNeeded(human, touchesGoverning);
  const what = touchesGoverning ? 'what governs writ is changed: ' : '';
  if (human.approved < needed)
    objections.push({
      reason: `${what}approved by ${human.approved} of ${needed} people`,
      weight: 'people',
    });
  const lacking = owners.filter(({ approved }) => approved.length === 0).map(({ pattern }) => pattern);
  if (lacking.length > 0)
    objections.push({ reason: `no owner of ${listed(lacking)} approved`, weight: 'people' });
  return objections;
}

/**
 * The final decision cites the evidence of passed checks; each is a source of the tier `repo`. A check that waits for
 * people counts, because it may still pass.
 */
function citationObjections({ subject, stages, citations }: DecisionInput): Objection[] {
  if (subject === 'attempt' || citations === undefined) return [];
  const cited = citations.trusted ? settledWell(stages) : 0;
  if (cited >= citations.needed) return [];
  const untrusted = citations.trusted ? '' : ' (the tier `repo` is not trusted)';
  const reason = `passed checks to cite: ${cited}${untrusted}, expected at least ${citations.needed}`;
  return [{ reason, weight: 'final' }];
}

/**
 * A run in which no check passed cannot commit. The part of one Task needs no checks. Records from before citations
 * existed only need a check that ran.
 */
function nothingPassedObjections({ subject, stages, citations }: DecisionInput): Objection[] {
  const ran = stages.some((stage) => stage.ran > 0);
  const isEnough = citations === undefined ? ran : settledWell(stages) > 0;
  if (subject === 'attempt' || isEnough) return [];
  return [{ reason: ran ? 'no check passed' : 'no check ran', weight: 'final' }];
}

/** Checks that passed, or may still once people have spoken. */
function settledWell(stages: readonly DecidedStage[]): number {
  return stages
    .flatMap(({ checks }) => checks)
    .filter(({ status }) => status === 'passed' || status === 'waiting').length;
}

const maxTasks = 10;
const maxPlaces = 3;

/**
 * Returns the Tasks that a failure counts against. For a candidate, these are all Tasks that wrote the refused files.
 */
function pickedTasks({ task, blame }: DecisionInput): readonly DecidedTask[] {
  if (blame && blame.tasks.length > 0) return blame.tasks;
  return task === undefined ? [] : [task];
}

/** Names the Tasks that wrote the refused files, and the refused files that no Task wrote. */
function blameReasons({ blame }: DecisionInput): readonly string[] {
  if (!blame) return [];
  const { tasks, unwritten } = blame;
  const more = tasks.length > maxTasks ? [`and ${tasks.length - maxTasks} more tasks`] : [];
  return [
    ...tasks.slice(0, maxTasks).map((task) => `task ${quoted(task.id)} wrote ${placesOf(task)}`),
    ...more,
    ...(unwritten.count > 0 ? [`no task wrote ${placesOf(unwritten)}`] : []),
  ];
}

/** Who is tried again for a candidate, and why it is them. */
function pickReason(input: DecisionInput): readonly string[] {
  const { subject, source, blame, task } = input;
  if (subject !== 'candidate' || source !== 'worker') return [];
  const named = blame?.tasks ?? [];
  if (named.length > 0)
    return [named.length === 1 ? 'that task is tried again' : 'those tasks are tried again'];
  if (!task) return [];
  return [`task ${quoted(task.id)}, the last of the plan, is tried again: nothing says whose work it is`];
}

function placesOf({ count, first }: BlamedFindings): string {
  const named = first
    .slice(0, maxPlaces)
    .map(({ rule, path = '', line }) => `${quoted(line === undefined ? path : `${path}:${line}`)} (${rule})`);
  const more = count > named.length ? ` and ${count - named.length} more` : '';
  return `${named.join(', ')}${more}`;
}
