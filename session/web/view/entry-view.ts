/* An entry of the transcript on the page. */
import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { commandsOf, readGate, readOutcome } from '../../screen/work-words.ts';
import type { Entry } from '../seen.ts';
import { Command, FailedList, h, oneLine, sentence, text, timeWords, toolLine } from './parts.ts';
import { Prose } from './prose.ts';

const who: Readonly<Record<Entry['kind'], string>> = {
  user_message: 'You',
  assistant_message: 'Model',
  tool_call: 'Tool',
  plan_summary: 'Plan',
  diff: 'Diff',
  info_note: 'Note',
};

/** One entry of the transcript, memoized. */
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
        'p.head',
        ...(isLine
          ? toolLine({ toolName: title ?? who[kind], told: content, status: status ?? '' })
          : isNote
            ? noteHead(entry)
            : [
                h('span.by', who[kind]),
                title !== undefined && h('span.title', text(title)),
                status !== undefined && h(`span.tag.tag-${status}`, status),
              ]),
        h('time', { dateTime: createdAt }, timeWords(createdAt)),
      ),
      note,
      !isLine &&
        !isNote &&
        (kind === 'user_message'
          ? h('p.said', text(content))
          : kind === 'diff'
            ? h(DiffEntry, { content })
            : h(Prose, { source: content, isOpen: streaming })),
    );
  }, [entry]);
}

const atOnce = 40;

const kinds: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed', '@': 'hunk' };

function DiffEntry({ content }: { readonly content: string }): VNode {
  const lines = content.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return h(
    'details.told-diff',
    { open: lines.length <= atOnce },
    h('summary', lines.length === 1 ? '1 line' : `${lines.length} lines`),
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

function noteHead(entry: Entry): readonly (VNode | false)[] {
  const gate = readGate(entry);
  if (gate !== undefined)
    return [
      h('span.by', text(`Gate ${gate.stage}`)),
      h(`span.tag.tag-${gate.status}`, text(gate.status)),
      gate.status !== 'skipped' && h('span.soft', text(gate.words)),
    ];
  const { title = 'Note' } = entry;
  return [h('span', { class: `by ${toneOf(title)}` }, text(title))];
}

function noteBody(entry: Entry): VNode | false {
  const gate = readGate(entry);
  if (gate !== undefined) return gate.failed.length > 0 && h(FailedList, { failed: gate.failed });
  const outcome = readOutcome(entry);
  if (outcome === undefined) return h(Prose, { source: entry.content ?? '', isOpen: entry.streaming });
  return h(
    'div.told-outcome',
    h('p', sentence(outcome.words)),
    outcome.commit !== undefined && h('p', 'commit ', h('code', text(outcome.commit))),
    commandsOf(outcome).map(([command, words]) => h(Command, { key: command, words, command })),
  );
}

const goodTitles: readonly string[] = ['Decision.Commit', 'Verified'];
const badTitles: readonly string[] = ['Failed', 'Not verified', 'No sandbox'];

function toneOf(title: string): string {
  if (goodTitles.includes(title)) return 'good';
  return badTitles.includes(title) || title.startsWith('Decision.') ? 'bad' : '';
}
