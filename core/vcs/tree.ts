import { type GitDirectory, runGit } from './git.ts';

/** One path of a tree. `mode` is six octal digits: 100644, 100755, 120000 (symlink), 160000 (submodule). */
export interface TreeEntry {
  readonly path: string;
  readonly mode: string;
  readonly object: string;
  /** Bytes of the blob; 0 for a submodule. */
  readonly sizeBytes: number;
}

const maxListBytes = 512 * 1024 * 1024;

/** Every path under a tree or commit in git's order; `under` limits it to one directory (no trailing slash). */
export async function listTree(
  place: GitDirectory,
  treeish: string,
  under = '',
): Promise<readonly TreeEntry[]> {
  const paths = under === '' ? [] : [under];
  const listed = await runGit(
    place,
    ['ls-tree', '-r', '-l', '-z', '--full-tree', '--end-of-options', treeish, ...paths],
    {
      maxBytes: maxListBytes,
    },
  );
  return parseRecords(listed);
}

/** The names directly in a tree: what tells directories from words in a scope. `under` is a directory, '' the root. */
export async function listNames(
  place: GitDirectory,
  treeish: string,
  under = '',
): Promise<ReadonlySet<string>> {
  const paths = under === '' ? [] : [`${under}/`];
  const listed = await runGit(
    place,
    ['ls-tree', '-z', '--name-only', '--full-tree', '--end-of-options', treeish, ...paths],
    {
      maxBytes: maxListBytes,
    },
  );
  const names = listed
    .toString('utf8')
    .split('\0')
    .filter((name) => name !== '');
  return new Set(names.map((name) => name.slice(under === '' ? 0 : under.length + 1)));
}

function parseRecords(listed: Buffer): readonly TreeEntry[] {
  const entries: TreeEntry[] = [];
  for (let at = 0; at < listed.length; ) {
    const end = listed.indexOf(0, at);
    const tab = listed.indexOf(9, at);
    if (end < 0 || tab < 0 || tab > end) break;
    const [mode = '', , object = '', size = ''] = listed.toString('latin1', at, tab).split(/ +/);
    entries.push({
      path: listed.toString('utf8', tab + 1, end),
      mode,
      object,
      sizeBytes: Number.parseInt(size, 10) || 0,
    });
    at = end + 1;
  }
  return entries;
}
