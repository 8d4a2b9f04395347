import { type GitDirectory, runGit } from './git.ts';
import type { NameEncoding } from './tree-object.ts';

/** One side of a change: what stands at the path. */
export interface EntrySide {
  /** Six octal digits. */
  readonly mode: string;
  readonly object: string;
}

/** A path at which two trees differ; a side that is `undefined` has nothing there. */
export interface ChangedEntry {
  readonly path: string;
  readonly before: EntrySide | undefined;
  readonly after: EntrySide | undefined;
}

const maxListBytes = 512 * 1024 * 1024;

/**
 * Where two trees or commits differ, file by file, in git's order; a rename is two entries. With `latin1` a path is its
 * bytes (`byte-path.ts`), which writing to an index or to files needs.
 */
export async function changedEntries(
  place: GitDirectory,
  before: string,
  after: string,
  names: NameEncoding = 'utf8',
): Promise<readonly ChangedEntry[]> {
  const args = ['diff-tree', '-r', '-z', '--no-renames', '--no-ext-diff', '--end-of-options', before, after];
  const fields = (await runGit(place, args, { maxBytes: maxListBytes })).toString(names).split('\0');
  const entries: ChangedEntry[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [oldMode = '', newMode = '', oldObject = '', newObject = ''] = (fields[at] ?? '')
      .slice(1)
      .split(' ');
    entries.push({
      path: fields[at + 1] ?? '',
      before: toSide(oldMode, oldObject),
      after: toSide(newMode, newObject),
    });
  }
  return entries;
}

function toSide(mode: string, object: string): EntrySide | undefined {
  return mode === '000000' ? undefined : { mode, object };
}
