/* Pages back through a thread, and exports it as Markdown. */
import { isApproval } from '../../screen/asked.ts';
import { type Line, span, textOf } from '../../screen/line.ts';
import { commandTree, contractEssence } from '../../screen/question-body.ts';
import type { SessionDoor } from '../../screen/session-door.ts';
import { attachmentMarks, readOutcome, toolWords } from '../../screen/words.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { type Entry, entryLines } from '../entry-lines.ts';

type Door = Pick<SessionDoor, 'snapshot' | 'earlier'>;

const most = 200;

export interface Earlier {
  show(count: number, columns: number): Promise<readonly Line[]>;
}

/** `printedFrom`: how many entries of the thread came before the first that is printed. */
export function openEarlier(door: Door, printedFrom: number): Earlier {
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
        ...page.entries.flatMap((entry) => entryLines(entry, columns)),
        [],
        [span(from === 0 ? '… that is where it began' : `… ${from} before these: /earlier`, 'dim')],
      ];
    },
  };
}

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

type Thread = Pick<Snapshot, 'threadId' | 'transcript' | 'toolCalls' | 'interactions'>;
type Asked = Snapshot['interactions'][number];

/** A transcript as a Markdown document. It holds what a snapshot holds, and so no secret. */
export function transcriptText({ threadId, transcript, toolCalls, interactions }: Thread): string {
  const printed = new Map(toolCalls.map(({ id, output }) => [id, output]));
  const said = transcript.map((entry) => ({ at: entry.createdAt, text: withOutput(entry, printed) }));
  const asked = interactions.flatMap((one) => {
    const text = askedText(one);
    return text === undefined ? [] : [{ at: one.requestedAt, text }];
  });
  return `# Thread ${threadId}\n\n${inTime(said, asked)
    .map(({ text }) => text)
    .join('\n\n')}\n`;
}

interface Piece {
  /** RFC 3339, as a snapshot has it. */
  readonly at: string;
  readonly text: string;
}

/** Puts each question before the first entry that is later. */
function inTime(said: readonly Piece[], asked: readonly Piece[]): readonly Piece[] {
  const left = [...asked];
  const pieces = said.flatMap((one) => {
    const before = left.findIndex(({ at }) => at >= one.at);
    return [...left.splice(0, before < 0 ? left.length : before), one];
  });
  return [...pieces, ...left];
}

function askedText(asked: Asked): string | undefined {
  const { title = '', status } = asked;
  const over = status === 'cancelled' ? ' (withdrawn)' : '';
  if (asked.kind === 'intent_review_choice') {
    const essence = contractEssence(asked.metadata);
    return `## Spec: ${title}${over}${essence === undefined ? '' : `\n\n${fenced(essence.map(textOf).join('\n'))}`}`;
  }
  if (!isApproval(asked)) return undefined;
  return `## Asked: ${title}${over}\n\n${fenced(commandTree(asked.metadata).map(textOf).join('\n'))}`;
}

function withOutput(entry: Entry, printed: ReadonlyMap<string, string | undefined>): string {
  const output = entry.kind === 'tool_call' ? printed.get(entry.id) : undefined;
  return output === undefined ? entryText(entry) : `${entryText(entry)}\n\n${fenced(output)}`;
}

function fenced(text: string, language = ''): string {
  const fence = '`'.repeat(Math.max(2, longestOf(text)) + 1);
  return `${fence}${language}\n${text.replace(/\n$/, '')}\n${fence}`;
}

function code(text: string): string {
  const mark = '`'.repeat(longestOf(text) + 1);
  const blank = /^`|`$/.test(text) ? ' ' : '';
  return `${mark}${blank}${text.replaceAll('\n', ' ')}${blank}${mark}`;
}

function longestOf(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}

function entryText(entry: Entry): string {
  const { kind, title, content = '', status, task } = entry;
  switch (kind) {
    case 'user_message':
      return ['## You', content, ...attachmentMarks(entry)].join('\n\n');
    case 'assistant_message':
      return `## Model${task === undefined ? '' : ` (${task})`}\n\n${content}`;
    case 'tool_call': {
      const { verb, what, came } = toolWords(title ?? 'tool', content, status);
      const how = status === 'completed' ? came : [status ?? 'unknown', came].filter(Boolean).join(', ');
      return `- ${task === undefined ? '' : `${task}: `}${code(`${verb} ${what}`.trim())}${how === '' ? '' : ` ${how}`}`;
    }
    case 'plan_summary':
      return `## Plan: ${title ?? ''}\n\n${content}`;
    case 'diff':
      return fenced(content, 'diff');
    case 'info_note':
      return outcomeText(entry) ?? `> ${title === undefined ? '' : `**${title}**: `}${quoted(content)}`;
  }
}

function outcomeText(entry: Entry): string | undefined {
  const outcome = readOutcome(entry);
  if (outcome === undefined) return undefined;
  const { title, words, runId, commit } = outcome;
  const looks = [...(commit === undefined ? [] : [`commit ${code(commit)}`]), code(`writ show ${runId}`)];
  return `## Run ${runId}: ${title}\n\n${words}\n\n${looks.map((look) => `- ${look}`).join('\n')}`;
}

function quoted(text: string): string {
  return text.replace(/\n/g, '\n> ');
}
