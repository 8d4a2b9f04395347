import { type Line, span } from '../../screen/line.ts';
import type { SessionDoor } from '../../screen/session-door.ts';
import { visible } from '../../screen/visible.ts';
import { toAgo } from '../../screen/words/to-span.ts';

/** Threads that are shown, and that are looked through for them. */
const [most, mostLooked] = [20, 1000];
const page = 200;

/** The threads in which something was said, last updated first; those without a word are counted. */
export async function threadLines(
  { threads, snapshot }: Pick<SessionDoor, 'threads' | 'snapshot'>,
  nowMs: number,
): Promise<readonly Line[]> {
  const { threadId } = snapshot();
  const lines: Line[] = [];
  let empty = 0;
  let more = false;
  for (let offset: number | undefined = 0; offset !== undefined && offset < mostLooked; ) {
    const { items, nextOffset } = await threads({ limit: page, offset });
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
