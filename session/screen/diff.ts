/* Renders diffs as lines of a terminal, with the changed words of each line marked. */
import { diffArrays } from 'diff/lib/diff/array.js';
import { unquotePath } from '../../readers/diff/read-sections.ts';
import { type DiffFile, type DiffHunk, type HunkLine, readDiff } from './hunks.ts';
import { type Line, type Span, span, type Tone, visible } from './line.ts';
import { clipText, wrapLine } from './wrap.ts';

/** Renders a whole diff. */
export function patchLines(text: string, { columns }: { readonly columns: number }): readonly Line[] {
  return readDiff(text).flatMap((file, at) => {
    const lines = [
      ...headLines(file, columns),
      ...file.notes.flatMap((note) => wrapLine([span(visible(note), 'dim')], { columns })),
      ...file.hunks.flatMap((hunk, index) => hunkLines(hunk, columns, index === 0)),
    ];
    return at === 0 ? lines : [[], ...lines];
  });
}

/** File header: the change to the file. Empty for hunks without a file name. */
function headLines({ names, hunks }: DiffFile, columns: number): readonly Line[] {
  if (names === undefined) return [];
  const [from, to] = [readPath(names[0], 'a/'), readPath(names[1], 'b/')];
  const change = from === undefined ? 'add' : to === undefined ? 'delete' : from === to ? 'modify' : 'rename';
  const count = (kind: HunkLine['kind']): number =>
    hunks.reduce((sum, { lines }) => sum + lines.filter((line) => line.kind === kind).length, 0);
  const name = change === 'rename' ? `${from} → ${to}` : (to ?? from ?? '');
  const head = [
    span(`${change} `, 'dim'),
    span(visible(name), 'heading'),
    span(` +${count('added')}`, 'added'),
    span(` -${count('removed')}`, 'removed'),
  ];
  return wrapLine(head, { columns });
}

/** A path as a diff names it: quoted like git's (`"a/\\303\\244"`), or up to a tab. `/dev/null` is undefined. */
function readPath(name: string, prefix: 'a/' | 'b/'): string | undefined {
  const whole = name.startsWith('"')
    ? (unquotePath(Buffer.from(name))?.path ?? name)
    : (name.split('\t', 1)[0] ?? '').trimEnd();
  if (whole === '/dev/null') return undefined;
  return whole.startsWith(prefix) ? whole.slice(prefix.length) : whole;
}

const signs = { added: '+', removed: '-', same: ' ' } as const;
const tones = {
  added: ['added', 'added-word'],
  removed: ['removed', 'removed-word'],
  same: ['plain', 'plain'],
} as const;
/** Begins each further row of a line that is too long. */
const continuation = '» ';

type Changed = HunkLine & { readonly kind: 'added' | 'removed' | 'same' };

function hunkLines({ header, lines }: DiffHunk, columns: number, isFirst: boolean): readonly Line[] {
  const [, old, now, title] =
    /^@@+ -(\d{1,9})(?:,\d{1,9})? \+(\d{1,9})(?:,\d{1,9})? @@+ ?(.*)$/.exec(header) ?? [];
  const place = old === undefined ? '' : ` -${old} +${now}`;
  const about = visible(title ?? header.replace(/^@@+ ?| ?@@+$/g, ''));
  const words = `${place}${about === '' ? '' : ` ${about}`}`;
  // A header without words only separates the hunk from the one before it.
  const head = words === '' && isFirst ? [] : [[span(clipText(`@@${words}`, columns), 'hunk')]];
  const changed = lines.filter((line): line is Changed => line.kind !== 'note');
  const unended = new Set(lines.flatMap((line, at) => (line.kind === 'note' ? [lines[at - 1]] : [])));
  // Line ends of Windows are shown if only some lines have them: they may be all that is changed.
  const isWindows = changed.every(({ text }) => text.endsWith('\r'));
  const shown = changed.map((line) => ({
    kind: line.kind,
    text: visible(isWindows ? line.text.slice(0, -1) : line.text),
  }));
  const marks = markWords(shown);
  const last = changed.reduce((most, line) => Math.max(most, line.newLine ?? line.oldLine ?? 0), 0);
  const digits = last === 0 ? 0 : String(last).length + 1;
  return [
    ...head,
    ...shown.flatMap(({ kind, text }, at) => {
      const line = changed[at];
      const gutter = `${line?.newLine ?? line?.oldLine ?? ''}`.padStart(digits - 1).padEnd(digits);
      const before = [
        ...(digits === 0 ? [] : [span(gutter, 'dim')]),
        span(`${signs[kind]} `, tones[kind][0]),
      ];
      const hang = [span(`${' '.repeat(digits)}${continuation}`, 'dim')];
      const end = unended.has(line) ? [span(' (no line end)', 'dim')] : [];
      return wrapLine([...before, ...spansOf(text, marks[at] ?? [], tones[kind]), ...end], {
        columns,
        hang,
        anywhere: true,
      });
    }),
  ];
}

