/* Lists the threads of a repository and finds one by the start of its id. */
import { type Line, span, visible } from '../../screen/line.ts';
import type { SessionDoor } from '../../screen/session-door.ts';
import { toAgo } from '../../screen/usage-words.ts';

const [most, mostLooked] = [20, 1000];
const threadPage = 200;

export async function threadLines(
  { threads, snapshot }: Pick<SessionDoor, 'threads' | 'snapshot'>,
  nowMs: number,
): Promise<readonly Line[]> {
  const { threadId } = snapshot();
  const lines: Line[] = [];
  let empty = 0;
  let more = false;
  for (let offset: number | undefined = 0; offset !== undefined && offset < mostLooked; ) {
    const { items, nextOffset } = await threads({ limit: threadPage, offset });
    for (const { id, title = '', updatedAt } of items) {
      if (title.trim() === '') empty += id === threadId ? 0 : 1;
      else if (lines.length === most) more = true;
      else
        lines.push([
          span(`  ${id}  `, 'code'),
          span(toAgo(Date.parse(updatedAt), nowMs).padEnd(10), 'dim'),
          span(visible(title)),
          ...(id === threadId ? [span('  this one', 'accent')] : []),
        ]);
    }
    offset = lines.length === most ? undefined : nextOffset;
  }
  const left = [
    ...(more ? ['there are older ones'] : []),
    ...(empty === 0 ? [] : [`${empty} without a word ${empty === 1 ? 'is' : 'are'} left out`]),
  ];
  return [
    [span('Threads', 'heading')],
    ...(lines.length === 0 ? [[span('  nothing was said in any thread yet', 'dim')]] : lines),
    [span(['  /resume THREAD goes on with one', ...left].join(' · '), 'dim')],
  ];
}

/** The thread of this repository that a word names: its id, or the beginning of one alone. `undefined`: none. */
export async function findThread(
  { threads }: Pick<SessionDoor, 'threads'>,
  word: string,
): Promise<string | undefined> {
  const found = new Set<string>();
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const { items, nextOffset } = await threads({ limit: threadPage, offset });
    for (const { id } of items) {
      if (id === word) return id;
      if (id.startsWith(word)) found.add(id);
    }
    offset = nextOffset;
  }
  return found.size === 1 ? [...found][0] : undefined;
}
