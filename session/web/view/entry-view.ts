import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Entry } from '../seen.ts';
import { timeWords } from '../words/time-words.ts';
import { DiffEntry } from './diff-entry.ts';
import { h } from './h.ts';
import { Prose } from './prose.ts';
import { text } from './text.ts';

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
    const head = kind === 'info_note' ? (title ?? who[kind]) : who[kind];
    return h(
      'article',
      { class: `entry entry-${kind}${streaming ? ' streaming' : ''}`, 'aria-busy': streaming },
      h(
        'p',
        { class: 'head' },
        h('span', { class: 'by' }, text(head)),
        kind !== 'info_note' && title !== undefined && h('span', { class: 'title' }, text(title)),
        status !== undefined && h('span', { class: `tag tag-${status}` }, status),
        isLine && h('code', null, text(content)),
        h('time', { dateTime: createdAt }, timeWords(createdAt)),
      ),
      !isLine &&
        (kind === 'user_message'
          ? h('p', { class: 'said' }, text(content))
          : kind === 'diff'
            ? h(DiffEntry, { content })
            : h(Prose, { source: content, isOpen: streaming })),
    );
  }, [entry]);
}
