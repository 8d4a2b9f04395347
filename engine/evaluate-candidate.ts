/* The pipeline of a run, from the spec to the decision; starts and resumes it. */
import { canonicalize, sha256Hex } from '../core/base/canonical.ts';
import { toRfc3339 } from '../core/base/clock.ts';
import type { ApprovalVerdict } from '../core/interfaces/approval.ts';
import type { Finding } from '../core/interfaces/finding.ts';
import type { GateReport } from '../store/record/gate-report.ts';
import { verdictDifferences, verdictOf } from '../store/record/verdict.ts';
import { blameCandidate } from './decide/blame-candidate.ts';
import { decideRun } from './decide/decide-run.ts';
import { authorsOf, type ReceivedApprovals, receiveApprovals } from './decide/people.ts';
import { evaluateObserved } from './evaluate/evaluate-patch.ts';
import { evaluateAgain, rehearseSeal, runStages, type StagesRun } from './evaluate/run-stages.ts';
import { finalReport } from './record/build-gate-report.ts';
import type { EvaluatedRun } from './record/evaluation-objects.ts';
import { differencesFrom, everShown, lastShown, reportsOnRef, type Shown, show } from './record/list-runs.ts';
import { attemptsAt, type PlanState, sensedBefore } from './record/plan-state.ts';
import { listApprovals, type StoredApproval } from './record/stored-approvals.ts';
import { ranIn } from './state/machine.ts';
import type { Attempt } from './state/open-run.ts';
import { acceptedWork } from './work/merge-tasks.ts';
import { lastTask, taskFacts } from './work/plan-work.ts';

/** A candidate with its decision and the approvals that it was decided with. */
export interface DecidedCandidate {
  readonly attempt: Attempt;
  readonly judged: EvaluatedRun;
  /** The report to show for approval, in which no approval counted; absent if the work ended before any check. */
  readonly shown?: GateReport;
}

/** All stages run on a candidate, with the report. */
interface CheckRun extends StagesRun {
  readonly attempt: Attempt;
  readonly report: GateReport;
}

/**
 * Runs patch rules, approvals, all four stages and the decision. Approvals count for the verdict that people were
 * shown. If the verdict has changed since, they are void and the candidate is decided without them.
 */
export async function evaluateCandidate(made: Attempt, state: PlanState): Promise<DecidedCandidate> {
  const { attempt: candidate, findings } = await evaluateObserved(made);
  const rehearsal = await rehearseSeal(candidate);
  const unapproved: Attempt = {
    ...candidate,
    approvals: [],
    patchFindings: findings,
    ...(rehearsal ? { rehearsal } : {}),
  };
  const stored = await listApprovals(candidate.services.store, candidate.identity.runId);
  const last = lastShown(candidate);
  if (stored.length === 0) {
    const checked = await runChecks(unapproved, findings);
    const isSame = last !== undefined && differencesOf(last.report, checked.report).length === 0;
    return { ...(await decided(checked, findings, state)), shown: isSame ? last.report : checked.report };
  }
  const shown = last ?? (await show(unapproved, (await runChecks(unapproved, findings)).report));
  const received = await receive(candidate, shown, stored);
  await recordApprovals(candidate, shown.report, received);
  // With `allow-scoped`, checks get secrets and may change external state. Confirm the signed verdict without
  // approvals first.
  const early = candidate.identity.contract.effective.security.secrets.policy === 'allow-scoped';
  const changed = early ? differencesOf(shown.report, (await runChecks(unapproved, findings)).report) : [];
  const word = changed.length > 0 ? received.verdicts.map((one) => voided(one, changed)) : received.verdicts;
  const checked = await runChecks({ ...unapproved, approvals: word }, findings);
  const differences = differencesOf(shown.report, checked.report);
  if (differences.length === 0) return { ...(await decided(checked, findings, state)), shown: shown.report };
  const approvals = received.verdicts.map((verdict) => voided(verdict, differences));
  // What fails, fails: it gets no second try for the sake of who approved it.
  const isOver =
    checked.attempt.services.wallClockExceeded() || checked.stages.some(({ status }) => status === 'failed');
  if (!isOver) await evaluateAgain(unapproved);
  const anew = isOver
    ? { ...checked, attempt: { ...checked.attempt, approvals } }
    : await runChecks({ ...unapproved, approvals }, findings);
  await show(anew.attempt, anew.report);
  return { ...(await decided(anew, findings, state)), shown: anew.report };
}

