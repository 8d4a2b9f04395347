import { clipText } from '../clip.ts';
import { type Line, type Span, span, type Tone } from '../line.ts';
import { wrapLine } from '../wrap.ts';
import type { DiffFile, DiffLine, Hunk } from './diff-file.ts';
import { readDiff } from './read-diff.ts';

const signs = { added: '+', removed: '-', context: ' ' } as const;
const tones: Readonly<Record<DiffLine['kind'], Tone>> = {
  added: 'added',
  removed: 'removed',
  context: 'plain',
};
const marked: Readonly<Record<DiffLine['kind'], Tone>> = {
  added: 'added-word',
  removed: 'removed-word',
  context: 'plain',
};
/** Stands before what does not fit on the line of a diff that it belongs to. */
const goesOn = '» ';

/** One file as lines: what happens to it, then its hunks with the number and the sign of each line. */
function diffLines(file: DiffFile, { columns }: { readonly columns: number }): readonly Line[] {
  const { path, from, change, added, removed, notes, hunks } = file;
  const name = from === undefined ? path : `${from} → ${path}`;
  const head = [
    span(`${change} `, 'dim'),
    span(name, 'heading'),
    span(` +${added}`, 'added'),
    span(` -${removed}`, 'removed'),
  ];
  return [
    // Hunks of a file that whoever shows them has named need no line that says only how many they are.
    ...(name === '' ? [] : wrapLine(head, { columns })),
    ...notes.flatMap((note) => wrapLine([span(note, 'dim')], { columns })),
    ...hunks.flatMap((hunk, at) => hunkLines(hunk, { columns, isFirst: at === 0 })),
  ];
}

/** One hunk; long lines go on below themselves. */
function hunkLines(
  hunk: Hunk,
  { columns, isFirst = false }: { readonly columns: number; readonly isFirst?: boolean },
): readonly Line[] {
  const { title, oldStart, newStart, lines } = hunk;
  const place = oldStart === undefined || newStart === undefined ? '' : ` -${oldStart} +${newStart}`;
  const words = `${place}${title === '' ? '' : ` ${title}`}`;
  // A hunk that says nothing of itself only has to stand apart from the one before it.
  const head = words === '' && isFirst ? [] : [[span(clipText(`@@${words}`, columns), 'hunk')]];
  const last = lines.reduce((most, line) => Math.max(most, line.newNumber ?? line.oldNumber ?? 0), 0);
  const digits = last === 0 ? 0 : String(last).length + 1;
  return [...head, ...lines.flatMap((line) => oneLine(line, digits, columns))];
}

/** A whole diff, whatever form it has; `path`: whose hunks they are where the diff does not say. */
export function patchLines(
  text: string,
  { columns, path = '' }: { readonly columns: number; readonly path?: string },
): readonly Line[] {
  return readDiff(text, path).flatMap((file, at) => {
    const lines = diffLines(file, { columns });
    return at === 0 ? lines : [[], ...lines];
  });
}

function oneLine(line: DiffLine, digits: number, columns: number): readonly Line[] {
  const { kind, oldNumber, newNumber, isUnended } = line;
  const number = newNumber ?? oldNumber;
  const gutter = digits === 0 ? '' : `${number ?? ''}`.padStart(digits - 1).padEnd(digits);
  const sign = span(`${signs[kind]} `, tones[kind]);
  const before = gutter === '' ? [sign] : [span(gutter, 'dim'), sign];
  const hang = [span(`${' '.repeat(digits)}${goesOn}`, 'dim')];
  const end = isUnended ? [span(' (no line end)', 'dim')] : [];
  return wrapLine([...before, ...spansOf(line), ...end], { columns, hang, anywhere: true });
}

function spansOf({ kind, text, marks }: DiffLine): Line {
  const spans: Span[] = [];
  let at = 0;
  const add = (to: number, tone: Tone): void => {
    if (to > at) spans.push({ text: text.slice(at, to), tone });
    at = Math.max(at, to);
  };
  for (const { from, to } of marks) {
    add(from, tones[kind]);
    add(to, marked[kind]);
  }
  add(text.length, tones[kind]);
  return spans;
}
