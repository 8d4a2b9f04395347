import type { ComponentType, RefObject, VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { readHunks } from '../../../screen/hunks.ts';
import { changeAsked } from '../../../screen/question/change-asked.ts';
import { optionOfKey } from '../../../screen/question/option-letters.ts';
import type { Given, Page } from '../../page/page.ts';
import type { Question } from '../../seen.ts';
import { fileOf, readApproval, type Segment, verdictWords } from '../../words/read-approval.ts';
import { refusalWords } from '../../words/refusal-words.ts';
import { mayWrite } from '../../words/standing.ts';
import { h } from '../h.ts';
import { HunkView } from '../hunk-view.ts';
import { oneLine, sentence, text } from '../text.ts';
import { AskedCard } from './asked-card.ts';
import type { CardGiven } from './card-given.ts';
import { IntentCard } from './intent-card.ts';
import { OptionButtons } from './option-buttons.ts';
import { PlanCard } from './plan-card.ts';

const narrow = ['approve', 'deny', 'abort'];
const wider = [
  'approve_session',
  'approve_ttl',
  'approve_directory_ttl',
  'approve_pattern_ttl',
  'allow_all_commands',
];

/** A use that somebody has to allow: what was proven of it, what was not, and what each answer would cover. */
function ApprovalCard({ question, isShut, choose, takes }: CardGiven): VNode {
  const asked = readApproval(question.metadata);
  const wantsSecondWord = asked.needsConfirmation === 'allow_all_commands';
  const [isWide, widen] = useState(false);
  // What is not to be seen is not to be chosen: its key shows it first.
  takes.current = (option) => {
    if (isWide || wantsSecondWord || !wider.includes(option)) return false;
    widen(true);
    return true;
  };
  return h(
    'div',
    { class: 'approval' },
    h('pre', { class: 'command', tabIndex: 0, 'aria-label': 'What is asked about' }, text(asked.what)),
    h(ChangeView, { question }),
    h(
      'p',
      { class: 'verdict' },
      asked.verdict !== '' && h('strong', { class: `verdict-${asked.verdict}` }, verdictWords(asked.verdict)),
      asked.reason !== '' && [
        asked.verdict === '' ? 'Asked because ' : ' · asked because ',
        sentence(asked.reason),
      ],
    ),
    asked.segments.length > 0 &&
      h(
        'ol',
        { class: 'segments', 'aria-label': 'Its commands, one by one' },
        asked.segments.map((segment, at) => h('li', { key: at }, h(SegmentLine, { segment }))),
        asked.moreSegments > 0 && h('li', null, `and ${asked.moreSegments} more commands`),
      ),
    asked.unproven.length > 0 &&
      h(
        'ul',
        { class: 'unproven', 'aria-label': 'What cannot be proven' },
        asked.unproven.map((one) => h('li', { key: one }, h('strong', null, 'Cannot prove '), sentence(one))),
      ),
    h(
      'p',
      { class: 'facts' },
      asked.isOutside ? h('strong', { class: 'bad' }, 'outside the sandbox') : 'in the sandbox',
      ' · in ',
      h('code', null, text(asked.cwd)),
      asked.branch !== '' && [' on ', h('code', null, text(asked.branch))],
    ),
    h(
      'div',
      { class: 'foot' },
      h(OptionButtons, {
        options: question.options,
        isShut,
        choose,
        without: wider,
        // What is dangerous has no answer that a hand finds by itself.
        ...(asked.verdict === 'dangerous' ? {} : { main: 'approve' }),
      }),
    ),
    h(
      'details',
      {
        class: 'wider',
        open: isWide || wantsSecondWord,
        onToggle: ({ currentTarget }: Event) => widen((currentTarget as HTMLDetailsElement).open),
      },
      h('summary', null, 'Approve more than this one call'),
      wantsSecondWord && h(SecondWord, { isShut, choose, isCommand: asked.isCommand }),
      h(OptionButtons, {
        options: question.options,
        isShut,
        choose,
        isCovered: true,
        without: wantsSecondWord ? [...narrow, 'allow_all_commands'] : narrow,
      }),
    ),
  );
}

interface SecondWordGiven {
  readonly isShut: boolean;
  readonly choose: (option: string) => void;
  readonly isCommand: boolean;
}

function SecondWord({ isShut, choose, isCommand }: SecondWordGiven): VNode {
  return h(
    'div',
    { class: 'second-word' },
    h(
      'p',
      { role: 'alert' },
      'Every command of this session would run without a question, dangerous ones included, until writ ends. ',
      !isCommand &&
        'This is no command: the next one like it, as the next file, is asked about all the same. ',
      'Say it once more, or choose another answer.',
    ),
    h(
      'button',
      { type: 'button', class: 'bad', disabled: isShut, onClick: () => choose('allow_all_commands') },
      'Yes, approve every command',
    ),
  );
}

function SegmentLine({ segment: { words, verdict, rule, why } }: { readonly segment: Segment }): VNode {
  return h(
    'div',
    { class: `segment segment-${verdict}` },
    h('span', { class: 'tag' }, verdictWords(verdict)),
    h(
      'code',
      null,
      words.map((word, at) => [
        at > 0 && ' ',
        word.isKnown
          ? h('span', { key: at }, text(word.text))
          : h(
              'span',
              { key: at, class: 'unknown', title: 'what this becomes cannot be proven' },
              text(word.text),
              h('sup', null, '?'),
            ),
      ]),
    ),
    h('span', { class: 'why' }, text(rule), why !== '' && [': ', sentence(why)]),
  );
}

const cards: Readonly<Record<Question['kind'], ComponentType<CardGiven>>> = {
  approval: ApprovalCard,
  sandbox_approval: ApprovalCard,
  intent_review_choice: IntentCard,
  post_plan_choice: PlanCard,
  request_user_input: AskedCard,
};

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
  /** Opens a pane; where panes are behind the card, the card is put away for it. */
  readonly show: (pane: string) => void;
  readonly isWide: boolean;
}

