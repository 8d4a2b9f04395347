import { sha256Hex } from '../../core/base/digest.ts';

/** What is known of a row that can be tried. */
export interface TriedRow {
  /** Id of the row. */
  readonly name: string;
  /** Of its reader. */
  readonly file: string;
  /** Of its test: a file, or the directory of a run case. */
  readonly test: string;
}

/**
 * A tenth of these rows, always the same: by the digests of their ids, so that nobody chooses the easy ones. A new row
 * takes the place of one at most.
 */
export function fixedTenth<Row extends TriedRow>(rows: readonly Row[]): readonly Row[] {
  return shuffled(rows, '').slice(0, Math.floor(rows.length / 10));
}

/**
 * The rows whose reader or test is among these files, those with a changed reader first; in an order that another seed
 * makes another one.
 */
export function touchedRows<Row extends TriedRow>(
  rows: readonly Row[],
  files: readonly string[],
  seed: string,
): readonly Row[] {
  const isTouched = (path: string): boolean =>
    files.some((file) => file === path || file.startsWith(`${path}/`));
  const read = rows.filter(({ file }) => isTouched(file));
  const tested = rows.filter((row) => !read.includes(row) && isTouched(row.test));
  return [...shuffled(read, seed), ...shuffled(tested, seed)];
}

function shuffled<Row extends TriedRow>(rows: readonly Row[], seed: string): readonly Row[] {
  const rank = new Map(rows.map((row) => [row, sha256Hex(Buffer.from(`${seed}${row.name}`))]));
  return rows.toSorted((a, b) => ((rank.get(a) ?? '') < (rank.get(b) ?? '') ? -1 : 1));
}
