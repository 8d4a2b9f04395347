/* The card of a tool call that needs an approval. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { type ApprovalMetadata, type ShownSegment, shownFirst } from '../../../screen/asked.ts';
import { readHunks } from '../../../screen/hunks.ts';
import type { QuestionOf } from '../../seen.ts';
import { HunkView } from '../file-diff.ts';
import { h, oneLine, sentence, text } from '../parts.ts';
import { type CardGiven, OptionButtons } from './card-parts.ts';

type Approval = QuestionOf<'approval' | 'sandbox_approval'>;

export function ApprovalCard({ question, isShut, choose, takes }: CardGiven<Approval>): VNode {
  const { metadata, options } = question;
  const { command, segments = [], unproven = [], moreSegments = 0, cwd = '', branch = '' } = metadata;
  const { verdict = 'unknown', reason = '' } = metadata;
  const isTold = (words: string): boolean => segments.some(({ why }) => why === words);
  // No proof applies to a call that is no command.
  const hasVerdict = command !== undefined || verdict !== 'unknown';
  const wantsSecondWord = metadata.needsConfirmation === 'allow_all_commands';
  const narrow = shownFirst(question) ?? [];
  const wider = options.map(({ id }) => id).filter((id) => !narrow.includes(id));
  const [isWide, widen] = useState(false);
  // What is not to be seen is not to be chosen: its key shows it first.
  takes.current = (option) => {
    if (isWide || wantsSecondWord || !wider.includes(option)) return false;
    widen(true);
    return true;
  };
  return h(
    'div.approval',
    h('pre.command', { tabIndex: 0, 'aria-label': 'What is asked about' }, text(asWritten(metadata))),
    metadata.arguments !== undefined &&
      h('pre.command', { tabIndex: 0, 'aria-label': 'Arguments of the call' }, oneLine(metadata.arguments)),
    h(ChangeView, { metadata }),
    h(
      'p.verdict',
      hasVerdict && h('strong', { class: `verdict-${verdict}` }, verdictWords[verdict]),
      reason !== '' &&
        !isTold(reason) && [hasVerdict ? ' · asked because ' : 'Asked because ', sentence(reason)],
    ),
    segments.length > 0 &&
      h(
        'ol.segments',
        { 'aria-label': 'Its commands, one by one' },
        segments.map((segment, at) => h('li', { key: at }, h(SegmentLine, { segment }))),
        moreSegments > 0 && h('li', `and ${moreSegments} more commands`),
      ),
    !unproven.every(isTold) &&
      h(
        'ul.unproven',
        { 'aria-label': 'What cannot be proven' },
        unproven
          .filter((one) => !isTold(one))
          .map((one) => h('li', { key: one }, h('strong', 'Cannot prove '), sentence(one))),
      ),
    h(
      'p.facts',
      metadata.task !== undefined && ['for ', h('strong', text(metadata.task)), ' · '],
      metadata.isOutsideSandbox ? h('strong.bad', 'outside the sandbox') : 'in the sandbox',
      ' · in ',
      h('code', text(cwd)),
      branch !== '' && [' on ', h('code', text(branch))],
    ),
    h(
      'div.foot',
      h(OptionButtons, {
        options: question.options,
        isShut,
        choose,
        without: wider,
        // A dangerous call has no main button, so that a person does not approve it by habit.
        ...(verdict === 'dangerous' ? {} : { main: 'approve' }),
      }),
    ),
    h(
      'details.wider',
      {
        open: isWide || wantsSecondWord,
        onToggle: ({ currentTarget }: Event) => widen((currentTarget as HTMLDetailsElement).open),
      },
      h('summary', 'Other answers'),
      wantsSecondWord && h(SecondWord, { isShut, choose, isCommand: command !== undefined }),
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
    'div.second-word',
    h(
      'p',
      { role: 'alert' },
      'Every command of this session would run without a question, dangerous ones included, until writ ends. ',
      !isCommand &&
        'This is no command: the next one like it, as the next file, is asked about all the same. ',
      'Say it once more, or choose another answer.',
    ),
    h(
      'button.bad',
      { disabled: isShut, onClick: () => choose('allow_all_commands') },
      'Yes, approve every command',
    ),
  );
}

function SegmentLine({ segment: { words, verdict, rule, why } }: { readonly segment: ShownSegment }): VNode {
  return h(
    `div.segment.segment-${verdict}`,
    h('span.tag', verdictWords[verdict]),
    h(
      'code',
      words.map((word, at) => [
        at > 0 && ' ',
        word.isKnown === false
          ? h(
              'span.unknown',
              { key: at, title: 'what this becomes cannot be proven' },
              text(word.text),
              h('sup', '?'),
            )
          : h('span', { key: at }, text(word.text)),
      ]),
    ),
    h('span.why', text(rule), why !== '' && [': ', sentence(why)]),
  );
}

/** The diff of a write that needs an approval. */
function ChangeView({
  metadata: { change, subject = '' },
}: {
  readonly metadata: ApprovalMetadata;
}): VNode | null {
  if (change === undefined) return null;
  const { diff = '', note = '', unshown = 0 } = change;
  const path = /^workspace\.fs (?:write|delete) (.+)$/s.exec(subject)?.[1] ?? '';
  const hunks = readHunks(diff);
  const count = (kind: string): number =>
    hunks.reduce((sum, { lines }) => sum + lines.filter((line) => line.kind === kind).length, 0);
  return h(
    'section.asked-change',
    { 'aria-label': 'What it would change' },
    h(
      'p.label',
      'What it would change',
      // Counts of a part would pass for the whole.
      hunks.length > 0 &&
        unshown === 0 &&
        h('span.counts', h('span.good', `+${count('added')}`), ' ', h('span.bad', `−${count('removed')}`)),
      note !== '' && `: ${oneLine(note)}`,
    ),
    hunks.length > 0 &&
      h(
        'div.file',
        hunks.map(({ header, lines }, at) => h(HunkView, { key: at, path, header, lines })),
      ),
    unshown > 0 && h('p.soft', `and ${unshown} more lines: the pane Diff shows what the model proposes`),
  );
}

/** The command in its own lines, or what is used. */
function asWritten({ command, commandLines = [], subject = '' }: ApprovalMetadata): string {
  return commandLines.join('\\u{a}') === command ? commandLines.join('\n') : (command ?? subject);
}

/** A verdict as words that need no colour. */
const verdictWords = { safe: 'only reads', unknown: 'cannot prove', dangerous: 'dangerous' } as const;
