import type { ReplayRecord } from '../../core/interfaces/replay-record.ts';

/** `replayRun` for a verifier. The rules of deciding and the shapes of every record: only who asks for them pays. */
export const replayRecord: ReplayRecord = async (files, listed) => {
  const { replayRun } = await import('./replay-run.ts');
  return replayRun(files, listed).firstDifference;
};
