import { canonicalize } from '../../core/base/canonical.ts';
import { toRfc3339 } from '../../core/base/clock.ts';
import { sha256Hex } from '../../core/base/digest.ts';
import type { ApprovalVerdict } from '../../core/contract/approval.ts';
import type { Finding } from '../../core/contract/finding.ts';
import type { GateReport } from '../store/record/gate-report.ts';
import { verdictOf } from '../store/record/verdict.ts';
import { verdictDifferences } from '../store/record/verdict-differences.ts';
import { blameCandidate } from './decide/blame-candidate.ts';
import { decideRun } from './decide/decide-run.ts';
import { authorsOf, type ReceivedApprovals, receiveApprovals } from './decide/receive-approvals.ts';
import { judgeObserved } from './judge/judge-patch.ts';
import { rehearseSeal } from './judge/rehearse-seal.ts';
import { judgeAnew, runStages, type StagesRun } from './judge/run-stages.ts';
import { finalReport } from './record/gate-report.ts';
import type { JudgedRun } from './record/judged-run.ts';
import type { PlanState } from './record/plan-state.ts';
import { attemptsAt, sensedBefore } from './record/plan-state.ts';
import {
  differencesFrom,
  everShown,
  lastShown,
  reportsOnRef,
  type Shown,
  show,
} from './record/shown-reports.ts';
import { listApprovals, type StoredApproval } from './record/stored-approvals.ts';
import type { Attempt } from './state/attempt.ts';
import { ranIn } from './state/ran-in.ts';
import { acceptedWork } from './work/accepted-work.ts';
import { lastTask } from './work/replan.ts';
import { taskFacts } from './work/task-facts.ts';

/** What was found out about a candidate, with the approvals that it was found out with. */
export interface JudgedCandidate {
  readonly attempt: Attempt;
  readonly judged: JudgedRun;
  /** What people are to be shown of it: the report of a judging in which nobody's word counted. */
  readonly shown: GateReport;
}

/** One judging of a candidate, and its report. */
interface Judging extends StagesRun {
  readonly attempt: Attempt;
  readonly report: GateReport;
}

/**
 * Patch rules, approvals, all four stages, decision: everything that stands between a candidate and its seal. Approvals
 * count for the verdict that people were shown; where the gates now come to another one, they are void, and the
 * candidate is judged as if nobody had spoken.
 */
export async function judgeCandidate(made: Attempt, state: PlanState): Promise<JudgedCandidate> {
  const { attempt: candidate, findings } = await judgeObserved(made);
  const rehearsal = await rehearseSeal(candidate);
  const unapproved: Attempt = {
    ...candidate,
    approvals: [],
    patchFindings: findings,
    ...(rehearsal ? { rehearsal } : {}),
  };
  const stored = await listApprovals(candidate.means.store, candidate.identity.runId);
  const last = lastShown(candidate);
  if (stored.length === 0) {
    const judging = await judge(unapproved, findings);
    const isSame = last !== undefined && goesOnDifferently(last.report, judging.report).length === 0;
    return { ...(await decided(judging, findings, state)), shown: isSame ? last.report : judging.report };
  }
  const shown = last ?? (await show(unapproved, (await judge(unapproved, findings)).report));
  const received = await receive(candidate, shown, stored);
  await recordApprovals(candidate, shown.report, received);
  // What may change something is given away only once it is known that nothing else became of the verdict.
  const early = candidate.identity.contract.effective.security.secrets.policy === 'allow-scoped';
  const changed = early ? goesOnDifferently(shown.report, (await judge(unapproved, findings)).report) : [];
  const word = changed.length > 0 ? received.verdicts.map((one) => voided(one, changed)) : received.verdicts;
  const judging = await judge({ ...unapproved, approvals: word }, findings);
  const differences = goesOnDifferently(shown.report, judging.report);
  if (differences.length === 0) return { ...(await decided(judging, findings, state)), shown: shown.report };
  const approvals = received.verdicts.map((verdict) => voided(verdict, differences));
  // What fails, fails: it gets no second try for the sake of who approved it.
  const isOver =
    judging.attempt.means.wallClockExceeded() || judging.stages.some(({ status }) => status === 'failed');
  if (!isOver) await judgeAnew(unapproved);
  const anew = isOver
    ? { ...judging, attempt: { ...judging.attempt, approvals } }
    : await judge({ ...unapproved, approvals }, findings);
  await show(anew.attempt, anew.report);
  return { ...(await decided(anew, findings, state)), shown: anew.report };
}

/** What else than the word of people makes a judging another one than what was shown. */
function goesOnDifferently(shown: GateReport, report: GateReport): readonly string[] {
  return verdictDifferences(verdictOf(shown), verdictOf(report), { goesOn: true });
}

async function judge(attempt: Attempt, findings: readonly Finding[]): Promise<Judging> {
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
    ...(await reportsOnRef({ store: candidate.means.store, runId: candidate.identity.runId })),
    ...everShown(candidate).map((one) => one.report),
  ];
  return receiveApprovals(candidate, subject, stored, differencesFrom(earlier, report));
}

/** With what a stranger needs to judge them again. */
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
  await attempt.means.record.put([
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
  { attempt, stages, dependencies }: Judging,
  findings: readonly Finding[],
  state: PlanState,
): Promise<{ readonly attempt: Attempt; readonly judged: JudgedRun }> {
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
