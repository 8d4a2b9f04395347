import { canonicalize } from '../base/canonical.ts';
import type { Attempt } from './attempt.ts';
import { decideRun } from './decide-run.ts';
import { judgePatch } from './judge-patch.ts';
import type { JudgedRun } from './judged-run.ts';
import type { PlanState } from './plan-state.ts';
import { attemptsAt, sensedBefore } from './plan-state.ts';
import { authorsOf, receiveApprovals } from './receive-approvals.ts';
import { rehearseSeal } from './rehearse-seal.ts';
import { lastTask } from './replan.ts';
import { runStages } from './run-stages.ts';
import { taskFacts } from './task-facts.ts';
import { waitingReport, waitingSubject } from './wait-for-people.ts';

/** What was found out about a candidate, with the approvals that it was found out with. */
export interface JudgedCandidate {
  readonly attempt: Attempt;
  readonly judged: JudgedRun;
}

/** Patch rules, approvals, all four stages, decision: everything that stands between a candidate and its seal. */
export async function judgeCandidate(candidate: Attempt, state: PlanState): Promise<JudgedCandidate> {
  const findings = await judgePatch(candidate);
  const { verdicts, stored } = await receiveApprovals(candidate, waitingSubject(candidate));
  const rehearsal = await rehearseSeal(candidate);
  const attempt = { ...candidate, approvals: verdicts, ...(rehearsal ? { rehearsal } : {}) };
  const shown = waitingReport(candidate);
  if (stored.length > 0 && shown) {
    // With what a stranger needs to judge them again.
    await attempt.record.put([
      ...stored.map(
        ({ bytes }, index) => [`approvals/${String(index + 1).padStart(4, '0')}.json`, bytes] as const,
      ),
      ['approvals/gate-report.json', shown],
      ['approvals/authors.json', Buffer.from(canonicalize({ authors: await authorsOf(candidate) }))],
    ]);
  }
  const isRejected = findings.some(({ severity }) => severity === 'error');
  const { stages, dependencies } = isRejected ? { stages: [], dependencies: [] } : await runStages(attempt);
  const task = attempt.isWorked ? lastTask(state) : undefined;
  const { humanInLoop } = attempt.contract.effective.risk;
  const peopleWho = (decision: 'approve' | 'reject'): number =>
    new Set(
      verdicts
        .filter((verdict) => verdict.status === 'counts' && verdict.decision === decision)
        .map(({ principal }) => principal),
    ).size;
  const judged = await decideRun(attempt, {
    subject: 'candidate',
    ...(task === undefined
      ? {}
      : {
          task: taskFacts(attempt, {
            key: task.key,
            attempt: Math.max(1, attemptsAt(state, task.key).length),
          }),
        }),
    conflicts: [],
    findings,
    stages,
    dependencies,
    before: task === undefined ? [] : sensedBefore(state, task.key),
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
