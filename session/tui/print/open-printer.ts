import { type Line, span } from '../../screen/line.ts';
import type { Asked } from '../../screen/question/asked.ts';
import { changeAsked } from '../../screen/question/change-asked.ts';
import { questionBody } from '../../screen/question/question-body.ts';
import { visible } from '../../screen/visible.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { entryLines } from './entry-lines.ts';
import { hangLine } from './hang-line.ts';
import { type Entry, nextToPrint, nothingPrinted, type Printed } from './printed.ts';
import type { ReplyShape, Shape } from './shape.ts';

/** Turns snapshots into lines of the scrollback, each once. */
export interface Printer {
  /** What is new and finished; and what of the reply that comes may still change. */
  print(
    snapshot: Snapshot,
    columns: number,
  ): { readonly lines: readonly Line[]; readonly open: readonly Line[] };
  /** The person has answered that question here, with this. */
  answered(id: string, words: string): void;
}

/** Entries of a thread that is gone on with; what came before is a command away. */
const mostAtFirst = 40;

export function openPrinter(shape: Shape): Printer {
  let printed: Printed | undefined;
  let reply: { readonly id: string; readonly shape: ReplyShape; pushed: string } | undefined;
  let width = 80;
  let wasLine = true;
  const mine = new Map<string, string>();

  const replyLines = (entry: Entry): readonly Line[] => {
    const { id, content = '' } = entry;
    const lines: Line[] = [];
    if (reply?.id === id && !content.startsWith(reply.pushed)) {
      // It is not what was said so far: what was printed stays, and the whole of it comes again.
      lines.push(...reply.shape.end());
      reply = undefined;
    }
    if (reply?.id !== id) {
      reply = { id, shape: shape.openReply(() => width), pushed: '' };
      lines.push([]);
    }
    if (content.length > reply.pushed.length)
      lines.push(...reply.shape.push(content.slice(reply.pushed.length)));
    reply.pushed = content;
    return lines;
  };
  const finished = (entry: Entry, { toolCalls }: Snapshot): readonly Line[] => {
    if (reply?.id !== entry.id) return entryLines(entry, shape, width, callOf(entry, toolCalls));
    const lines = [...replyLines(entry), ...reply.shape.end()];
    reply = undefined;
    return lines;
  };
  /** An empty line stands between what is one line and what is more. */
  const apart = ({ kind }: Entry, lines: readonly Line[]): readonly Line[] => {
    const isLine = kind === 'tool_call' || (kind === 'info_note' && lines[0]?.length !== 0);
    const isOther = isLine && !wasLine;
    wasLine = isLine;
    return isOther ? [[], ...lines] : lines;
  };
  return {
    answered: (id, words) => void mine.set(id, words),
    print(snapshot, columns) {
      width = columns;
      const first = printed === undefined ? earlierLines(snapshot) : undefined;
      const next = nextToPrint(first?.printed ?? printed ?? nothingPrinted, snapshot);
      const questions = questionLines(next.printed.asked, snapshot, shape, columns, mine);
      const contracts = first && earlierContracts(next.entries, snapshot, shape, columns);
      printed = { ...next.printed, asked: questions.asked };
      const lines = [
        ...(first?.lines ?? []),
        ...(next.missed ? [[span('… some of it went by unseen: /export FILE has it all', 'warn')]] : []),
        ...next.entries.flatMap((entry) => [
          ...(contracts?.get(entry.id) ?? []),
          ...apart(entry, finished(entry, snapshot)),
        ]),
        ...(next.open === undefined ? [] : apart(next.open, replyLines(next.open))),
        ...questions.lines,
      ];
      return {
        lines: lines.flatMap((line) => hangLine(line, columns)),
        open: next.open === undefined ? [] : (reply?.shape.live() ?? []),
      };
    },
  };
}

