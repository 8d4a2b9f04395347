import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { readGate } from '../../screen/words/gates-in.ts';
import { commandsOf, readOutcome } from '../../screen/words/outcome-of.ts';
import type { Entry } from '../seen.ts';
import { timeWords } from '../words/time-words.ts';
import { Command } from './command.ts';
import { FailedList } from './failed-list.ts';
import { h } from './h.ts';
import { Prose } from './prose.ts';
import { oneLine, sentence, text } from './text.ts';
import { toolLine } from './tool-line.ts';

const who: Readonly<Record<Entry['kind'], string>> = {
  user_message: 'You',
  assistant_message: 'Model',
  tool_call: 'Tool',
  plan_summary: 'Plan',
  diff: 'Diff',
  info_note: 'Note',
};

/** One entry of the transcript; drawn anew only where it is another one. */
export function EntryView({ entry }: { readonly entry: Entry }): VNode {
  return useMemo(() => {
    const { kind, title, content = '', status, streaming, createdAt } = entry;
    const isLine = kind === 'tool_call';
    const isNote = kind === 'info_note';
    const note = isNote && noteBody(entry);
    const isShort = isLine || (isNote && note === false);
    return h(
      'article',
      {
        class: `entry entry-${kind}${isShort ? ' entry-line' : ''}${streaming ? ' streaming' : ''}`,
        'aria-busy': streaming,
      },
      h(
        'p',
        { class: 'head' },
        ...(isLine
          ? toolLine({ toolName: title ?? who[kind], told: content, status: status ?? '' })
          : isNote
            ? noteHead(entry)
            : [
                h('span', { class: 'by' }, who[kind]),
                title !== undefined && h('span', { class: 'title' }, text(title)),
                status !== undefined && h('span', { class: `tag tag-${status}` }, status),
              ]),
        h('time', { dateTime: createdAt }, timeWords(createdAt)),
      ),
      note,
      !isLine &&
        !isNote &&
        (kind === 'user_message'
          ? h('p', { class: 'said' }, text(content))
          : kind === 'diff'
            ? h(DiffEntry, { content })
            : h(Prose, { source: content, isOpen: streaming })),
    );
  }, [entry]);
}

/** Lines that are seen before anybody asks for more. */
const atOnce = 40;

const kinds: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed', '@': 'hunk' };

/** What a run changed, as its diff stands in the transcript; a long one opens where it is asked for. */
function DiffEntry({ content }: { readonly content: string }): VNode {
  const lines = content.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return h(
    'details',
    { class: 'told-diff', open: lines.length <= atOnce },
    h('summary', null, lines.length === 1 ? '1 line' : `${lines.length} lines`),
    h(
      'pre',
      { tabIndex: 0, 'aria-label': 'What was changed' },
      lines.map((line, at) =>
        h('span', { key: at, class: `line line-${kindOf(line)}` }, oneLine(line), '\n'),
      ),
    ),
  );
}

function kindOf(line: string): string {
  if (line.startsWith('--- ') || line.startsWith('+++ ')) return 'hunk';
  return kinds[line[0] ?? ''] ?? 'same';
}

/** How a note is headed: a gate in one line with what it came to, a decision and a failure in their colours. */
function noteHead(entry: Entry): readonly (VNode | false)[] {
  const gate = readGate(entry);
  if (gate !== undefined)
    return [
      h('span', { class: 'by' }, text(`Gate ${gate.stage}`)),
      h('span', { class: `tag tag-${gate.status}` }, text(gate.status)),
      gate.status !== 'skipped' && h('span', { class: 'soft' }, text(gate.words)),
    ];
  const { title = 'Note' } = entry;
  return [h('span', { class: `by ${toneOf(title)}` }, text(title))];
}

/** What a note says below its head; nothing where that says it all. */
function noteBody(entry: Entry): VNode | false {
  const gate = readGate(entry);
  if (gate !== undefined) return gate.failed.length > 0 && h(FailedList, { failed: gate.failed });
  const outcome = readOutcome(entry);
  if (outcome === undefined) return h(Prose, { source: entry.content ?? '', isOpen: entry.streaming });
  return h(
    'div',
    { class: 'told-outcome' },
    h('p', null, sentence(outcome.words)),
    outcome.commit !== undefined && h('p', null, 'commit ', h('code', null, text(outcome.commit))),
    commandsOf(outcome).map(([command, words]) => h(Command, { key: command, words, command })),
  );
}

const goodTitles: readonly string[] = ['Decision.Commit', 'Verified'];
const badTitles: readonly string[] = ['Failed', 'Not verified', 'No sandbox'];

function toneOf(title: string): string {
  if (goodTitles.includes(title)) return 'good';
  return badTitles.includes(title) || title.startsWith('Decision.') ? 'bad' : '';
}
