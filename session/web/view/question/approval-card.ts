/* The card of a tool call that needs an approval. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { changeAsked, rowsOf, wordOf, wordsOf } from '../../../screen/asked.ts';
import { readHunks } from '../../../screen/hunks.ts';
import type { Question } from '../../seen.ts';
import { HunkView } from '../file-diff.ts';
import { h, oneLine, sentence, text } from '../parts.ts';
import { type CardGiven, OptionButtons } from './card-parts.ts';

const narrow = ['approve', 'deny', 'abort'];
const wider = [
  'approve_session',
  'approve_ttl',
  'approve_directory_ttl',
  'approve_pattern_ttl',
  'allow_all_commands',
];

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
    'div.approval',
    h('pre.command', { tabIndex: 0, 'aria-label': 'What is asked about' }, text(asked.what)),
    h(ChangeView, { question }),
    h(
      'p.verdict',
      asked.verdict !== '' && h('strong', { class: `verdict-${asked.verdict}` }, verdictWords(asked.verdict)),
      asked.reason !== '' && [
        asked.verdict === '' ? 'Asked because ' : ' · asked because ',
        sentence(asked.reason),
      ],
    ),
    asked.segments.length > 0 &&
      h(
        'ol.segments',
        { 'aria-label': 'Its commands, one by one' },
        asked.segments.map((segment, at) => h('li', { key: at }, h(SegmentLine, { segment }))),
        asked.moreSegments > 0 && h('li', `and ${asked.moreSegments} more commands`),
      ),
    asked.unproven.length > 0 &&
      h(
        'ul.unproven',
        { 'aria-label': 'What cannot be proven' },
        asked.unproven.map((one) => h('li', { key: one }, h('strong', 'Cannot prove '), sentence(one))),
      ),
    h(
      'p.facts',
      asked.isOutside ? h('strong.bad', 'outside the sandbox') : 'in the sandbox',
      ' · in ',
      h('code', text(asked.cwd)),
      asked.branch !== '' && [' on ', h('code', text(asked.branch))],
    ),
    h(
      'div.foot',
      h(OptionButtons, {
        options: question.options,
        isShut,
        choose,
        without: wider,
        // A dangerous call has no main button, so that a person does not approve it by habit.
        ...(asked.verdict === 'dangerous' ? {} : { main: 'approve' }),
      }),
    ),
    h(
      'details.wider',
      {
        open: isWide || wantsSecondWord,
        onToggle: ({ currentTarget }: Event) => widen((currentTarget as HTMLDetailsElement).open),
      },
      h('summary', 'Approve more than this one call'),
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

function SegmentLine({ segment: { words, verdict, rule, why } }: { readonly segment: Segment }): VNode {
  return h(
    `div.segment.segment-${verdict}`,
    h('span.tag', verdictWords(verdict)),
    h(
      'code',
      words.map((word, at) => [
        at > 0 && ' ',
        word.isKnown
          ? h('span', { key: at }, text(word.text))
          : h(
              'span.unknown',
              { key: at, title: 'what this becomes cannot be proven' },
              text(word.text),
              h('sup', '?'),
            ),
      ]),
    ),
    h('span.why', text(rule), why !== '' && [': ', sentence(why)]),
  );
}

/** The diff of a write that needs an approval. */
function ChangeView({ question }: { readonly question: Question }): VNode | null {
  const change = changeAsked(question);
  if (change === undefined) return null;
  const { diff, note, unshown } = change;
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
        hunks.map(({ header, lines }, at) =>
          h(HunkView, { key: at, path: fileOf(question.metadata), header, lines }),
        ),
      ),
    unshown > 0 && h('p.soft', `and ${unshown} more lines: the pane Diff shows what the model proposes`),
  );
}

interface Word {
  readonly text: string;
  readonly isKnown: boolean;
}

interface Segment {
  readonly words: readonly Word[];
  readonly verdict: string;
  readonly rule: string;
  readonly why: string;
}

interface AskedApproval {
  readonly what: string;
  /** False for files, the web and other tools. */
  readonly isCommand: boolean;
  /** Empty if no proof applies: the call is not a command. */
  readonly verdict: string;
  readonly reason: string;
  readonly segments: readonly Segment[];
  readonly moreSegments: number;
  readonly unproven: readonly string[];
  readonly cwd: string;
  readonly branch: string;
  readonly isOutside: boolean;
  readonly needsConfirmation: string;
}

type Members = Readonly<Record<string, unknown>>;

/** Reads the metadata of an approval; what is missing is empty, and a verdict that is missing is not known. */
export function readApproval(metadata: Members): AskedApproval {
  const segments = rowsOf(metadata.segments).map(readSegment);
  const isTold = (words: string): boolean => segments.some(({ why }) => why === words);
  const verdict = wordOf(metadata.verdict) || 'unknown';
  const reason = wordOf(metadata.reason);
  return {
    what: asWritten(metadata) ?? wordOf(metadata.command ?? metadata.subject),
    isCommand: metadata.command !== undefined,
    verdict: metadata.command === undefined && verdict === 'unknown' ? '' : verdict,
    reason: isTold(reason) ? '' : reason,
    segments,
    moreSegments: Number(metadata.moreSegments ?? 0),
    unproven: wordsOf(metadata.unproven).filter((one) => !isTold(one)),
    cwd: wordOf(metadata.cwd),
    branch: wordOf(metadata.branch),
    isOutside: metadata.isOutsideSandbox === true,
    needsConfirmation: wordOf(metadata.needsConfirmation),
  };
}

function asWritten({ command, commandLines }: Members): string | undefined {
  const lines = wordsOf(commandLines);
  return lines.length > 1 && lines.join('\\u{a}') === command ? lines.join('\n') : undefined;
}

function fileOf({ subject }: Members): string {
  return /^workspace\.fs (?:write|delete) (.+)$/s.exec(wordOf(subject))?.[1] ?? '';
}

function readSegment(segment: Members): Segment {
  return {
    words: rowsOf(segment.words).map(({ text: word, isKnown }) => ({
      text: wordOf(word),
      isKnown: isKnown !== false,
    })),
    verdict: wordOf(segment.verdict) || 'unknown',
    rule: wordOf(segment.rule),
    why: wordOf(segment.why),
  };
}

/** A verdict as a word that needs no colour. */
export function verdictWords(verdict: string): string {
  return { safe: 'only reads', dangerous: 'dangerous' }[verdict] ?? 'cannot prove';
}
