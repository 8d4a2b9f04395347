import type { RunSummary } from '../../engine/run/record/list-runs.ts';
import type { RunsData } from '../schemas/run-schema.ts';

/** A list of runs as `--json` shows it, in the order given. */
export function toRunsData(runs: readonly RunSummary[]): RunsData {
  return {
    runs: runs.map(({ runId, startedAt, state, summary, specId, decision, commitSha }) => ({
      run_id: runId,
      started_at: startedAt,
      state,
      summary,
      spec_id: specId,
      ...(decision === undefined ? {} : { decision }),
      ...(commitSha === undefined ? {} : { commit_sha: commitSha }),
    })),
  };
}
