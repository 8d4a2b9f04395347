import { unquotePath } from '../../../readers/diff/read-sections.ts';
import { clipText } from '../clip.ts';
import { type Line, type Span, span, type Tone } from '../line.ts';
import { visible } from '../visible.ts';
import { wrapLine } from '../wrap.ts';
import type { DiffFile, DiffLine, Hunk } from './diff-file.ts';
import { markWords, type WordBudget } from './mark-words.ts';

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

interface Draft {
  path: string;
  from?: string;
  change: DiffFile['change'];
  readonly notes: string[];
  readonly hunks: Hunk[];
  /** Neither a path nor a hunk was told yet. */
  isBare: boolean;
}

const envelope: Readonly<Record<string, DiffFile['change']>> = {
  Add: 'add',
  Update: 'modify',
  Delete: 'delete',
};

/** Word comparisons that one diff may cost, a third of a second. Lines beyond that are shown without marked words. */
export const maxWordComparisons = 1_000_000;

/**
 * A diff as files, hunks and lines: what git writes, plain unified diffs, envelopes (`*** Update File: P`, hunks
 * without numbers), and hunks of one file without a head, which is then `path`. Nothing of it is left out but what only
 * says where it is; what belongs nowhere is among the notes of its file. All of it is safe to be shown.
 * `budget` bounds the search for changed words.
 */
export function readDiff(
  text: string,
  path = '',
  budget: WordBudget = { comparisons: maxWordComparisons },
): readonly DiffFile[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const drafts: Draft[] = [];
  const begin = (name: string, change: Draft['change'], isBare = false): Draft => {
    const draft: Draft = { path: name, change, notes: [], hunks: [], isBare };
    drafts.push(draft);
    return draft;
  };
  const current = (): Draft => drafts.at(-1) ?? begin(path, 'modify', true);
  const isEnd = (at: number): boolean => isHead(lines, at);
  for (let at = 0; at < lines.length; ) {
    const line = (lines[at] ?? '').replace(/\r$/, '');
    if (takeHead(line, begin)) at += 1;
    else if (isPair(lines, at)) {
      takePair(lines, at, drafts.at(-1), begin);
      at += 2;
    } else if (line.startsWith('@@') || (/^[-+ ]/.test(line) && canGoOn(drafts.at(-1)))) {
      const { hunk, next } = readHunk(lines, at, isEnd, budget);
      current().hunks.push(hunk);
      at = Math.max(next, at + 1);
    } else {
      takeNote(line, current);
      at += 1;
    }
  }
  return drafts.map(toFile);
}

/** Hunks without a line of their own: in an envelope, and where there is no head at all. */
function canGoOn(draft: Draft | undefined): boolean {
  return draft === undefined || draft.isBare;
}

function isHead(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? '';
  return line.startsWith('diff --git ') || /^\*\*\* [A-Z]/.test(line) || isPair(lines, at);
}

/** `--- a/P` and `+++ b/P` below each other. */
function isPair(lines: readonly string[], at: number): boolean {
  return /^--- \S/.test(lines[at] ?? '') && /^\+\+\+ \S/.test(lines[at + 1] ?? '');
}

type Begin = (path: string, change: Draft['change'], isBare?: boolean) => Draft;

function takeHead(line: string, begin: Begin): boolean {
  if (line.startsWith('diff --git ')) {
    const [from, to] = readPaths(line.slice('diff --git '.length)) ?? ['', ''];
    begin(to, from === to ? 'modify' : 'rename').from = from;
    return true;
  }
  const [, kind = '', name = ''] = /^\*\*\* (Add|Update|Delete) File: (.+)$/.exec(line) ?? [];
  const change = envelope[kind];
  if (change !== undefined) begin(name, change, true);
  return change !== undefined || /^\*\*\* (?:Begin Patch|End Patch|End of File)$/.test(line);
}

/** The names of a plain diff, or what git says again behind its own head. */
function takePair(lines: readonly string[], at: number, last: Draft | undefined, begin: Begin): void {
  const from = readPath((lines[at] ?? '').slice(4), 'a/');
  const to = readPath((lines[at + 1] ?? '').slice(4), 'b/');
  const isSame = last !== undefined && !last.isBare && last.hunks.length === 0 && last.path === (to ?? from);
  const change = from === undefined ? 'add' : to === undefined ? 'delete' : from === to ? 'modify' : 'rename';
  const draft = isSame ? last : begin(to ?? from ?? '', change);
  if (change === 'add' || change === 'delete') draft.change = change;
  if (change === 'rename' && from !== undefined) draft.from = from;
}

function takeNote(line: string, current: () => Draft): void {
  const moved = /^(?:rename|copy) (from|to) (.+)$/.exec(line) ?? /^\*\*\* Move (to): (.+)$/.exec(line);
  if (moved !== null) {
    const draft = current();
    const name = readPath(moved[2] ?? '', '') ?? '';
    if (moved[1] === 'from') draft.from = name;
    else {
      draft.from ??= draft.path;
      draft.path = name;
    }
    draft.change = 'rename';
  } else if (/^new file mode /.test(line)) current().change = 'add';
  else if (/^deleted file mode /.test(line)) current().change = 'delete';
  else if (!/^(?:index [\da-f]+\.\.|similarity index |dissimilarity index )/.test(line) && line !== '')
    current().notes.push(visible(line));
}

