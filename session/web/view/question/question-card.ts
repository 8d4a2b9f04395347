/* The frame of every question card: focus, keys, refusals. */
import type { RefObject, VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isApproval, optionOfKey, patchsetOf } from '../../../screen/asked.ts';
import { type Given, mayWrite, type Page, refusalWords } from '../../page/page.ts';
import type { Question } from '../../seen.ts';
import { Files } from '../file-diff.ts';
import { h, text } from '../parts.ts';
import { ApprovalCard } from './approval-card.ts';
import type { CardGiven } from './card-parts.ts';
import { AskedCard, IntentCard, PlanCard } from './draft-cards.ts';

function Body({ question, ...given }: CardGiven): VNode {
  switch (question.kind) {
    case 'approval':
    case 'sandbox_approval':
      return h(ApprovalCard, { ...given, question });
    case 'intent_review_choice':
      return h(IntentCard, { ...given, question });
    case 'post_plan_choice':
      return h(PlanCard, { ...given, question });
    case 'request_user_input':
      return h(AskedCard, { ...given, question });
  }
}

const kindWords: Readonly<Record<Question['kind'], string>> = {
  approval: 'Approval',
  sandbox_approval: 'Approval: sandbox',
  intent_review_choice: 'Is this what you mean?',
  post_plan_choice: 'Plan',
  request_user_input: 'Question',
};

interface Asked {
  readonly page: Page;
  readonly question: Question;
  /** How many wait behind it. */
  readonly more: number;
  readonly place: RefObject<HTMLElement | null>;
  /** Opens a pane. */
  readonly show: (pane: string) => void;
  readonly isWide: boolean;
}

/** The open question. Only a key or a press moves the focus to it. */
export function QuestionCard({ page, question, more, place, show, isWide }: Asked): VNode {
  const { standing } = page.state;
  const takes = useRef<((option: string) => boolean) | undefined>(undefined);
  const digits = useRef<((digit: number) => boolean) | undefined>(undefined);
  const [isSending, setSending] = useState(false);
  const [isAway, putAway] = useState(false);
  const [refused, setRefused] = useState('');
  const card = useRef<HTMLElement>(null);
  useFocusBehind(card);
  const isDeaf = useDeaf(isApproval(question) && question.metadata.needsConfirmation);
  // A refusal message expires when a review changes.
  useEffect(() => setRefused(''), [page.state.seen?.reviews]);
  const isClosed = isSending || !mayWrite(standing) || page.state.link === 'offline';
  const isShut = isClosed || isDeaf;
  const answer = async (given: Given): Promise<void> => {
    if (isShut) return;
    setSending(true);
    setRefused('');
    const came = await page.acts.answer(question, given);
    setSending(false);
    if (!came.ok) setRefused(refusalWords(came));
  };
  const choose = (option: string): void => {
    if (isShut) return;
    if (takes.current?.(option) !== true) void answer({ selectedOption: option });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const { key, target, ctrlKey, metaKey, altKey, repeat } = event;
    // A key that is held down answers one question, and not the next one, too.
    if (repeat) return;
    // Letters choose only while the card or one of its buttons has the focus.
    if (ctrlKey || metaKey || altKey || (target as Element).matches('input, textarea, [role=radio]')) return;
    const option = optionOfKey(key, question.options);
    if (option === undefined && !/^[1-9]$/.test(key)) return;
    event.preventDefault();
    setRefused('');
    // What is not to be seen is not to be chosen.
    if (isAway) putAway(false);
    else if (digits.current?.(Number(key)) !== true && option !== undefined) choose(option);
  };
  const { title, prompt, kind } = question;
  const held = patchsetOf(question);
  const patchset = page.state.seen?.patchsets.find(({ id }) => id === held);
  return h(
    'section',
    {
      class: `card card-${kind}${isDeaf && !isClosed ? ' fresh' : ''}`,
      'aria-labelledby': 'question-title',
      tabIndex: -1,
      ref: (found: HTMLElement | null) => {
        card.current = found;
        place.current = found;
      },
      onKeyDown,
      onInput: () => setRefused(''),
    },
    h(
      'div.over',
      kindWords[kind],
      more > 0 && ` · ${more} more ${more === 1 ? 'waits' : 'wait'}`,
      h(
        'button.quiet',
        {
          'aria-expanded': !isAway,
          'aria-controls': 'question-body',
          onClick: () => putAway(!isAway),
        },
        isAway ? 'Show' : 'Put aside',
      ),
    ),
    h('h2', { id: 'question-title' }, text(title ?? prompt ?? 'A question')),
    refused !== '' && h('p.refused.bad', { role: 'alert' }, text(refused)),
    !mayWrite(standing) && standing !== 'closed' && h(Watching, { page }),
    h(
      'div',
      { id: 'question-body', hidden: isAway },
      patchset !== undefined &&
        (isWide
          ? h('button.look', { onClick: () => show('diff') }, 'Look at the change')
          : h(
              'details.held',
              { open: true },
              h('summary', 'The change'),
              h(Files, { page, patchset, mayReview: true }),
            )),
      h(Body, { page, question, isShut, answer: (given) => void answer(given), choose, takes, digits }),
    ),
  );
}

/** As long as what was meant for something else may still come: a second click, a key of the question before. */
const deafForMs = 350;

/** Whether a question appeared, or changed, too recently to be read. */
function useDeaf(asked: unknown): boolean {
  const [heard, hear] = useState<{ readonly asked: unknown } | undefined>(undefined);
  useEffect(() => {
    const timer = setTimeout(() => hear({ asked }), deafForMs);
    return () => clearTimeout(timer);
  }, [asked]);
  return heard === undefined || heard.asked !== asked;
}

function Watching({ page: { state, acts } }: { readonly page: Page }): VNode {
  const words = {
    terminal: 'The terminal has control: it is answered there, or here once you have taken it.',
    other: 'Another client has control and answers this.',
  }[state.standing as string];
  return h(
    'p.watching',
    words,
    ' ',
    state.standing === 'terminal' && h('button', { onClick: () => void acts.take() }, 'Take control'),
  );
}

/** If the focus was in a removed card, moves it to the next question, else to the element that handles `q` and `/`. */
function useFocusBehind(card: RefObject<HTMLElement | null>): void {
  // In the layout: behind it the card is gone, and with it the focus that was in it.
  useLayoutEffect(() => {
    const own = card.current;
    return () => {
      if (own?.contains(document.activeElement) !== true) return;
      requestAnimationFrame(() => {
        const next = document.querySelector<HTMLElement>('section.card') ?? document.getElementById('dock');
        if (document.activeElement === document.body) next?.focus();
      });
    };
  }, [card]);
}
