import { hunksOf } from '../../screen/hunks.ts';
import { type Line, type Span, span } from '../../screen/line.ts';
import { type Asked, type InnerQuestion, innerQuestions, wordsOf } from '../../screen/question/asked.ts';
import { type Choice, choicesOf } from '../../screen/question/choices.ts';
import { commandTree } from '../../screen/question/command-tree.ts';
import { visible } from '../../screen/visible.ts';
import { widthOf } from '../../screen/wrap.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { hangLine } from '../print/hang-line.ts';
import type { Card } from './card.ts';
import { isContract, planLines } from './press-card.ts';

/** Rows for what an answer covers, where its own row has no room for all of it. */
const mostCovered = 3;

/** What of a card stands in the live region: what is asked, the answers, how to give one. At most `rows` lines. */
export function drawCard(
  card: Card,
  asked: Asked,
  snapshot: Pick<Snapshot, 'plans' | 'patchsets' | 'reviews'>,
  { rows, columns }: { readonly rows: number; readonly columns: number },
): readonly Line[] {
  const inner = innerQuestions(asked);
  const choices = choicesOf(asked, inner[card.question]);
  const isChosen = card.focus === 'options' && card.writing === undefined;
  const lines =
    card.focus === 'lines'
      ? drawLines(card, asked, snapshot.plans)
      : // Whoever writes a note has chosen already.
        card.writing?.for === 'note'
        ? []
        : choices.map((choice, at) => drawChoice(choice, at, isChosen && at === card.at));
  if (card.focus !== 'lines' && card.writing === undefined && isCompact(choices, rows)) {
    const head = [...headOf(card, asked, inner), ...rejectedOf(asked, snapshot)];
    const told = compactChoices(choices, isChosen ? card.at : -1, columns);
    const hint: readonly Line[] = isChosen && isApproval(asked) ? [] : [[span(hintOf(card, asked), 'dim')]];
    const subject = compactSubject(asked, Math.max(1, rows - told.length - hint.length - 1), columns);
    return [head, ...subject, ...told, ...hint];
  }
  const most = Math.max(1, rows - 2);
  const before = drawAnswers(card, inner).slice(0, Math.max(0, most - lines.length));
  const room = most - lines.length - before.length;
  const covered = isChosen ? coveredBy(choices[card.at], lines[card.at], columns) : [];
  return [
    ...before,
    [...headOf(card, asked, inner), ...rejectedOf(asked, snapshot), ...subjectBeside(asked)],
    ...around(lines, card.at, most),
    ...(covered.length <= room ? covered : []),
    [span(hintOf(card, asked), 'dim')],
  ];
}

/** What is asked; of questions that are asked one after the other also how many there are. */
function headOf(
  { question }: Card,
  { prompt = '', title = '' }: Asked,
  inner: readonly InnerQuestion[],
): Line {
  const words = inner[question]?.prompt ?? (prompt === '' ? title : prompt);
  return [
    span('? ', 'accent'),
    span(visible(words), 'strong'),
    ...(inner.length > 1 ? [span(`  ${question + 1} of ${inner.length}`, 'dim')] : []),
  ];
}

/** Of a change that is held: how much of it is rejected by now. */
function rejectedOf(
  { metadata }: Asked,
  { patchsets, reviews }: Pick<Snapshot, 'patchsets' | 'reviews'>,
): Line {
  const patchset = patchsets.find(({ id }) => id === metadata.patchset);
  if (patchset === undefined) return [];
  const hunks = hunksOf(patchset, reviews);
  const rejected = hunks.filter(({ verdict }) => verdict === 'reject').length;
  return [span(`  ${rejected}/${hunks.length} rejected`, rejected === 0 ? 'dim' : 'warn')];
}

/** What was answered before, until all of it is sent; of a secret that it was. */
function drawAnswers({ answers, question }: Card, inner: readonly InnerQuestion[]): readonly Line[] {
  return inner.slice(0, question).map(({ id, prompt, options, secret }): Line => {
    const [given = ''] = answers[id] ?? [];
    const told = options.find((option) => option.id === given)?.label ?? given;
    return [
      span('✓ ', 'good'),
      span(visible(prompt), 'dim'),
      span(`  ${secret ? 'answered' : visible(told)}`),
    ];
  });
}

/** All that the chosen answer covers, below the others, where its own row has no room for it. */
function coveredBy(choice: Choice | undefined, line: Line | undefined, columns: number): readonly Line[] {
  if (choice === undefined || line === undefined || widthOf(line) <= columns) return [];
  return hangLine([span(`  covers  ${visible(choice.about)}`, 'dim')], columns).slice(0, mostCovered);
}

function drawChoice({ label, letter, about }: Choice, at: number, isSelected: boolean): Line {
  return [
    span(isSelected ? '› ' : '  ', 'accent'),
    span(`${at + 1}${letter === undefined ? '' : ` ${letter}`}  `, 'dim'),
    span(visible(label), isSelected ? 'selected' : 'plain'),
    ...(about === '' ? [] : [span(`  ${visible(about)}`, 'dim')]),
  ];
}

