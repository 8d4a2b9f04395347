import { type StageRecord, stageNames } from '../contract/stage.ts';
import type { Attempt, Workspace } from './attempt.ts';
import { runStage } from './run-stage.ts';

/** Runs the stages in order; a later one never starts after one that did not pass. */
export async function runStages(attempt: Attempt, workspace: Workspace): Promise<readonly StageRecord[]> {
  const stages: StageRecord[] = [];
  for (const name of stageNames) {
    attempt.request.signal.throwIfAborted();
    if (attempt.wallClockExceeded()) break;
    const record = await runStage(attempt, workspace, name, stages);
    stages.push(record);
    if (record.status === 'failed' || record.status === 'waiting') break;
  }
  return stages;
}
