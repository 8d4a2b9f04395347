/* Renders an entry of the transcript for the scrollback. */
import { patchLines } from '../screen/diff.ts';
import { type Line, type Span, span, type Tone, visible, visibleLines } from '../screen/line.ts';
import { markdownLines } from '../screen/markdown-lines.ts';
import {
  attachmentMarks,
  commandsOf,
  type Gate,
  type Outcome,
  readGate,
  readOutcome,
  toolWords,
} from '../screen/words.ts';
import type { Snapshot } from '../state/snapshot.ts';

/** One entry of a transcript as a snapshot has it. */
export type Entry = Snapshot['transcript'][number];

const blank: Line = [];

/** Lines of what a command printed that are printed again, from its beginning and from its end. */
const mostPrinted = 500;

/** Renders a finished entry for the scrollback. */
export function entryLines(
  entry: Entry,
  columns: number,
  call?: Snapshot['toolCalls'][number],
): readonly Line[] {
  const { kind, content = '', title } = entry;
  switch (kind) {
    case 'user_message':
      return [
        blank,
        ...spoken(content),
        ...attachmentMarks(entry).map((mark): Line => [span(`  ${visible(mark)}`, 'dim')]),
      ];
    case 'assistant_message':
      return [blank, ...replyHead(entry), ...markdownLines(content, { columns })];
    case 'tool_call':
      return [toolLine(entry), ...(call?.output === undefined ? [] : outputLines(call.output))];
    case 'plan_summary':
      return [
        blank,
        [span('Plan: ', 'heading'), span(visible(title ?? ''), 'strong')],
        ...planLines(content, title),
      ];
    case 'diff':
      return [
        blank,
        ...(title === undefined ? [] : [[span(visible(title), 'strong')]]),
        ...diffLines(patchLines(content, { columns })),
      ];
    case 'info_note':
      return noteLines(entry);
  }
}

const mostDiff = 60;

function diffLines(lines: readonly Line[]): readonly Line[] {
  const left = lines.length - mostDiff;
  if (left <= 0) return lines;
  return [...lines.slice(0, mostDiff), [span(`  and ${left} more lines: /diff has them`, 'dim')]];
}

function spoken(text: string): readonly Line[] {
  return text
    .split('\n')
    .map((line, at): Line => [span(at === 0 ? '> ' : '  ', 'accent'), span(visible(line), 'strong')]);
}

/** Names the task whose model replies, if its plan has several. */
export function replyHead({ task }: Entry): readonly Line[] {
  return task === undefined ? [] : [[span(`${visible(task)}:`, 'accent')]];
}

/** Names the task of a tool call, if its plan has several. */
export function taskSpans(task: string | undefined): readonly Span[] {
  return task === undefined ? [] : [span(`${visible(task)} `, 'accent')];
}

const toolSigns: Readonly<Record<string, readonly [string, Tone]>> = {
  completed: ['✓', 'good'],
  failed: ['✗', 'bad'],
  unknown: ['?', 'warn'],
};

function toolLine(entry: Entry): Line {
  const { title = 'tool', content = '', status = '', task } = entry;
  const { verb, what, came, isBad } = toolWords(title, content, status);
  // A completed command with a failing exit code is shown as failed.
  const [sign, tone] = toolSigns[status === 'completed' && isBad ? 'failed' : status] ?? ['·', 'dim'];
  return [
    span(`${sign} `, tone),
    ...taskSpans(task),
    span(visible(verb), 'code'),
    ...(what === '' ? [] : [span(` ${visible(what)}`)]),
    ...(came === '' ? [] : [span(`  ${visible(came)}`, isBad ? 'bad' : 'dim')]),
    ...(status === 'unknown' ? [span(` ${status}`, tone)] : []),
  ];
}

function outputLines(output: string): readonly Line[] {
  const all = visibleLines(output.replace(/[\r\n]+$/, ''));
  const left = all.length - 2 * mostPrinted;
  const lines = (some: readonly string[]): readonly Line[] => some.map((line): Line => [span(`  ${line}`)]);
  if (left <= 0) return lines(all);
  const cut: Line = [span(`  … ${left} lines`, 'dim')];
  return [...lines(all.slice(0, mostPrinted)), cut, ...lines(all.slice(-mostPrinted))];
}

function planLines(content: string, title: string | undefined): readonly Line[] {
  const shown = content.startsWith(`${title}. `) ? content.slice(`${title}. `.length) : content;
  return shown.split('\n').map((line): Line => [span(`  ${visible(line)}`)]);
}

const noteTones: Readonly<Record<string, Tone>> = {
  Failed: 'bad',
  'No sandbox': 'bad',
  Repair: 'warn',
  Verified: 'good',
  'Not verified': 'bad',
};

function noteLines(entry: Entry): readonly Line[] {
  const gate = readGate(entry);
  if (gate !== undefined) return gateLines(gate);
  const outcome = readOutcome(entry);
  if (outcome !== undefined) return [blank, ...outcomeLines(outcome)];
  const { title, content = '' } = entry;
  const tone = noteTones[title ?? ''] ?? 'dim';
  const [first = '', ...rest] = content.split('\n').map(visible);
  const head: Line = [span(title === undefined ? '· ' : `${visible(title)}: `, tone), span(first, 'plain')];
  return [head, ...rest.map((line): Line => [span(`  ${line}`)])];
}

const gateSigns: Readonly<Record<string, readonly [string, Tone]>> = {
  passed: ['✓', 'good'],
  failed: ['✗', 'bad'],
};

function gateLines({ stage, status, words, failed }: Gate): readonly Line[] {
  const [sign, tone] = gateSigns[status] ?? ['·', 'dim'];
  return [
    [span(`${sign} gate ${visible(stage)} ${visible(status)}`, tone), span(`  ${visible(words)}`, 'dim')],
    ...failed.map((one): Line => [span('  ✗ ', 'bad'), span(visible(one))]),
  ];
}

function outcomeLines(outcome: Outcome): readonly Line[] {
  const { title, words, isCommit, isRefused, commit } = outcome;
  const [sign, tone]: readonly [string, Tone] = isCommit
    ? ['✓', 'good']
    : isRefused
      ? ['✗', 'bad']
      : ['…', 'warn'];
  return [
    [span(`${sign} ${visible(title)}: `, tone), span(visible(words))],
    ...(commit === undefined ? [] : [[span('  commit ', 'dim'), span(commit, 'code')]]),
    ...commandsOf(outcome).map(([line]): Line => [span(`  ${line}`, 'code')]),
  ];
}
