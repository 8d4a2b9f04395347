/* The cards of a drafted spec and of a plan, with notes on the lines of the plan. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { AskedQuestion } from '../../../screen/asked.ts';
import { documentOf, essenceParts } from '../../../screen/question-body.ts';
import { grantsWords, planCostWords, stepCosts } from '../../../screen/words.ts';
import { notesOf } from '../../page/open-page.ts';
import type { Plan, QuestionOf } from '../../seen.ts';
import { fact, h, sentence, text } from '../parts.ts';
import { Prose } from '../prose.ts';
import { type CardGiven, Changes, focusOnce, leaveOn, NoteField, OptionButtons } from './card-parts.ts';

/** A drafted spec, shown before any work begins. */
export function IntentCard({
  page,
  question,
  isShut,
  answer,
  choose,
  takes,
}: CardGiven<QuestionOf<'intent_review_choice'>>): VNode {
  const { metadata, options } = question;
  const parts = essenceParts(metadata);
  const whole = h(Prose, { source: documentOf(question) });
  const [isModifying, modify] = useState(false);
  takes.current = (option) => {
    if (option === 'modify') modify(true);
    return option === 'modify';
  };
  return h(
    'div.intent',
    h(
      'div.read',
      { role: 'group', 'aria-label': 'The spec' },
      parts === undefined
        ? whole
        : [...parts.map(essenceView), h('details', h('summary', 'The whole spec'), whole)],
    ),
    isModifying &&
      h(NoteField, {
        page,
        question: question.id,
        isShut,
        label: 'What shall be different?',
        send: (note) => answer({ selectedOption: 'modify', note }),
      }),
    h('div.foot', h(OptionButtons, { options, isShut, choose, main: 'confirm' })),
  );
}

function essenceView({ is, name, words, tone }: NonNullable<ReturnType<typeof essenceParts>>[number]): VNode {
  if (is === 'text') return h('p', text(words.join('')));
  if (is === 'fact')
    return h('dl.table', fact(name, h('span', { class: `tone-${tone}` }, text(words.join('')))));
  return h(Changes, { label: name, changes: words, isWhole: is === 'list' || tone === 'bad', tone });
}

/* The card of questions of the model. */

const leave = leaveOn('Escape');

/** Questions of the model. A secret is masked, not stored, and cleared when it is sent. */
export function AskedCard({
  page: { drafts },
  question,
  isShut,
  answer,
  takes,
  digits,
}: CardGiven<QuestionOf<'request_user_input'>>): VNode {
  const { questions = [] } = question.metadata;
  const keyOf = (id: string): string => `${notesOf(question.id)}answer ${id}`;
  const [answers, setAnswers] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(questions.map(({ id, secret }) => [id, secret ? '' : drafts.get(keyOf(id))])),
  );
  const set = ({ id, secret }: AskedQuestion, given: string): void => {
    setAnswers({ ...answers, [id]: given });
    if (!secret) drafts.set(keyOf(id), given);
  };
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
      Object.fromEntries(questions.map(({ id, secret }) => [id, secret ? '' : (answers[id] ?? '')])),
    );
  };
  return h(
    'form.asked',
    { onSubmit: send, autocomplete: 'off' },
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
    h('div.foot', h('button.main', { type: 'submit', disabled: isShut || !isWhole }, 'Answer')),
  );
}

interface OneGiven {
  readonly one: AskedQuestion;
  readonly value: string;
  readonly set: (given: string) => void;
  readonly isShut: boolean;
  readonly isHead: boolean;
  readonly isOnly: boolean;
}

function One({
  one: { id, prompt, kind, options = [], secret },
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
          h('span', text(option.label), option.description && h('span.covers', sentence(option.description))),
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
    'div.note',
    h(
      'label',
      { for: field.id },
      h('span', { class: isHead ? 'heard' : '' }, text(prompt)),
      secret &&
        h('span.soft', isHead ? 'secret: kept and shown nowhere' : ' · secret: kept and shown nowhere'),
    ),
    secret ? h('input', { ...field, type: 'password' }) : h('textarea', { ...field, rows: 2 }),
  );
}

const maxNote = 2000;
const leaveNote = leaveOn('Enter', 'Escape');

