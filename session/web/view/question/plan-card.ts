/* The card of a plan, with notes on its lines. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { grantsWords, planCostWords, stepCosts } from '../../../screen/usage-words.ts';
import { notesOf } from '../../page/open-page.ts';
import type { Plan, QuestionOf } from '../../seen.ts';
import { h, text } from '../parts.ts';
import { type CardGiven, Changes, focusOnce, leaveOn, NoteField, OptionButtons } from './card-parts.ts';

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
