import type { RunView } from '../../../core/contract/run-view.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import type { JudgedRun } from '../record/judged-run.ts';
import { neededApprovals } from './wait-for-people.ts';

/** Tells everyone who wants to know what a run came to. */
export async function tellDecision(
  engine: WritEngine,
  { runId, decision, state }: RunView,
  judged: JudgedRun,
): Promise<void> {
  if (!decision) return;
  const { type, rationale, commitSha } = decision;
  const waitsFor = judged.decision.next === 'wait-for-budget' ? 'budget' : 'approval';
  await engine.hooks.decision.made.call({
    runId,
    type,
    rationale,
    ...(commitSha === undefined ? {} : { commitSha }),
    ...(state === 'waiting' ? { waiting: { for: waitsFor, needed: neededApprovals(judged) } } : {}),
  });
}
