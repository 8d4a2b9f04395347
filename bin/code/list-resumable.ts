import { toEnvelope } from '../../api/envelope.ts';
import { type Clock, systemClock } from '../../core/base/clock.ts';
import { openRepository } from '../../engine/vcs/repository.ts';
import { toAgo } from '../../session/screen/words/to-span.ts';
import { listThreadsWithStates } from '../../session/thread/thread-states.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';

/** More than a person looks through. */
const mostListed = 200;

/** `writ code --resume` without a thread: lists the threads of the repository, and says how one is resumed. */
export async function listResumable(
  { print, json }: Pick<CommandContext, 'print' | 'json'>,
  { workingDir }: { readonly workingDir: string },
  clock: Pick<Clock, 'now'> = systemClock,
): Promise<CommandResult> {
  const { threads, hasMore } = await listThreadsWithStates(await openRepository(workingDir), mostListed);
  const data = {
    threads: threads.map(({ id, title, currentIntentId, createdAt, updatedAt, state }) => ({
      id,
      ...(title === undefined ? {} : { title }),
      ...(currentIntentId === undefined ? {} : { current_intent_id: currentIntentId }),
      created_at: createdAt,
      updated_at: updatedAt,
      state,
    })),
    has_more: hasMore,
  };
  // The command prints its own JSON: nothing follows on success.
  if (json) print.raw(toEnvelope('code', { data }, true));
  return succeeded(data, (printer) => {
    if (threads.length === 0) {
      printer.line('no threads yet: `writ code` begins one');
      return;
    }
    const nowMs = clock.now();
    printer.table(
      threads.map(({ id, title = '(nothing was said)', updatedAt, state }) => [
        id,
        toAgo(Date.parse(updatedAt), nowMs),
        state,
        title,
      ]),
    );
    if (hasMore) printer.line(`only the last ${mostListed} are listed`);
    printer.line('`writ code --resume THREAD` resumes one that is closed');
  });
}
