import type { DraftSummary } from '../../engine/run/draft/waiting-drafts.ts';
import type { RunSummary } from '../../engine/run/record/list-runs.ts';
import type { RunsData } from '../schemas/run-schema.ts';

/** Runs, and drafts that wait, as `--json` shows them, in the order given. */
export function toRunsData(runs: readonly (RunSummary | DraftSummary)[]): RunsData {
  return {
    runs: runs.map((run) => ({ ...lineOf(run), ...('waitsFor' in run ? draftOf(run) : endOf(run)) })),
  };
}

function lineOf({ runId, startedAt, state, summary, specId }: RunSummary | DraftSummary) {
  return { run_id: runId, started_at: startedAt, state, summary, spec_id: specId };
}

function endOf({ threadId, decision, commitSha, landing }: RunSummary) {
  return {
    ...(threadId === undefined ? {} : { thread_id: threadId }),
    ...(decision === undefined ? {} : { decision }),
    ...(commitSha === undefined ? {} : { commit_sha: commitSha }),
    ...(landing === 'sealed' ? { landed: false } : {}),
  };
}

function draftOf({ request, riskLevel, waitsFor }: DraftSummary) {
  return {
    draft: {
      request,
      waits_for: waitsFor,
      ...(riskLevel === undefined ? {} : { risk_level: riskLevel }),
    },
  };
}
