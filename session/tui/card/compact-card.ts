import { type Line, type Span, span } from '../../screen/line.ts';
import { type Asked, wordsOf } from '../../screen/question/asked.ts';
import type { Choice } from '../../screen/question/choices.ts';
import { commandTree } from '../../screen/question/command-tree.ts';
import { visible } from '../../screen/visible.ts';
import { widthOf } from '../../screen/wrap.ts';
import { hangLine } from '../print/hang-line.ts';

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
export function isCompact(choices: readonly Choice[], rows: number): boolean {
  return (
    choices.length > 0 &&
    choices.every(({ id }) => Object.hasOwn(words, id)) &&
    rows < choices.length + 2 + leastSeen
  );
}

/** Answers side by side, each with its letter; below them what the chosen one is and does. */
export function compactChoices(choices: readonly Choice[], at: number, columns: number): readonly Line[] {
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
export function compactSubject(asked: Asked, rows: number, columns: number): readonly Line[] {
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
export function subjectBeside(asked: Asked): Line {
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

export function isApproval({ kind }: Pick<Asked, 'kind'>): boolean {
  return kind === 'approval' || kind === 'sandbox_approval';
}
