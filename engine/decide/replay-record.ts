import type { ReplayRecord } from '../../core/interfaces/sealing.ts';

/** `replayRun` for a verifier. Loads the decision rules and the record shapes only when called. */
export const replayRecord: ReplayRecord = async (files, listed) => {
  const { replayRun } = await import('./replay-run.ts');
  return replayRun(files, listed).firstDifference;
};
