import type { RunView } from '../../core/interfaces/run-view.ts';
import type { RunOutcome } from '../state/work.ts';
import { isHeldRun } from './review/hold-run.ts';
import type { TurnScope } from './turn-scope.ts';

/** Tells what a run came to, as words and as data. */
export async function tellOutcome(
  { tell, newId, state }: Pick<TurnScope, 'tell' | 'newId' | 'state'>,
  view: RunView,
): Promise<void> {
  const outcome = outcomeOf({ state }, view);
  const title = outcome.decision === 'held' ? 'Held for review' : titleOf(view);
  await tell({ type: 'noted', id: newId(), title, text: sentenceOf(outcome), outcome });
}

function titleOf({ decision, waiting }: RunView): string {
  if (waiting !== undefined) return 'Waiting for people';
  return `Decision.${(decision?.type ?? 'none').replace(/^./, (first) => first.toUpperCase())}`;
}

function outcomeOf({ state }: Pick<TurnScope, 'state'>, view: RunView): RunOutcome {
  const { runId, decision, waiting } = view;
  const why = decision?.rationale ?? 'nothing was decided';
  const isHeld = waiting === undefined && isHeldRun({ state }, view);
  const { commitSha } = decision ?? {};
  const review = state().heldRun?.runId === runId ? ', then `/review`' : '';
  return {
    runId,
    decision: isHeld ? 'held' : waiting === undefined ? (decision?.type ?? 'none') : 'waiting',
    why:
      waiting?.for === 'approval'
        ? `waits for ${waiting.needed} to approve: \`writ approve ${runId}\`, then \`writ resume ${runId}\`${review}`
        : waiting === undefined
          ? isHeld
            ? `${why}; held until you have reviewed it`
            : why
          : `waits: ${why}`,
    ...(commitSha === undefined ? {} : { commit: commitSha }),
  };
}

function sentenceOf({ runId, decision, why, commit }: RunOutcome): string {
  if (decision === 'waiting') return `run ${runId} ${why}`;
  const verify = decision === 'commit' ? ` \`writ verify ${runId}\`,` : '';
  return `run ${runId}:${commit === undefined ? '' : ` ${commit}`} ${why};${verify} \`writ show ${runId}\``;
}