/** How many entries of a thread come before the first that is printed when its screen opens. */
export function printedFrom({ transcript, earlier = 0 }: Pick<Snapshot, 'transcript' | 'earlier'>): number {
  return earlier + Math.max(0, transcript.length - mostAtFirst);
}

function callOf(
  { id, kind }: Entry,
  calls: Snapshot['toolCalls'],
): Snapshot['toolCalls'][number] | undefined {
  return kind === 'tool_call' ? calls.findLast((one) => one.id === id) : undefined;
}

/** Of a long thread only the end is printed at the start. */
function earlierLines(snapshot: Snapshot): {
  readonly printed: Printed;
  readonly lines: readonly Line[];
} {
  const from = printedFrom(snapshot);
  const last = snapshot.transcript.at(-mostAtFirst - 1);
  const words = `… ${from} earlier: /earlier shows them, /export FILE writes everything`;
  return {
    printed: { ...nothingPrinted, last: last?.id },
    lines: from === 0 ? [] : [[span(words, 'dim')]],
  };
}

/** Each question once, in full, when it is asked; and one line when it is over, which says how. */
function questionLines(
  before: Printed['asked'],
  snapshot: Snapshot,
  shape: Shape,
  columns: number,
  mine: ReadonlyMap<string, string>,
): { readonly asked: Printed['asked']; readonly lines: readonly Line[] } {
  const lines: Line[] = [];
  const asked = new Set<string>();
  for (const one of snapshot.interactions) {
    const isNew = !before.has(one.id);
    if (one.status === 'pending') {
      asked.add(one.id);
      if (!isNew) continue;
      lines.push([], ...questionBody(one, (text) => shape.markdown(text, columns)));
      lines.push(...askedChange(one, shape, columns));
    } else if (!isNew && (one.kind !== 'request_user_input' || one.status === 'cancelled')) {
      // What was answered to such a question is an entry of the transcript.
      const words = mine.get(one.id);
      const how = one.status === 'cancelled' ? 'not asked any more' : (words ?? 'answered elsewhere');
      lines.push([span(one.status === 'cancelled' ? '· ' : '✓ ', 'dim'), span(how, 'dim')]);
    }
  }
  return { asked, lines };
}

const most = 40;

/** What a use that an approval is about would write: nobody can judge a change that he does not see. */
export function askedChange(
  asked: Pick<Asked, 'kind' | 'metadata'>,
  shape: Pick<Shape, 'diff'>,
  columns: number,
): readonly Line[] {
  const change = changeAsked(asked);
  if (change === undefined) return [];
  const { diff, note, unshown } = change;
  if (diff === '') return [[span(`  what it would change: ${visible(note)}`, 'dim')]];
  const lines = shape.diff(diff, columns);
  const left = Math.max(0, lines.length - most) + unshown;
  return [
    [span('  what it would change:', 'dim')],
    ...lines.slice(0, most),
    ...(left > 0 ? [[span(`  and ${left} more lines: /diff has them`, 'dim')]] : []),
  ];
}

/**
 * Contracts that were answered before this screen opened, each by the first of these entries that came after it: they
 * are questions and no entries, and a thread that is gone on with would be read without what it is held to.
 */
function earlierContracts(
  entries: readonly Entry[],
  { interactions }: Pick<Snapshot, 'interactions'>,
  shape: Shape,
  columns: number,
): ReadonlyMap<string, readonly Line[]> {
  const before = new Map<string, readonly Line[]>();
  const [oldest] = entries;
  for (const asked of interactions) {
    if (asked.kind !== 'intent_review_choice' || asked.status !== 'resolved') continue;
    // What came before the part that is printed is a command away, as that is.
    if (oldest === undefined || asked.requestedAt < oldest.createdAt) continue;
    const next = entries.find(({ createdAt }) => createdAt > asked.requestedAt);
    if (next === undefined) continue;
    const lines = questionBody(asked, (text) => shape.markdown(text, columns));
    before.set(next.id, [...(before.get(next.id) ?? []), [], ...lines]);
  }
  return before;
}
