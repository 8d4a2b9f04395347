import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { readApproval, type Segment, verdictWords } from '../../words/read-approval.ts';
import { h } from '../h.ts';
import { sentence, text } from '../text.ts';
import type { CardGiven } from './card-given.ts';
import { ChangeView } from './change-view.ts';
import { OptionButtons } from './option-buttons.ts';

const narrow = ['approve', 'deny', 'abort'];
const wider = [
  'approve_session',
  'approve_ttl',
  'approve_directory_ttl',
  'approve_pattern_ttl',
  'allow_all_commands',
];

/** A use that somebody has to allow: what was proven of it, what was not, and what each answer would cover. */
export function ApprovalCard({ question, isShut, choose, takes }: CardGiven): VNode {
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