function spansOf(text: string, marks: readonly Mark[], [plain, marked]: readonly [Tone, Tone]): Line {
  const spans: Span[] = [];
  let at = 0;
  const add = (to: number, tone: Tone): void => {
    if (to > at) spans.push({ text: text.slice(at, to), tone });
    at = Math.max(at, to);
  };
  for (const { from, to } of marks) {
    add(from, plain);
    add(to, marked);
  }
  add(text.length, plain);
  return spans;
}

interface Mark {
  readonly from: number;
  readonly to: number;
}

type MarkedLine = { readonly kind: HunkLine['kind']; readonly text: string };

/** A longer line, in UTF-16 code units, is not compared word by word. */
const maxCharacters = 600;
/** With more changed words it is another line, which also bounds the search. */
const maxChanges = 60;
/** Lines with less in common than this share of the longer one get no marks: the whole line is new. */
const minCommonShare = 0.4;

/** Marks the words that a replaced line does not share with its replacement, by line. */
function markWords(lines: readonly MarkedLine[]): readonly (readonly Mark[])[] {
  const marks: (readonly Mark[])[] = [];
  for (let at = 0; at < lines.length; ) {
    const removed = runFrom(lines, at, 'removed');
    const added = runFrom(lines, at + removed, 'added');
    // Lines correspond to each other only if as many were added as were removed.
    if (removed === added)
      for (let one = at; one < at + removed; one += 1)
        [marks[one] = [], marks[one + removed] = []] =
          compareWords(lines[one]?.text ?? '', lines[one + removed]?.text ?? '') ?? [];
    at += Math.max(1, removed + added);
  }
  return marks;
}

function runFrom(lines: readonly MarkedLine[], from: number, kind: HunkLine['kind']): number {
  let end = from;
  while (lines[end]?.kind === kind) end += 1;
  return end - from;
}

/** The marks of both lines, or undefined if they have too little in common or are too long to compare. */
function compareWords(
  before: string,
  after: string,
): readonly [readonly Mark[], readonly Mark[]] | undefined {
  if (before.length > maxCharacters || after.length > maxCharacters) return undefined;
  const [old, now]: [Mark[], Mark[]] = [[], []];
  let [oldAt, nowAt, common] = [0, 0, 0];
  const changes = diffArrays(wordsOf(before), wordsOf(after), { maxEditLength: maxChanges });
  for (const { value, added, removed } of changes ?? []) {
    const { length } = value.join('');
    if (removed) old.push({ from: oldAt, to: oldAt + length });
    else if (added) now.push({ from: nowAt, to: nowAt + length });
    else common += value.reduce((sum, word) => sum + word.trim().length, 0);
    if (!added) oldAt += length;
    if (!removed) nowAt += length;
  }
  const longest = Math.max(before.trim().length, after.trim().length);
  return changes === undefined || common < minCommonShare * longest ? undefined : [old, now];
}

function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{N}\p{M}_]+|\s+|./gsu) ?? [];
}