/** The question that waits. It takes the focus when it is asked to, and never by itself. */
export function QuestionCard({ page, question, more, place, show, isWide }: Asked): VNode {
  const { standing } = page.state;
  const takes = useRef<((option: string) => boolean) | undefined>(undefined);
  const digits = useRef<((digit: number) => boolean) | undefined>(undefined);
  const [isSending, setSending] = useState(false);
  const [isAway, putAway] = useState(false);
  const [refused, setRefused] = useState('');
  const card = useRef<HTMLElement>(null);
  useFocusBehind(card);
  const isDeaf = useDeaf(question.metadata.needsConfirmation);
  // What was said against is over as soon as anything is another.
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
    // Letters choose while the card itself or one of its buttons has the focus, never while somebody types.
    if (ctrlKey || metaKey || altKey || (target as Element).matches('input, textarea, [role=radio]')) return;
    const option = optionOfKey(key, question.options);
    if (option === undefined && !/^[1-9]$/.test(key)) return;
    event.preventDefault();
    setRefused('');
    // What is not to be seen is not to be chosen.
    if (isAway) putAway(false);
    else if (digits.current?.(Number(key)) !== true && option !== undefined) choose(option);
  };
  const Body = cards[question.kind];
  const { title, prompt, kind } = question;
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
      'div',
      { class: 'over' },
      kindWords[kind],
      more > 0 && ` · ${more} more ${more === 1 ? 'waits' : 'wait'}`,
      h(
        'button',
        {
          type: 'button',
          class: 'quiet',
          'aria-expanded': !isAway,
          'aria-controls': 'question-body',
          onClick: () => putAway(!isAway),
        },
        isAway ? 'Show' : 'Put aside',
      ),
    ),
    h('h2', { id: 'question-title' }, text(title ?? prompt ?? 'A question')),
    refused !== '' && h('p', { class: 'refused bad', role: 'alert' }, text(refused)),
    // Of a page that only watches the bar says so.
    !mayWrite(standing) && standing !== 'closed' && h(Watching, { page }),
    h(
      'div',
      { id: 'question-body', hidden: isAway },
      typeof question.metadata.patchset === 'string' &&
        h(
          'button',
          {
            type: 'button',
            class: 'look',
            onClick: () => {
              show('diff');
              putAway(!isWide);
            },
          },
          'Look at the change',
        ),
      h(Body, { page, question, isShut, answer: (given) => void answer(given), choose, takes, digits }),
    ),
  );
}

/** As long as what was meant for something else may still come: a second click, a key of the question before. */
const deafForMs = 350;

/** Whether a question was shown, or changed into another, so shortly ago that nobody can have read it. */
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
    'p',
    { class: 'watching' },
    words,
    ' ',
    state.standing === 'terminal' &&
      h('button', { type: 'button', onClick: () => void acts.take() }, 'Take control'),
  );
}

/** Where the focus was in a card that goes, it goes on to the next question; else to where `q` and `/` are heard. */
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

/** What a use would write, where an approval is about one: nobody can judge a change that he does not see. */
function ChangeView({ question }: { readonly question: Question }): VNode | null {
  const change = changeAsked(question);
  if (change === undefined) return null;
  const { diff, note, unshown } = change;
  const hunks = readHunks(diff);
  const count = (kind: string): number =>
    hunks.reduce((sum, { lines }) => sum + lines.filter((line) => line.kind === kind).length, 0);
  return h(
    'section',
    { class: 'asked-change', 'aria-label': 'What it would change' },
    h(
      'p',
      { class: 'label' },
      'What it would change',
      // Of a part nobody is told that it is all.
      hunks.length > 0 &&
        unshown === 0 &&
        h(
          'span',
          { class: 'counts' },
          h('span', { class: 'good' }, `+${count('added')}`),
          ' ',
          h('span', { class: 'bad' }, `−${count('removed')}`),
        ),
      note !== '' && `: ${oneLine(note)}`,
    ),
    hunks.length > 0 &&
      h(
        'div',
        { class: 'file' },
        hunks.map(({ header, lines }, at) =>
          h(HunkView, { key: at, path: fileOf(question.metadata), header, lines }),
        ),
      ),
    unshown > 0 &&
      h('p', { class: 'soft' }, `and ${unshown} more lines: the pane Diff shows what the model proposes`),
  );
}
