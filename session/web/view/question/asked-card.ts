import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { notesOf } from '../../page/open-page.ts';
import { h } from '../h.ts';
import { Prose } from '../prose.ts';
import { sentence, text } from '../text.ts';
import type { CardGiven } from './card-given.ts';
import { leaveOn } from './leave-field.ts';

const leave = leaveOn('Escape');

interface AskedQuestion {
  readonly id: string;
  readonly prompt: string;
  readonly kind: 'single' | 'text';
  readonly options?: readonly {
    readonly id: string;
    readonly label: string;
    readonly description?: string;
  }[];
  readonly secret?: boolean;
}

/** Questions with answers of their own. What is secret is shown to nobody, kept nowhere, and gone once it was sent. */
export function AskedCard({ page: { drafts }, question, isShut, answer, takes, digits }: CardGiven): VNode {
  const questions = (question.metadata.questions ?? []) as readonly AskedQuestion[];
  const keyOf = (id: string): string => `${notesOf(question.id)}answer ${id}`;
  const [answers, setAnswers] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(questions.map(({ id, secret }) => [id, secret === true ? '' : drafts.get(keyOf(id))])),
  );
  const set = ({ id, secret }: AskedQuestion, given: string): void => {
    setAnswers({ ...answers, [id]: given });
    if (secret !== true) drafts.set(keyOf(id), given);
  };
  // Its one option is what its form sends.
  takes.current = () => true;
  const [only] = questions.length === 1 ? questions : [];
  digits.current = (digit) => {
    const chosen = only?.kind === 'single' ? only.options?.[digit - 1] : undefined;
    if (only === undefined || chosen === undefined) return false;
    set(only, chosen.id);
    return true;
  };
  const isHead = (prompt: string): boolean => prompt === (question.title ?? question.prompt);
  const isWhole = questions.every(({ id }) => (answers[id] ?? '') !== '');
  const send = (event: Event): void => {
    event.preventDefault();
    if (!isWhole || isShut) return;
    answer({
      selectedOption: 'answer',
      answers: Object.fromEntries(questions.map(({ id }) => [id, [answers[id] ?? '']])),
    });
    setAnswers(
      Object.fromEntries(questions.map(({ id, secret }) => [id, secret === true ? '' : (answers[id] ?? '')])),
    );
  };
  return h(
    'form',
    { class: 'asked', onSubmit: send, autocomplete: 'off' },
    question.description !== undefined && h(Prose, { source: question.description }),
    questions.map((one) =>
      h(One, {
        key: one.id,
        one,
        value: answers[one.id] ?? '',
        set: (given) => set(one, given),
        isShut,
        isHead: isHead(one.prompt),
        isOnly: only !== undefined,
      }),
    ),
    h(
      'div',
      { class: 'foot' },
      h('button', { type: 'submit', class: 'main', disabled: isShut || !isWhole }, 'Answer'),
    ),
  );
}

interface OneGiven {
  readonly one: AskedQuestion;
  readonly value: string;
  readonly set: (given: string) => void;
  readonly isShut: boolean;
  /** The card is headed by it: it is not said twice. */
  readonly isHead: boolean;
  /** Its options have digits. */
  readonly isOnly: boolean;
}

function One({
  one: { id, prompt, kind, options = [], secret = false },
  value,
  set,
  isShut,
  isHead,
  isOnly,
}: OneGiven): VNode {
  if (kind === 'single')
    return h(
      'fieldset',
      { disabled: isShut },
      h('legend', { class: isHead ? 'heard' : '' }, text(prompt)),
      options.map((option, at) =>
        h(
          'label',
          { key: option.id, class: 'choice' },
          h('input', {
            type: 'radio',
            name: `answer-${id}`,
            value: option.id,
            checked: value === option.id,
            onChange: () => set(option.id),
          }),
          isOnly && at < 9 && h('kbd', { 'aria-hidden': 'true' }, `${at + 1}`),
          h(
            'span',
            null,
            text(option.label),
            option.description !== undefined && h('span', { class: 'covers' }, sentence(option.description)),
          ),
        ),
      ),
    );
  const field = {
    id: `answer-${id}`,
    value,
    disabled: isShut,
    autocomplete: secret ? 'new-password' : 'off',
    onInput: ({ currentTarget }: Event) => set((currentTarget as HTMLInputElement).value),
    onKeyDown: (event: KeyboardEvent) => {
      leave(event);
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      (event.currentTarget as HTMLInputElement).form?.requestSubmit();
    },
  };
  return h(
    'div',
    { class: 'note' },
    h(
      'label',
      { for: field.id },
      h('span', { class: isHead ? 'heard' : '' }, text(prompt)),
      secret &&
        h(
          'span',
          { class: 'soft' },
          isHead ? 'secret: kept and shown nowhere' : ' · secret: kept and shown nowhere',
        ),
    ),
    secret ? h('input', { ...field, type: 'password' }) : h('textarea', { ...field, rows: 2 }),
  );
}
