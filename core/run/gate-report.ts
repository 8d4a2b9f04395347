import { toRfc3339 } from '../base/clock.ts';
import type { Finding } from '../contract/finding.ts';
import type { RunView } from '../contract/run-view.ts';
import { type StageRecord, stageNames } from '../contract/stage.ts';
import type { Attempt } from './attempt.ts';

/** What the gates saw and said, before anyone decided; stored as `gate-report.json`. */
export interface GateReport extends Omit<RunView, 'state' | 'finishedAt' | 'decision' | 'provenance'> {
  readonly schema: 'urn:writ:gate-report:v1';
}

/** The report of an attempt. Free of the clock: every time in it was taken when the thing happened. */
export function gateReport(
  attempt: Attempt,
  findings: readonly Finding[],
  stages: readonly StageRecord[],
): GateReport {
  const { contract, patch, ground, runId, threadId } = attempt;
  const spec = contract.effective;
  return {
    schema: 'urn:writ:gate-report:v1',
    runId,
    threadId,
    startedAt: toRfc3339(attempt.startedAtMs),
    spec: {
      id: spec.metadata.id,
      digest: contract.digest,
      summary: spec.intent.summary,
      changeType: spec.intent.changeType,
      riskLevel: spec.risk.level,
      objectives: spec.intent.objectives,
    },
    ...(patch.baseCommit === undefined ? {} : { baseCommit: patch.baseCommit }),
    targetRef: ground.target.ref,
    contentRef: attempt.store.refs.content(runId),
    sandbox: ground.sandbox.name,
    patch: {
      digest: patch.digest,
      candidateTree: patch.candidateTree,
      files: patch.files.map(({ path, changeType, linesAdded, linesDeleted }) => ({
        path,
        changeType,
        linesAdded,
        linesDeleted,
      })),
    },
    stages,
    findings,
    artifacts: attempt.box.list(),
  };
}

/** The report of a run whose stages are over: one that never started stands in it as `skipped` with nothing run. */
export function finalReport(
  attempt: Attempt,
  findings: readonly Finding[],
  stages: readonly StageRecord[],
): GateReport {
  const plan = attempt.contract.effective.acceptance.verificationPlan;
  const all = stageNames.map(
    (stage): StageRecord =>
      stages.find((record) => record.stage === stage) ?? {
        stage,
        status: 'skipped',
        expected: plan[`${stage}Checks`].length,
        ran: 0,
        checks: [],
        findings: [],
      },
  );
  return gateReport(attempt, findings, all);
}
