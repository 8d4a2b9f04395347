/* Reads unified diffs, and lists the hunks of a patchset with their reviews. */
import type { Snapshot } from '../state/snapshot.ts';

type Patchset = Snapshot['patchsets'][number];
type Reviews = NonNullable<Snapshot['reviews']>;

/** One line of a hunk, as it is in the file: pass it through `visible` before it is shown. */
export interface HunkLine {
  readonly kind: 'added' | 'removed' | 'same' | 'note';
  readonly text: string;
  /** From 1; absent if the line is not on that side, or the hunk has no numbers. */
  readonly oldLine?: number;
  readonly newLine?: number;
}

/** A hunk of a file with its review. */
export interface ShownHunk {
  readonly patchset: string;
  readonly path: string;
  readonly id: string;
  readonly header: string;
  /** Empty for a change without lines (a binary file, a rename alone). */
  readonly lines: readonly HunkLine[];
  readonly verdict?: 'keep' | 'reject';
  readonly comment?: string;
}

export function hunksOf({ id: patchset, changes }: Patchset, reviews: Reviews = []): readonly ShownHunk[] {
  const said = new Map(reviews.filter((one) => one.patchset === patchset).map((one) => [one.hunk, one]));
  return changes.flatMap(({ path, diff = '', hunks = [] }) => {
    const read = readHunks(diff);
    let next = 0;
    return hunks.map(({ id, header }) => {
      const lines = header.startsWith('@@') ? (read[next++]?.lines ?? []) : [];
      const { verdict, comment } = said.get(id) ?? {};
      return {
        patchset,
        path,
        id,
        header,
        lines,
        ...(verdict === undefined ? {} : { verdict }),
        ...(comment === undefined ? {} : { comment }),
      };
    });
  });
}

export interface DiffHunk {
  readonly header: string;
  readonly lines: readonly HunkLine[];
}

export interface DiffFile {
  /** What follows `---` and `+++`; absent for hunks without these lines. */
  readonly names?: readonly [from: string, to: string];
  readonly notes: readonly string[];
  readonly hunks: readonly DiffHunk[];
}

export function readHunks(diff: string): readonly DiffHunk[] {
  return readDiff(diff).flatMap(({ hunks }) => hunks);
}

/**
 * Parses a unified diff. The counts in a hunk's header give its length, whatever its lines look like. A header
 * without numbers (a model's patch) covers the lines up to the next header or file.
 */
export function readDiff(diff: string): readonly DiffFile[] {
  const files: {
    names?: NonNullable<DiffFile['names']>;
    notes: string[];
    hunks: { header: string; lines: HunkLine[] }[];
  }[] = [];
  let place: Place | undefined;
  const lines = diff.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const current = () => files.at(-1) ?? begin();
  const begin = (names?: DiffFile['names']) => {
    const file = { ...(names === undefined ? {} : { names }), notes: [], hunks: [] };
    files.push(file);
    return file;
  };
  for (let at = 0; at < lines.length; at += 1) {
    const text = lines[at] ?? '';
    const isCounted = place !== undefined && !isOver(place) && place.oldLine !== undefined;
    const next = lines[at + 1] ?? '';
    if (!isCounted && text.startsWith('@@')) {
      current().hunks.push({ header: text, lines: [] });
      place = placeOf(text);
    } else if (!isCounted && /^--- \S/.test(text) && /^\+\+\+ \S/.test(next)) {
      begin([text.slice(4), next.slice(4)]);
      place = undefined;
      at += 1;
    } else if (place !== undefined && isLineOf(text, place))
      current().hunks.at(-1)?.lines.push(lineOf(text, place));
    else if (text !== '') current().notes.push(text);
  }
  return files;
}

/** Editors remove the only space of an empty line. */
function isLineOf(text: string, place: Place): boolean {
  return text.startsWith('\\') || (!isOver(place) && /^(?:[-+ ]|\r?$)/.test(text));
}

/** The numbers of the next line in both files, and how many lines are left: Infinity in a hunk without numbers. */
interface Place {
  oldLine: number | undefined;
  newLine: number | undefined;
  oldLeft: number;
  newLeft: number;
}

function placeOf(header: string): Place {
  const [found, oldLine, oldCount = '1', newLine, newCount = '1'] =
    /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/.exec(header) ?? [];
  if (found === undefined)
    return { oldLine: undefined, newLine: undefined, oldLeft: Infinity, newLeft: Infinity };
  return {
    oldLine: Number(oldLine),
    newLine: Number(newLine),
    oldLeft: Number(oldCount),
    newLeft: Number(newCount),
  };
}

function isOver({ oldLeft, newLeft }: Place): boolean {
  return oldLeft <= 0 && newLeft <= 0;
}

function lineOf(line: string, place: Place): HunkLine {
  const text = line.slice(1);
  if (line.startsWith('\\')) return { kind: 'note', text: text.trim() };
  const isAdded = line.startsWith('+');
  const isRemoved = line.startsWith('-');
  const { oldLine, newLine } = place;
  if (!isAdded) {
    place.oldLeft -= 1;
    if (oldLine !== undefined) place.oldLine = oldLine + 1;
  }
  if (!isRemoved) {
    place.newLeft -= 1;
    if (newLine !== undefined) place.newLine = newLine + 1;
  }
  return {
    kind: isAdded ? 'added' : isRemoved ? 'removed' : 'same',
    text,
    ...(isAdded || oldLine === undefined ? {} : { oldLine }),
    ...(isRemoved || newLine === undefined ? {} : { newLine }),
  };
}
