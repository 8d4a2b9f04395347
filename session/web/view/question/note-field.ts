import type { VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { notesOf } from '../../page/open-page.ts';
import type { Page } from '../../page/page.ts';
import { h } from '../h.ts';
import { leaveOn } from './leave-field.ts';

interface Given {
  readonly page: Page;
  readonly question: string;
  readonly isShut: boolean;
  readonly label: string;
  /** A note with words. */
  readonly send: (note: string) => void;
}

const leave = leaveOn('Escape');

/** What shall be different, in a person's words; kept until it was taken. */
export function NoteField({ page: { drafts }, question, isShut, label, send }: Given): VNode {
  const key = `${notesOf(question)}all`;
  const [note, setNote] = useState(() => drafts.get(key));
  const field = useRef<HTMLTextAreaElement>(null);
  // It was asked for by a key or a press, and the next letter is for it: in the layout, before that letter can answer.
  useLayoutEffect(() => field.current?.focus(), []);
  const go = (): void => {
    if (note.trim() !== '') send(note.trim());
  };
  return h(
    'div',
    { class: 'note' },
    h('label', { for: 'note' }, label),
    h('textarea', {
      id: 'note',
      ref: field,
      rows: 2,
      value: note,
      autocomplete: 'off',
      onInput: ({ currentTarget }: Event) => {
        const next = (currentTarget as HTMLTextAreaElement).value;
        setNote(next);
        drafts.set(key, next);
      },
      onKeyDown: (event: KeyboardEvent) => {
        leave(event);
        if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
        event.preventDefault();
        go();
      },
    }),
    h(
      'button',
      { type: 'button', class: 'main', disabled: isShut || note.trim() === '', onClick: go },
      'Send the note',
    ),
  );
}
