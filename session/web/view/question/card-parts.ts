/* Elements that several question cards use. */
import type { VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { letterOf } from '../../../screen/asked.ts';
import type { Tone } from '../../../screen/line.ts';
import { notesOf } from '../../page/open-page.ts';
import type { Given, Page } from '../../page/page.ts';
import type { Question } from '../../seen.ts';
import { h, oneLine, sentence, text } from '../parts.ts';

export interface CardGiven<Asked = Question> {
  readonly page: Page;
  readonly question: Asked;
  readonly isShut: boolean;
  readonly answer: (given: Given) => void;
  readonly choose: (option: string) => void;
  /** Called for an option first; true if the card handled it. */
  readonly takes: { current: ((option: string) => boolean) | undefined };
  /** Called for a digit first; true if the card handled it. */
  readonly digits: { current: ((digit: number) => boolean) | undefined };
}

const atAGlance = 4;

interface ChangesGiven {
  readonly label: string;
  readonly changes: readonly string[];
  readonly tone?: Tone;
  readonly isWhole?: boolean;
}

/** A list under its label; more than four entries are collapsed, unless `isWhole`. */
export function Changes({ label, changes, tone = 'dim', isWhole = false }: ChangesGiven): VNode | null {
  if (changes.length === 0) return null;
  const lines = h(
    'ul',
    { 'aria-label': label },
    changes.map((one) => h('li', { key: one }, sentence(one))),
  );
  if (changes.length > atAGlance && !isWhole)
    return h('details.changes', h('summary.label', `${label}: ${changes.length} values`), lines);
  return h(`div.changes.changes-${tone}`, h(`p.label.tone-${tone}`, { 'aria-hidden': 'true' }, label), lines);
}

/** A ref that focuses a field once. */
export function focusOnce(field: HTMLElement | null): void {
  field?.focus();
}

/**
 * Moves the focus from a field back to its card, so that the card's keys work. The text stays, and Escape in the
 * field does not stop the turn.
 */
export function leaveOn(...keys: readonly string[]): (event: KeyboardEvent) => void {
  return (event) => {
    if (!keys.includes(event.key) || event.isComposing) return;
    event.preventDefault();
    event.stopPropagation();
    (event.currentTarget as Element).closest<HTMLElement>('.card')?.focus();
  };
}

interface NoteGiven {
  readonly page: Page;
  readonly question: string;
  readonly isShut: boolean;
  readonly label: string;
  readonly send: (note: string) => void;
}

const leave = leaveOn('Escape');

/** A note that is kept until the session accepted it. */
export function NoteField({ page: { drafts }, question, isShut, label, send }: NoteGiven): VNode {
  const key = `${notesOf(question)}all`;
  const [note, setNote] = useState(() => drafts.get(key));
  const field = useRef<HTMLTextAreaElement>(null);
  // In the layout effect: the next key must already go to the field.
  useLayoutEffect(() => field.current?.focus(), []);
  const go = (): void => {
    if (note.trim() !== '') send(note.trim());
  };
  return h(
    'div.note',
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
    h('button.main', { disabled: isShut || note.trim() === '', onClick: go }, 'Send the note'),
  );
}

interface Option {
  readonly id: string;
  readonly label: string;
  readonly description?: string;
}

interface OptionsGiven {
  readonly options: readonly Option[];
  readonly isShut: boolean;
  readonly choose: (option: string) => void;
  readonly isCovered?: true;
  readonly main?: string;
  readonly without?: readonly string[];
}

export function OptionButtons({
  options,
  isShut,
  choose,
  isCovered,
  main,
  without = [],
}: OptionsGiven): VNode {
  const buttons = options.map((option, at) => {
    const { id, label, description } = option;
    if (without.includes(id)) return null;
    const key = letterOf(id) ?? `${at + 1}`;
    return h(
      'li',
      { key: id },
      h(
        'button',
        {
          class: id === main ? 'main' : '',
          disabled: isShut,
          title: isCovered || description === undefined ? undefined : oneLine(description),
          'aria-keyshortcuts': `${at + 1} ${key === key.toLowerCase() ? key : `Shift+${key}`}`,
          onClick: () => choose(id),
        },
        h('kbd', { 'aria-hidden': 'true' }, key),
        text(label),
      ),
      isCovered && description !== undefined && h('span.covers', text(description)),
    );
  });
  return h('ul', { class: isCovered ? 'options covered' : 'options' }, buttons);
}
