import type { RunView } from '../contract/run-view.ts';
import type { WritEngine } from './writ-engine.ts';

/** Tells everyone who wants to know what a run came to. */
export async function tellDecision(engine: WritEngine, { runId, decision }: RunView): Promise<void> {
  if (!decision) return;
  const { type, rationale, commitSha } = decision;
  await engine.hooks.decision.made.call({
    runId,
    type,
    rationale,
    ...(commitSha === undefined ? {} : { commitSha }),
  });
}
