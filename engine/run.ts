/* The pipeline of a run, from the spec to the decision; starts and resumes it. */
import { canonicalize, sha256Hex } from '../core/base/canonical.ts';
import { toRfc3339 } from '../core/base/clock.ts';
import { WritError } from '../core/base/errors.ts';
import type { ApprovalVerdict } from '../core/interfaces/approval.ts';
import type { Finding } from '../core/interfaces/finding.ts';
import type { RunView } from '../core/interfaces/run-view.ts';
import { withApprovals, withoutAuthors } from '../readers/diff/owned-paths.ts';
import type { WritEngine } from '../spec/contract-rows.ts';
import type { GateReport } from '../store/record/gate-report.ts';
import { findRun } from '../store/record/list-records.ts';
import { verdictDifferences, verdictOf } from '../store/record/verdict.ts';
import { keepObjectReaders } from '../workspace/git/object-reader.ts';
import { openRepository } from '../workspace/git/repository.ts';
import { decideRun, reportDecision } from './decide/decide-run.ts';
import {
  approveInProcess,
  authorsOf,
  neededApprovals,
  ownedIn,
  type ReceivedApprovals,
  receiveApprovals,
  waitForPeople,
} from './decide/people.ts';
import { evaluateObserved } from './evaluate/evaluate-patch.ts';
import { evaluateAgain, rehearseSeal, runStages, type StagesRun } from './evaluate/run-stages.ts';
import type { HeldRun } from './open/hold-run.ts';
import { reopenRun } from './open/reopen-run.ts';
import { startRun } from './open/start-run.ts';
import { finalReport } from './record/build-gate-report.ts';
import type { EvaluatedRun } from './record/evaluation-objects.ts';
import { differencesFrom, everShown, lastShown, reportsOnRef, type Shown, show } from './record/list-runs.ts';
import {
  attemptsAt,
  costLimit,
  newPlanState,
  openRunFrames,
  type PlanState,
  sensedBefore,
} from './record/plan-state.ts';
import { readRun } from './record/read-run.ts';
import { listApprovals, type StoredApproval } from './record/stored-approvals.ts';
import { abandon, foretellCommit, seal } from './seal/seal.ts';
import { namingRun, ranIn } from './state/machine.ts';
import type { Attempt } from './state/open-run.ts';
import type { ResumeRequest, RunRequest } from './state/run-request.ts';
import { draftingSpent } from './state/spent.ts';
import {
  blameCandidate,
  endEarly,
  keepParts,
  type MadeCandidate,
  makeCandidate,
  returnCandidate,
} from './work/make-candidate.ts';
import { acceptedWork } from './work/merge-tasks.ts';
import { lastTask, planWork, reviewPlan, taskFacts } from './work/plan-work.ts';
import { settleLocalChanges, settlePlannedPaths } from './work/settle-local-changes.ts';
import { beginAttempt } from './work/work-attempt.ts';

/**
 * Runs the whole chain: open → plan → work → evaluate → decide → seal, wait or abandon. Returns a RunView even for a
 * refused change. Throws only if the checks cannot run at all; the user's branch and files are then unchanged.
 */
export async function runIntent(engine: WritEngine, request: RunRequest): Promise<RunView> {
  await using readers = keepObjectReaders();
  await using held = await startRun(engine, request, readers);
  return await drive(held, { isNew: true });
}

/**
 * Resumes a run that was interrupted or that waited; completed steps are not repeated
 * (`docs/decisions/0004-durable-runs.md`). Returns the stored view of a run that has ended.
 */
export async function resumeRun(engine: WritEngine, request: ResumeRequest): Promise<RunView> {
  await using readers = keepObjectReaders();
  const repository = readers.keep(await openRepository(request.repositoryPath));
  const { store, runId } = await findRun(engine.slots.store, repository, request.clock, request.runId);
  const view = await readRun(repository, store, runId);
  if (view.state === 'decided') return view;
  await using held = await reopenRun(engine, request, readers);
  return await drive(held, { isNew: false });
}

async function drive(held: HeldRun, { isNew }: { readonly isNew: boolean }): Promise<RunView> {
  const { queued } = held.run.services.settings;
  let isReal = queued?.ahead === undefined;
  try {
    const { candidate, state } = await decideLast(held, isNew);
    if (queued && candidate.judged.decision.next === 'seal') isReal = await queued.maySeal();
    if (!isReal) throw new WritError('TARGET_MOVED');
    return held.started.evaluatesOnly ? await tell(held, candidate) : await end(held, state, candidate);
  } catch (fault) {
    // The target does not have its tree, or its entry was removed: it counts for nothing, whatever it came to.
    if (!isReal) await held.discard();
    const { identity, services } = held.run;
    const isKept = isReal && !held.started.evaluatesOnly && fault !== services.signal.reason;
    throw isKept ? namingRun(fault, identity.runId) : fault;
  }
}

/** The candidate that the run ends with: a worker has as many tries as its spec allows. */
async function decideLast(
  held: HeldRun,
  isNew: boolean,
): Promise<{ readonly candidate: DecidedCandidate; readonly state: PlanState }> {
  const state = await plan(held);
  for (let round = 1; ; round += 1) {
    const made = await work(held, state, { round, isNew });
    await foretell(held, made);
    const candidate = await decideOn(held, made, state);
    const { next } = candidate.judged.decision;
    if (next !== 'retry' && next !== 'replan') return { candidate, state };
    await returnCandidate(candidate.attempt, state, candidate.judged, `candidate-${round}`);
  }
}

