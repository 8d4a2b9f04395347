import { textOf } from '../../screen/line.ts';
import { commandTree } from '../../screen/question/command-tree.ts';
import { contractEssence } from '../../screen/question/contract-essence.ts';
import { readOutcome } from '../../screen/words/outcome-of.ts';
import { toolWords } from '../../screen/words/tool-words.ts';
import type { Snapshot } from '../../state/snapshot.ts';

type Told = Pick<Snapshot, 'threadId' | 'transcript' | 'toolCalls' | 'interactions'>;
type Entry = Snapshot['transcript'][number];
type Asked = Snapshot['interactions'][number];

/**
 * A transcript as a Markdown document: what was asked for, agreed, planned, answered, done and decided, in order. Holds
 * what a snapshot holds, and so no secret.
 */
export function transcriptText({ threadId, transcript, toolCalls, interactions }: Told): string {
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

/** What was asked stands before the first that came later; the rest stays as it is. */
function inTime(said: readonly Piece[], asked: readonly Piece[]): readonly Piece[] {
  const left = [...asked];
  const pieces = said.flatMap((one) => {
    const before = left.findIndex(({ at }) => at >= one.at);
    return [...left.splice(0, before < 0 ? left.length : before), one];
  });
  return [...pieces, ...left];
}

/** A contract in short, and what was to be approved; what else is asked stands in the transcript. */
function askedText(asked: Asked): string | undefined {
  const { kind, title = '', status } = asked;
  const over = status === 'cancelled' ? ' (withdrawn)' : '';
  if (kind === 'intent_review_choice') {
    const essence = contractEssence(asked);
    return `## Contract: ${title}${over}${essence === undefined ? '' : `\n\n${fenced(essence.map(textOf).join('\n'))}`}`;
  }
  if (kind !== 'approval' && kind !== 'sandbox_approval') return undefined;
  return `## Asked: ${title}${over}\n\n${fenced(commandTree(asked).map(textOf).join('\n'))}`;
}

function withOutput(entry: Entry, printed: ReadonlyMap<string, string | undefined>): string {
  const output = entry.kind === 'tool_call' ? printed.get(entry.id) : undefined;
  return output === undefined ? entryText(entry) : `${entryText(entry)}\n\n${fenced(output)}`;
}

/** As code, which nothing in it ends. */
function fenced(text: string, language = ''): string {
  const fence = '`'.repeat(Math.max(2, longestOf(text)) + 1);
  return `${fence}${language}\n${text.replace(/\n$/, '')}\n${fence}`;
}

function code(text: string): string {
  const mark = '`'.repeat(longestOf(text) + 1);
  const blank = /^`|`$/.test(text) ? ' ' : '';
  return `${mark}${blank}${text.replaceAll('\n', ' ')}${blank}${mark}`;
}

/** How many backticks stand side by side in it, at most. */
function longestOf(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}

function entryText(entry: Entry): string {
  const { kind, title, content = '', status } = entry;
  switch (kind) {
    case 'user_message':
      return `## You\n\n${content}`;
    case 'assistant_message':
      return `## Model\n\n${content}`;
    case 'tool_call': {
      const { verb, what, came } = toolWords(title ?? 'tool', content, status);
      const how = status === 'completed' ? came : [status ?? 'unknown', came].filter(Boolean).join(', ');
      return `- ${code(`${verb} ${what}`.trim())}${how === '' ? '' : ` ${how}`}`;
    }
    case 'plan_summary':
      return `## Plan: ${title ?? ''}\n\n${content}`;
    case 'diff':
      return fenced(content, 'diff');
    case 'info_note':
      return outcomeText(entry) ?? `> ${title === undefined ? '' : `**${title}**: `}${quoted(content)}`;
  }
}

/** What a run came to, and where that can be looked up. */
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
