import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Entry } from '../seen.ts';
import { timeWords } from '../words/time-words.ts';
import { DiffEntry } from './diff-entry.ts';
import { h } from './h.ts';
import { noteBody, noteHead } from './note-view.ts';
import { Prose } from './prose.ts';
import { text } from './text.ts';
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