/** A plan to be read before it is executed: a note on any line, and whether its commands have a network. */
export function PlanCard({
  page,
  question,
  isShut,
  answer,
  choose,
  takes,
}: CardGiven<QuestionOf<'post_plan_choice'>>): VNode {
  const { metadata, options, description = '', prompt = '' } = question;
  const { seen } = page.state;
  const plan = seen?.plans.find(({ id }) => id === metadata.planId);
  const notes = useNotes(page.drafts, question.id, plan);
  const go = (selectedOption: string, note = ''): void => {
    const answers = notes.given();
    answer({
      selectedOption,
      ...(note === '' ? {} : { note }),
      ...(Object.keys(answers).length === 0 ? {} : { answers }),
    });
  };
  const [isModifying, modify] = useState(false);
  takes.current = (option) => {
    if (option === 'execute') go(option);
    else if (option !== 'modify') return false;
    else if (Object.keys(notes.given()).length > 0) go(option);
    else modify(true);
    return true;
  };
  const { changes = [], notices = [], unadvised, repair } = metadata;
  const isOpen = metadata.networkAccess === 'allow';
  const costs = stepCosts(plan ?? {});
  const cost = planCostWords(metadata);
  const granted = grantsWords(metadata);
  return h(
    'div.plan',
    h('p.facts', text(prompt), repair && ` Repaired ${repair.attempt} of ${repair.limit} times by itself.`),
    cost !== '' && h('p.facts.cost', cost),
    granted !== '' && h('p.warn', `Execute grants the goal ${granted}.`),
    h(
      'div.read',
      { role: 'group', 'aria-label': 'The plan' },
      h('p.soft', text(description)),
      h(Changes, { label: 'What differs from the plan before', changes }),
      h(Changes, { label: 'To know', changes: notices }),
      unadvised !== undefined && h('p.warn', text(unadvised)),
      h(
        'ol.steps',
        plan?.steps.map((step) =>
          h(
            'li',
            { key: step.id },
            h('span.step', text(step.step)),
            costs.has(step.id) && h('span.cost.soft', costs.get(step.id)),
            h(
              'button.quiet',
              {
                'aria-expanded': notes.isOpen(step.id),
                onClick: () => notes.open(step.id),
              },
              'Note',
            ),
            notes.isOpen(step.id) &&
              h('input', {
                type: 'text',
                ref: notes.isAskedFor(step.id) ? focusOnce : undefined,
                maxLength: maxNote,
                value: notes.of(step.id),
                autocomplete: 'off',
                'aria-label': `Note on “${step.step}”`,
                placeholder: 'a note on this line: goes with Execute and with Modify',
                onInput: ({ currentTarget }: Event) =>
                  notes.set(step.id, (currentTarget as HTMLInputElement).value),
                onKeyDown: leaveNote,
              }),
          ),
        ),
      ),
    ),
    isModifying &&
      h(NoteField, {
        page,
        question: question.id,
        isShut,
        label: 'What shall be different?',
        send: (note) => go('modify', note),
      }),
    h(
      'div.foot.row',
      h(
        'button.switch',
        {
          role: 'switch',
          'aria-checked': isOpen,
          disabled: isShut,
          'aria-keyshortcuts': 'w',
          onClick: () => choose('network'),
        },
        h('kbd', { 'aria-hidden': 'true' }, 'w'),
        `Network: ${isOpen ? 'Allow' : 'Deny'}`,
      ),
      h(OptionButtons, { options, isShut, choose, main: 'execute', without: ['network'] }),
    ),
  );
}

/** Notes on the lines of a plan, kept until the session accepted them. */
function useNotes(
  drafts: CardGiven['page']['drafts'],
  question: string,
  plan: Plan | undefined,
): {
  readonly of: (line: string) => string;
  readonly set: (line: string, note: string) => void;
  readonly isOpen: (line: string) => boolean;
  readonly isAskedFor: (line: string) => boolean;
  readonly open: (line: string) => void;
  readonly given: () => Readonly<Record<string, readonly string[]>>;
} {
  const keyOf = (line: string): string => `${notesOf(question)}line ${line}`;
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const [, redraw] = useState(0);
  const of = (line: string): string => drafts.get(keyOf(line));
  return {
    of,
    set(line, note) {
      drafts.set(keyOf(line), note);
      redraw((count) => count + 1);
    },
    isOpen: (line) => opened.has(line) || of(line) !== '',
    isAskedFor: (line) => opened.has(line),
    open: (line) => setOpened(new Set(opened).add(line)),
    given: () =>
      Object.fromEntries(
        (plan?.steps ?? []).flatMap(({ id }) => (of(id).trim() === '' ? [] : [[id, [of(id).trim()]]])),
      ),
  };
}