function toFile({ path, from, change, notes, hunks }: Draft): DiffFile {
  const count = (kind: string): number =>
    hunks.reduce((sum, { lines }) => sum + lines.filter((line) => line.kind === kind).length, 0);
  const moved = change === 'rename' && from !== undefined ? { from: visible(from) } : {};
  return {
    path: visible(path),
    ...moved,
    change,
    added: count('added'),
    removed: count('removed'),
    notes,
    hunks,
  };
}

/**
 * A path as a line of a diff names it: quoted as git does (`"a/\\303\\244"`), or up to a tab. Nothing for `/dev/null`.
 */
function readPath(told: string, prefix: 'a/' | 'b/' | ''): string | undefined {
  const whole = told.startsWith('"')
    ? (unquotePath(Buffer.from(told))?.path ?? told)
    : (told.split('\t', 1)[0] ?? '').trimEnd();
  if (whole === '/dev/null' || whole === '') return undefined;
  return prefix !== '' && whole.startsWith(prefix) ? whole.slice(prefix.length) : whole;
}

/** Both paths of `diff --git a/P b/P`; where nobody can say where the first ends, the halves of what is the same. */
function readPaths(told: string): readonly [string, string] | undefined {
  const quoted =
    /^("(?:[^"\\]|\\.)*") ("(?:[^"\\]|\\.)*"|.+)$/.exec(told) ?? /^(\S+) ("(?:[^"\\]|\\.)*")$/.exec(told);
  const half = (told.length - 1) / 2;
  const [one, two] =
    quoted === null
      ? told[half] === ' '
        ? [told.slice(0, half), told.slice(half + 1)]
        : told.split(' ', 2)
      : [quoted[1], quoted[2]];
  const [from, to] = [readPath(one ?? '', 'a/'), readPath(two ?? '', 'b/')];
  return from === undefined || to === undefined ? undefined : [from, to];
}

const numbered = /^@@+ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@+ ?(.*)$/;
const kinds: Readonly<Record<string, DiffLine['kind']>> = { '+': 'added', '-': 'removed', ' ': 'context' };

/** Whether nothing of a hunk stands here: the next file, or the end of an envelope. */
type IsEnd = (at: number) => boolean;

interface FoundHunk {
  readonly hunk: Hunk;
  /** The line behind it. */
  readonly next: number;
}

/**
 * The hunk that begins at a line. With numbers it is as long as its head says, whatever its lines look like, and what
 * comes behind that and is no other beginning belongs to it too; without, it ends where something else begins.
 */
function readHunk(lines: readonly string[], start: number, isEnd: IsEnd, budget: WordBudget): FoundHunk {
  const head = lines[start] ?? '';
  const told = numbered.exec(head);
  const isHead = head.startsWith('@@');
  const [, oldStart, oldCount = '1', newStart, newCount = '1', title] = told ?? [];
  let [oldLeft, newLeft] = told === null ? [0, 0] : [Number(oldCount), Number(newCount)];
  let [oldNumber, newNumber] = [Number(oldStart), Number(newStart)];
  const found: DiffLine[] = [];
  let at = isHead ? start + 1 : start;
  for (; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const isCounted = oldLeft > 0 || newLeft > 0;
    if (!isCounted && (line.startsWith('@@') || isEnd(at))) break;
    const last = found.at(-1);
    if (line.startsWith('\\') && last !== undefined) {
      found[found.length - 1] = { ...last, isUnended: true };
      continue;
    }
    // Editors take the only space of an empty line of context away.
    const kind = line === '' ? 'context' : kinds[line[0] ?? ''];
    if (kind === undefined || (line === '' && !isCounted && at === lines.length - 1)) break;
    const numbers =
      told === null
        ? {}
        : { ...(kind === 'added' ? {} : { oldNumber }), ...(kind === 'removed' ? {} : { newNumber }) };
    found.push({ kind, ...numbers, text: line.slice(1), marks: [] });
    if (kind !== 'added') [oldNumber, oldLeft] = [oldNumber + 1, oldLeft - 1];
    if (kind !== 'removed') [newNumber, newLeft] = [newNumber + 1, newLeft - 1];
  }
  const place = told === null ? {} : { oldStart: Number(oldStart), newStart: Number(newStart) };
  const words = told === null ? head.replace(/^@@+ ?| ?@@+$/g, '') : (title ?? '');
  return {
    hunk: { title: isHead ? visible(words) : '', ...place, lines: markWords(shown(found), budget) },
    next: at,
  };
}

/** Line ends of Windows are shown where not every line has one: that may be all that is changed. */
function shown(lines: readonly DiffLine[]): readonly DiffLine[] {
  const isWindows = lines.every(({ text }) => text.endsWith('\r'));
  return lines.map((line) => ({ ...line, text: visible(isWindows ? line.text.slice(0, -1) : line.text) }));
}
