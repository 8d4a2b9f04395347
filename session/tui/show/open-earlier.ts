import { type Line, span } from '../../screen/line.ts';
import type { SessionDoor } from '../../screen/session-door.ts';
import { entryLines } from '../print/entry-lines.ts';
import type { Entry } from '../print/printed.ts';
import type { Shape } from '../print/shape.ts';

type Door = Pick<SessionDoor, 'snapshot' | 'earlier'>;

/** Entries of one answer. */
const most = 200;

/** Goes back through what was said before what is printed, a piece each time. */
export interface Earlier {
  /** So many entries more, in words and in their order. */
  show(count: number, columns: number): Promise<readonly Line[]>;
}

/** `printedFrom`: how many entries of the thread came before the first that is printed. */
export function openEarlier(door: Door, shape: Shape, printedFrom: number): Earlier {
  let from = printedFrom;
  return {
    async show(count, columns) {
      if (from === 0) return [[span('  nothing came before', 'dim')]];
      const page = await readBefore(door, from, count);
      const [first, last] = [page.from + 1, from];
      ({ from } = page);
      return [
        [],
        [span(`… ${first} to ${last} of what was said before`, 'heading')],
        ...page.entries.flatMap((entry) => entryLines(entry, shape, columns)),
        [],
        [span(from === 0 ? '… that is where it began' : `… ${from} before these: /earlier`, 'dim')],
      ];
    },
  };
}

/** The whole of a thread, from its beginning on. */
export async function wholeTranscript(door: Door): Promise<readonly Entry[]> {
  const { transcript, earlier = 0 } = door.snapshot();
  const pages: (readonly Entry[])[] = [transcript];
  for (let from = earlier; from > 0; ) {
    const page = await door.earlier({ before: from, limit: most });
    pages.push(page.transcript);
    from = page.earlier;
  }
  return pages.reverse().flat();
}

/** The last `count` of the first `before` entries, wherever the session has them. */
async function readBefore(
  door: Door,
  before: number,
  count: number,
): Promise<{ readonly entries: readonly Entry[]; readonly from: number }> {
  const { transcript, earlier = 0 } = door.snapshot();
  const from = Math.max(0, before - count);
  const inWindow = transcript.slice(Math.max(0, from - earlier), Math.max(0, before - earlier));
  const left = Math.min(before, earlier) - from;
  if (left <= 0) return { entries: inWindow, from };
  const page = await door.earlier({ before: Math.min(before, earlier), limit: left });
  return { entries: [...page.transcript, ...inWindow], from: page.earlier };
}
