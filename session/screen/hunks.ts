import type { Snapshot } from '../state/snapshot.ts';

type Patchset = Snapshot['patchsets'][number];
type Reviews = NonNullable<Snapshot['reviews']>;

/** One line of a hunk, as it stands in the file: not yet fit to be shown. */
export interface HunkLine {
  readonly kind: 'added' | 'removed' | 'same' | 'note';
  readonly text: string;
  /** From 1; absent where the line is not on that side, or the hunk does not say where it stands. */
  readonly oldLine?: number;
  readonly newLine?: number;
}

/** A hunk of a file, with what was said of it. */
export interface ShownHunk {
  readonly patchset: string;
  readonly path: string;
  readonly id: string;
  readonly header: string;
  /** None for what has no lines (binary, a rename alone). */
  readonly lines: readonly HunkLine[];
  readonly verdict?: 'keep' | 'reject';
  readonly comment?: string;
}

/** Every hunk of a patchset that can be reviewed, file by file, as both screens list them. Pure; runs in a browser. */
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

/** The hunks of a unified diff, in order. A header without numbers holds every line up to the next one. */
export function readHunks(
  diff: string,
): readonly { readonly header: string; readonly lines: readonly HunkLine[] }[] {
  const hunks: { header: string; lines: HunkLine[] }[] = [];
  let place: Place | undefined;
  const lines = diff.split('\n');
  if (lines.at(-1) === '') lines.pop();
  for (const text of lines) {
    if (text.startsWith('@@')) {
      hunks.push({ header: text, lines: [] });
      place = placeOf(text);
    } else if (place !== undefined && (!isOver(place) || text.startsWith('\\'))) {
      hunks.at(-1)?.lines.push(lineOf(text, place));
    }
  }
  return hunks;
}

/** Where in both files the next line stands, and how many are left: without numbers all until the next header. */
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
