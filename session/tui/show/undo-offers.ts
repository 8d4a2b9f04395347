/* Completions of the command `/undo`. */
import { readOutcome, toDoneTask } from '../../screen/work-words.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import type { OfferedCommand } from '../composer/completion.ts';
import type { Key } from '../term/painter.ts';

const most = 20;

/**
 * Completions for `/undo` while a slash command is typed or begun by this key, otherwise empty. A transcript is long,
 * and keys arrive fast.
 */
export function undoOffersFor(
  typed: string,
  key: Key,
  snapshot: Pick<Snapshot, 'transcript' | 'tasks' | 'plans'>,
): readonly OfferedCommand[] {
  const begun = typed === '' && key.type !== 'key' ? key.text : typed;
  return begun.startsWith('/') ? undoOffers(snapshot) : [];
}

/** Arguments of `/undo`: runs of the thread that committed, newest first, and their tasks if there are several. */
export function undoOffers({
  transcript,
  tasks,
  plans,
}: Pick<Snapshot, 'transcript' | 'tasks' | 'plans'>): readonly OfferedCommand[] {
  let asked = '';
  const runs = new Map<string, string>();
  for (const entry of transcript) {
    if (entry.kind === 'user_message') asked = entry.content?.split('\n')[0] ?? '';
    const outcome = readOutcome(entry);
    if (outcome?.isCommit === true) runs.set(outcome.runId, asked);
    // A person has discarded what it had made.
    else if (outcome !== undefined) runs.delete(outcome.runId);
  }
  const done = tasks.flatMap((task) => toDoneTask(task) ?? []);
  return [...runs]
    .toReversed()
    .slice(0, most)
    .flatMap(([run, words]) => {
      const own = done.filter((one) => one.run === run);
      const steps = plans.findLast(({ id }) => id.startsWith(`${run}/`))?.steps ?? [];
      const stepOf = (task: string) => steps.find(({ id }) => id.startsWith(`${task}.`))?.step ?? '';
      return [
        offer(run, words),
        ...(own.length < 2 ? [] : own.map(({ task }) => offer(`${run} ${task}`, stepOf(task)))),
      ];
    });
}

function offer(behind: string, description: string): OfferedCommand {
  return { name: `undo ${behind}`, arguments: '', description, isBehind: true };
}
