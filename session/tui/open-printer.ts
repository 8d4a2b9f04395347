/* Prints each finished part of a session once, as lines of the scrollback. */
import { type Asked, changeAsked } from '../screen/asked.ts';
import { patchLines } from '../screen/diff.ts';
import { type Line, span, visible } from '../screen/line.ts';
import { type MarkdownStream, markdownLines, openMarkdown } from '../screen/markdown-lines.ts';
import { questionBody } from '../screen/question-body.ts';
import { hangLine } from '../screen/wrap.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { type Entry, entryLines, replyHead } from './entry-lines.ts';

interface Printer {
  print(
    snapshot: Snapshot,
    columns: number,
  ): { readonly lines: readonly Line[]; readonly open: readonly Line[] };
  answered(id: string, words: string): void;
}

/** Entries of a thread that is gone on with; what came before is a command away. */
const mostAtFirst = 40;

export function openPrinter(): Printer {
  let printed: Printed | undefined;
  let reply: { readonly id: string; readonly stream: MarkdownStream; pushed: string } | undefined;
  let width = 80;
  let wasLine = true;
  const mine = new Map<string, string>();

  const replyLines = (entry: Entry): readonly Line[] => {
    const { id, content = '' } = entry;
    const lines: Line[] = [];
    if (reply?.id === id && !content.startsWith(reply.pushed)) {
      lines.push(...reply.stream.end());
      reply = undefined;
    }
    if (reply?.id !== id) {
      reply = { id, stream: openMarkdown(() => width), pushed: '' };
      lines.push([], ...replyHead(entry));
    }
    if (content.length > reply.pushed.length)
      lines.push(...reply.stream.push(content.slice(reply.pushed.length)));
    reply.pushed = content;
    return lines;
  };
  const finished = (entry: Entry, { toolCalls }: Snapshot): readonly Line[] => {
    if (reply?.id !== entry.id) return entryLines(entry, width, callOf(entry, toolCalls));
    const lines = [...replyLines(entry), ...reply.stream.end()];
    reply = undefined;
    return lines;
  };
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
      const questions = questionLines(next.printed.asked, snapshot, columns, mine);
      const contracts = first && earlierContracts(next.entries, snapshot, columns);
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
        open: next.open === undefined ? [] : (reply?.stream.live() ?? []),
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

/** Prints each new question in full, and one line when a question is over. */
function questionLines(
  before: Printed['asked'],
  snapshot: Snapshot,
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
      lines.push([], ...questionBody(one, (text) => markdownLines(text, { columns })));
      lines.push(...askedChange(one, columns));
    } else if (!isNew && (one.kind !== 'request_user_input' || one.status === 'cancelled')) {
      const words = mine.get(one.id);
      const how = one.status === 'cancelled' ? 'not asked any more' : (words ?? 'answered elsewhere');
      lines.push([span(one.status === 'cancelled' ? '· ' : '✓ ', 'dim'), span(how, 'dim')]);
    }
  }
  return { asked, lines };
}

const most = 40;

export function askedChange(asked: Asked, columns: number): readonly Line[] {
  const change = changeAsked(asked);
  if (change === undefined) return [];
  const { diff = '', note = '', unshown = 0 } = change;
  if (diff === '') return [[span(`  what it would change: ${visible(note)}`, 'dim')]];
  const lines = patchLines(diff, { columns });
  const left = Math.max(0, lines.length - most) + unshown;
  return [
    [span('  what it would change:', 'dim')],
    ...lines.slice(0, most),
    ...(left > 0 ? [[span(`  and ${left} more lines: /diff has them`, 'dim')]] : []),
  ];
}

/**
 * Specs that were answered before the screen opened, by the first entry after each. A resumed thread must show its
 * spec.
 */
function earlierContracts(
  entries: readonly Entry[],
  { interactions }: Pick<Snapshot, 'interactions'>,
  columns: number,
): ReadonlyMap<string, readonly Line[]> {
  const before = new Map<string, readonly Line[]>();
  const [oldest] = entries;
  for (const asked of interactions) {
    if (asked.kind !== 'intent_review_choice' || asked.status !== 'resolved') continue;
    if (oldest === undefined || asked.requestedAt < oldest.createdAt) continue;
    const next = entries.find(({ createdAt }) => createdAt > asked.requestedAt);
    if (next === undefined) continue;
    const lines = questionBody(asked, (text) => markdownLines(text, { columns }));
    before.set(next.id, [...(before.get(next.id) ?? []), [], ...lines]);
  }
  return before;
}

/** What of a session was printed. Each finished entry is printed once, in the order in which they finish. */
export interface Printed {
  readonly last: string | undefined;
  readonly waiting: readonly string[];
  readonly open: string | undefined;
  readonly asked: ReadonlySet<string>;
}

export const nothingPrinted: Printed = { last: undefined, waiting: [], open: undefined, asked: new Set() };

interface ToPrint {
  readonly printed: Printed;
  readonly entries: readonly Entry[];
  readonly open: Entry | undefined;
  /** Entries that went by without being seen. */
  readonly missed: boolean;
}

const mostWaiting = 200;

export function nextToPrint(before: Printed, { transcript }: Pick<Snapshot, 'transcript'>): ToPrint {
  const at = before.last === undefined ? -1 : transcript.findLastIndex(({ id }) => id === before.last);
  const fresh = transcript.slice(at + 1);
  const waited = new Set(before.waiting);
  const known = waited.size === 0 ? [] : transcript.slice(0, at + 1).filter(({ id }) => waited.has(id));
  const all = [...known, ...fresh];
  const open =
    all.find((one) => one.id === before.open && isOpen(one)) ??
    all.find((one) => isReply(one) && isOpen(one));
  const isHalfPrinted = open !== undefined && open.id === before.open;
  // What finishes during a streamed reply is printed behind it.
  const entries = isHalfPrinted
    ? []
    : inOrder(
        all.filter((one) => !isOpen(one)),
        before.open,
      );
  const printed = new Set(entries.map(({ id }) => id));
  return {
    printed: {
      ...before,
      last: transcript.at(-1)?.id ?? before.last,
      waiting: all
        .filter(({ id }) => !printed.has(id))
        .map(({ id }) => id)
        .slice(-mostWaiting),
      open: open?.id,
    },
    entries,
    open,
    missed: before.last !== undefined && at < 0 && transcript.length > 0,
  };
}

function inOrder(entries: readonly Entry[], first: string | undefined): readonly Entry[] {
  const begun = entries.find(({ id }) => id === first);
  return begun === undefined ? entries : [begun, ...entries.filter((one) => one !== begun)];
}

function isReply({ kind }: Entry): boolean {
  return kind === 'assistant_message';
}

function isOpen({ streaming, kind, status }: Entry): boolean {
  return streaming || (kind === 'tool_call' && (status === 'running' || status === 'preview'));
}

export function greetingLines(
  { workingDir, provider, threadId }: Pick<Snapshot, 'workingDir' | 'provider' | 'threadId'>,
  baseUrl: string,
): readonly Line[] {
  const model = provider.model ?? provider.provider;
  return [
    [span('writ code', 'heading'), span(`  ${visible(workingDir)} · ${visible(model)}`)],
    [span(`thread ${visible(threadId)} · also on ${visible(baseUrl)}`, 'dim')],
  ];
}