/** Reports the commit that a run of the merge queue makes, before any check of it. */
async function foretell({ run }: Pick<HeldRun, 'run'>, { attempt, ended }: MadeCandidate): Promise<void> {
  const { queued } = run.services.settings;
  if (!queued || ended) return;
  const commit = await foretellCommit(attempt);
  if (commit !== undefined) queued.foretell(commit);
}

/** Objectives → tasks → graph, reviewed by people if the run's settings say so. */
async function plan({ run, started }: HeldRun): Promise<PlanState> {
  const { evaluatesOnly } = started;
  await run.services.steps.once('plan-reviewed', () => reviewPlan(run));
  const frames = run.identity.isWorked && !evaluatesOnly ? await openRunFrames(run) : undefined;
  const draft = await planWork(run);
  await settlePlannedPaths(run, draft);
  return newPlanState(
    draft,
    await costLimit(run),
    frames,
    draftingSpent(run.services.steps, started.drafting),
  );
}

/** Makes the candidate, or uses the supplied one. Local changes come first: no check runs on what could not land. */
async function work(
  { run, supplied }: HeldRun,
  state: PlanState,
  { round, isNew }: { readonly round: number; readonly isNew: boolean },
): Promise<MadeCandidate> {
  if (run.services.cancelled !== undefined) return await endEarly(run, state, supplied);
  const made = supplied
    ? { attempt: beginAttempt(run, 'candidate-1', supplied) }
    : await makeCandidate(run, state, round);
  if (made.ended) return made;
  const about = { round, isNew, isSupplied: supplied !== undefined };
  return { attempt: await settleLocalChanges(run, made.attempt, about) };
}

/** Evaluates a candidate and decides on it; again after approvers of this process have answered. */
async function decideOn(
  { started }: Pick<HeldRun, 'started'>,
  { attempt: made, ended }: MadeCandidate,
  state: PlanState,
): Promise<DecidedCandidate> {
  if (ended) return { attempt: made, judged: ended };
  const candidate = await evaluateCandidate(made, state);
  const { attempt, judged, shown } = candidate;
  await keepParts(attempt, state, judged);
  const { approvers } = attempt.services.settings;
  if (judged.decision.next !== 'wait-for-approval' || !approvers?.length || started.evaluatesOnly)
    return candidate;
  await state.frames?.keep();
  await waitForPeople(attempt, judged, shown);
  await approveInProcess(attempt);
  return await evaluateCandidate(made, state);
}

/** Carries out the decision: seals, abandons, or leaves the run to wait for people. */
async function end(
  held: HeldRun,
  state: PlanState,
  { attempt, judged, shown }: DecidedCandidate,
): Promise<RunView> {
  const { run } = held;
  const { next } = judged.decision;
  await state.frames?.keep();
  if (next.startsWith('wait-')) {
    await waitForPeople(attempt, judged, shown);
    await held.wait();
  } else {
    await (next === 'seal' ? seal : abandon)(attempt, judged);
    await held.finish();
  }
  const stored = await readRun(run.environment.repository, run.services.store, run.identity.runId);
  const view = stored.state === 'waiting' ? await asJudgedNow(stored, attempt, judged) : stored;
  await reportDecision(run.services.engine, view, judged);
  return view;
}

/** What would have become of a change that is only evaluated. Nothing of the run is kept. */
async function tell(
  held: HeldRun,
  { attempt, judged: { findings, stages, decision } }: DecidedCandidate,
): Promise<RunView> {
  const { schema: _, ...report } = finalReport(attempt, findings, stages);
  const { next, rationale } = decision;
  await held.discard();
  const type = next === 'seal' ? 'commit' : next.startsWith('wait-') ? 'wait' : 'abandon';
  return {
    ...report,
    state: 'decided',
    would: { type, rationale, isAdvised: attempt.environment.config.mode === 'advise' },
  };
}

/** The stored record of a waiting run stays as it was signed; this adds the state from the latest checks. */
async function asJudgedNow(
  { notices: _, ...view }: RunView,
  attempt: Attempt,
  judged: EvaluatedRun,
): Promise<RunView> {
  const { findings, stages, decision } = judged;
  const { rationale, next } = decision;
  const { notices } = finalReport(attempt, findings, stages);
  const { owners } = judged.input;
  return {
    ...view,
    ...(notices === undefined ? {} : { notices }),
    stages: view.stages.map((stored) => stages.find(({ stage }) => stage === stored.stage) ?? stored),
    ...(view.decision && { decision: { ...view.decision, rationale } }),
    waiting: {
      for: next === 'wait-for-budget' ? 'budget' : 'approval',
      needed: neededApprovals(judged),
      people: attempt.approvals,
      ...(owners === undefined ? {} : { owners: withoutAuthors(owners, await authorsOf(attempt)) }),
    },
  };
}

/** A candidate with its decision and the approvals that it was decided with. */
interface DecidedCandidate {
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
async function evaluateCandidate(made: Attempt, state: PlanState): Promise<DecidedCandidate> {
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
    owners: withApprovals(ownedIn(attempt), attempt.approvals),
    state,
  });
  return { attempt, judged };
}