/** Differences between the shown report and a new one, apart from approvals. */
function differencesOf(shown: GateReport, report: GateReport): readonly string[] {
  return verdictDifferences(verdictOf(shown), verdictOf(report), { goesOn: true });
}

async function runChecks(attempt: Attempt, findings: readonly Finding[]): Promise<CheckRun> {
  const isRejected = findings.some(({ severity }) => severity === 'error');
  const { sandboxName: sandbox } = attempt.identity;
  const ran = isRejected ? { stages: [], sandbox, dependencies: [], skipped: [] } : await runStages(attempt);
  const judged = ranIn(attempt, ran);
  return { ...ran, attempt: judged, report: finalReport(judged, findings, ran.stages) };
}

async function receive(
  candidate: Attempt,
  { subject, report }: Shown,
  stored: readonly StoredApproval[],
): Promise<ReceivedApprovals> {
  const earlier = [
    ...(await reportsOnRef({ store: candidate.services.store, runId: candidate.identity.runId })),
    ...everShown(candidate).map((one) => one.report),
  ];
  return receiveApprovals(candidate, subject, stored, differencesFrom(earlier, report));
}

/** Records approvals with the data that a third party needs to verify them again. */
async function recordApprovals(
  attempt: Attempt,
  shown: GateReport,
  { stored, receivedAtMs, verdicts }: ReceivedApprovals,
): Promise<void> {
  if (!verdicts.some(({ status }) => status === 'counts')) return;
  const received = stored.map(({ bytes, source }) => [
    sha256Hex(bytes),
    toRfc3339(receivedAtMs.get(source) ?? attempt.identity.startedAtMs),
  ]);
  await attempt.services.record.put([
    ...stored.map(
      ({ bytes }, index) => [`approvals/${String(index + 1).padStart(4, '0')}.json`, bytes] as const,
    ),
    ['approvals/gate-report.json', Buffer.from(canonicalize(shown))],
    ['approvals/received.json', Buffer.from(canonicalize({ received: Object.fromEntries(received) }))],
    ['approvals/authors.json', Buffer.from(canonicalize({ authors: await authorsOf(attempt) }))],
  ]);
}

function voided(verdict: ApprovalVerdict, differences: readonly string[]): ApprovalVerdict {
  if (verdict.status !== 'counts') return verdict;
  const detail = `the verdict is not the one that was signed: ${differences.join('; ')}`;
  return { ...verdict, status: 'wrong-subject', detail };
}

async function decided(
  { attempt, stages, dependencies }: CheckRun,
  findings: readonly Finding[],
  state: PlanState,
): Promise<{ readonly attempt: Attempt; readonly judged: EvaluatedRun }> {
  const work = acceptedWork(state);
  const blame = attempt.identity.isWorked
    ? await blameCandidate(attempt, { findings, stages }, work, state.draft.revision)
    : undefined;
  const key = attempt.identity.isWorked ? (blame?.tasks[0]?.id ?? lastTask(state).key) : undefined;
  const { humanInLoop } = attempt.identity.contract.effective.risk;
  const peopleWho = (decision: 'approve' | 'reject'): number =>
    new Set(
      attempt.approvals
        .filter((verdict) => verdict.status === 'counts' && verdict.decision === decision)
        .map(({ principal }) => principal),
    ).size;
  const judged = await decideRun(attempt, {
    subject: 'candidate',
    ...(key === undefined
      ? {}
      : { task: taskFacts(attempt, { key, attempt: Math.max(1, attemptsAt(state, key).length) }) }),
    ...(blame === undefined ? {} : { blame }),
    conflicts: [],
    findings,
    stages,
    dependencies,
    before: key === undefined ? [] : sensedBefore(state, key),
    human: {
      required: humanInLoop.required,
      needed: humanInLoop.minApprovers,
      approved: peopleWho('approve'),
      rejected: peopleWho('reject'),
    },
    state,
  });
  return { attempt, judged };
}