function drawLines({ at, notes }: Card, asked: Asked, plans: Snapshot['plans']): readonly Line[] {
  const plan = plans.find(({ id }) => id === asked.metadata.planId);
  return planLines(asked).map((id, index): Line => {
    const words = plan?.steps.find((step) => step.id === id)?.step ?? id;
    const note = notes[id];
    return [
      span(index === at ? '› ' : '  ', 'accent'),
      span(`${index + 1}. ${visible(words)}`, index === at ? 'selected' : 'plain'),
      ...(note === undefined ? [] : [span(`  ✎ ${visible(note)}`, 'warn')]),
    ];
  });
}

/** So many lines around the one that is chosen; arrows in the place of its mark say where there are more. */
function around(lines: readonly Line[], at: number, most: number): readonly Line[] {
  if (lines.length <= most) return lines;
  const from = Math.max(0, Math.min(lines.length - most, at - Math.floor(most / 2)));
  const seen = [...lines.slice(from, from + most)];
  const mark = (row: number, sign: string): void => {
    if (from + row !== at) seen[row] = [span(sign, 'accent'), ...(seen[row] ?? []).slice(1)];
  };
  if (from > 0) mark(0, '↑ ');
  if (from + most < lines.length) mark(most - 1, '↓ ');
  return seen;
}

function hintOf({ focus, writing, notes }: Card, asked: Asked): string {
  if (writing?.for === 'answer')
    return writing.isSecret
      ? 'type the answer, Enter gives it · it is never shown and never kept'
      : 'type the answer, Enter gives it';
  if (writing !== undefined) return 'type the note, Enter takes it, Esc goes back';
  if (focus === 'away') return 'Tab answers';
  if (focus === 'lines') return 'Enter writes a note on the line, Delete takes it off, Esc goes back';
  const count = Object.keys(notes).length;
  const told = count === 0 ? '' : `${count} ${count === 1 ? 'note goes' : 'notes go'} along · `;
  const hunks = asked.metadata.patchset === undefined ? '' : ' (/diff, /reject N WHY, /keep N)';
  return `${told}number or letter chooses${planLines(asked).length > 0 ? ' · l: notes on lines' : ''}${isContract(asked) ? ' · v: all of it' : ''} · Tab: text${hunks}`;
}

/** Rows of what is asked about that are seen above answers which stand one below the other. */
const leastSeen = 6;
/** Rows for what the chosen answer does. */
const mostAbout = 2;

/** One word for each answer that has a letter, where its label has no room. */
const words: Readonly<Record<string, string>> = {
  approve: 'once',
  approve_session: 'session',
  approve_ttl: 'time',
  approve_directory_ttl: 'dir',
  approve_pattern_ttl: 'like',
  allow_all_commands: 'all',
  deny: 'deny',
  abort: 'stop',
  confirm: 'confirm',
  modify: 'modify',
  cancel: 'cancel',
  execute: 'execute',
  network: 'network',
};

/**
 * Whether answers one below the other would push what they answer off the terminal. `rows`: of the card. Only answers
 * with letters are told otherwise.
 */
function isCompact(choices: readonly Choice[], rows: number): boolean {
  return (
    choices.length > 0 &&
    choices.every(({ id }) => Object.hasOwn(words, id)) &&
    rows < choices.length + 2 + leastSeen
  );
}

/** Answers side by side, each with its letter; below them what the chosen one is and does. */
function compactChoices(choices: readonly Choice[], at: number, columns: number): readonly Line[] {
  const chosen = choices[at];
  const rows: Span[][] = [];
  let room = 0;
  for (const [index, { id, letter = '' }] of choices.entries()) {
    const one = [span(`${letter} `, 'dim'), span(words[id] ?? id, index === at ? 'selected' : 'plain')];
    const row = rows.at(-1);
    const width = widthOf(one) + 2;
    if (row === undefined || width > room) {
      rows.push([span('  '), ...one]);
      room = columns - width;
    } else {
      row.push(span('  '), ...one);
      room -= width;
    }
  }
  if (chosen === undefined) return rows;
  const about = chosen.about === '' ? [] : [span(`  ${visible(chosen.about)}`, 'dim')];
  const told = hangLine([span('› ', 'accent'), span(visible(chosen.label), 'strong'), ...about], columns);
  return [...rows, ...told.slice(0, mostAbout)];
}

/** What an approval is about, in so many rows: the command itself first, and word of what has no room. */
function compactSubject(asked: Asked, rows: number, columns: number): readonly Line[] {
  if (!isApproval(asked)) return [];
  const tree = commandTree(asked);
  const lines = tree.flatMap((line) => hangLine(line, columns));
  if (lines.length <= rows) return lines;
  // Cut where the terminal ends, which its last sign says.
  if (rows < 2) return tree.slice(0, rows);
  const seen = rows - 1;
  const left = lines.length - seen;
  const more = `… ${left} ${left === 1 ? 'line' : 'lines'} more: scroll back to read`;
  return [...lines.slice(0, seen), [span(more, 'warn')]];
}

/** The same in what one row holds, beside the question: what was printed of it may have left the terminal. */
function subjectBeside(asked: Asked): Line {
  if (!isApproval(asked)) return [];
  const many = wordsOf(asked.metadata.commandLines).length;
  const [first = []] = commandTree(asked);
  return [
    ...(many > 1 ? [span(`  first of ${many} lines`, 'warn')] : []),
    span('  '),
    ...first.filter(isWord),
  ];
}

const isWord = ({ text }: Span): boolean => text.trim() !== '';

function isApproval({ kind }: Pick<Asked, 'kind'>): boolean {
  return kind === 'approval' || kind === 'sandbox_approval';
}
