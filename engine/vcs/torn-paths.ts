import { lstat, readFile, readlink, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { readObjects } from './blobs.ts';
import type { ChangedEntry, EntrySide } from './changed-entries.ts';
import { runGit } from './git.ts';
import type { Repository } from './repository.ts';

/**
 * What stands at a path: what shall stand there (`done`), something that writ or git put there and that may go
 * (`ours`), nothing (`absent`), or something of the person's (`left`).
 */
export type TornState = 'done' | 'ours' | 'absent' | 'left';

const maxBlobBytes = 1024 * 1024 * 1024;
const linkMode = '120000';

/**
 * Tells for each path what a git that was killed between two trees left from what the person wrote: the content before,
 * the content after, a beginning of it, or nothing at all is git's. Content is compared as git sees it, line endings
 * and encodings converted.
 */
export async function classifyPaths(
  repo: Repository,
  changes: readonly ChangedEntry[],
): Promise<ReadonlyMap<string, TornState>> {
  const states = new Map<string, TornState>();
  const regular: { readonly change: ChangedEntry; readonly isExecutable: boolean }[] = [];
  for (const change of changes) {
    const { path, after } = change;
    const full = join(repo.root, path);
    const found = (await isBelowFile(repo.root, path)) ? 'below' : await lstat(full).catch(() => undefined);
    if (found === undefined) states.set(path, 'absent');
    // What is to go is not there: the path leads through a file or a link, or is a directory by now.
    else if (found === 'below' || found.isDirectory()) states.set(path, await classifyOther(full, after));
    else if (found.isSymbolicLink()) states.set(path, await classifyLink(repo, change));
    else if (found.isFile()) regular.push({ change, isExecutable: (found.mode & 0o100) !== 0 });
    else states.set(path, 'left');
  }
  const hashes = await hashFiles(
    repo,
    regular.map(({ change }) => change.path),
  );
  for (const [index, { change, isExecutable }] of regular.entries())
    states.set(change.path, await classifyFile(repo, change, hashes[index], isExecutable));
  return states;
}

/** True if a directory of the path is a file or a symlink. */
export async function isBelowFile(root: string, path: string): Promise<boolean> {
  for (let above = dirname(path); above !== '.'; above = dirname(above)) {
    const found = await lstat(join(root, above)).catch(() => undefined);
    if (found !== undefined && !found.isDirectory()) return true;
  }
  return false;
}

/** An empty directory is nobody's loss; git does not know of it. */
async function classifyOther(full: string, after: EntrySide | undefined): Promise<TornState> {
  if (after === undefined) return 'absent';
  return rmdir(full).then(
    () => 'absent',
    () => 'left',
  );
}

async function classifyLink(repo: Repository, { path, before, after }: ChangedEntry): Promise<TornState> {
  const text = await readlink(join(repo.root, path), 'buffer');
  const points = async (side: EntrySide | undefined): Promise<boolean> => {
    if (side?.mode !== linkMode) return false;
    const [object] = await readObjects(repo, [side.object]);
    return object?.bytes.equals(text) === true;
  };
  if (await points(after)) return 'done';
  return (await points(before)) ? 'ours' : 'left';
}

async function classifyFile(
  repo: Repository,
  { path, before, after }: ChangedEntry,
  hash: string | undefined,
  isExecutable: boolean,
): Promise<TornState> {
  const isContentOf = (side: EntrySide | undefined): boolean =>
    side !== undefined && side.mode !== linkMode && side.object === hash;
  if (isContentOf(after)) return isExecutable === (after?.mode === '100755') ? 'done' : 'ours';
  if (isContentOf(before)) return 'ours';
  if (after === undefined || after.mode === linkMode) return 'left';
  return (await isBeginning(repo, path, after)) ? 'ours' : 'left';
}

async function isBeginning(repo: Repository, path: string, after: EntrySide): Promise<boolean> {
  const full = join(repo.root, path);
  const args = ['cat-file', '--filters', `--path=${path}`, after.object];
  const whole = await runGit(repo, args, { maxBytes: maxBlobBytes });
  if ((await stat(full)).size > whole.length) return false;
  const found = await readFile(full);
  return whole.subarray(0, found.length).equals(found);
}

/** Blob ids of files as git would store them, in the order asked. */
async function hashFiles(repo: Repository, paths: readonly string[]): Promise<readonly string[]> {
  if (paths.length === 0) return [];
  const input = paths.map((path) => `${quoted(path)}\n`).join('');
  const hashed = (await runGit(repo, ['hash-object', '--stdin-paths'], { input })).toString('latin1');
  const ids = hashed.trimEnd().split('\n');
  if (ids.length === paths.length) return ids;
  throw new WritError('GIT_FAILED', {
    message: `expected ${paths.length} ids from \`git hash-object\`, found ${ids.length}`,
    detail: { command: 'hash-object' },
  });
}

/** Git reads a line that begins with a quote as a C string. */
function quoted(path: string): string {
  return /["\n]/.test(path) ? `"${path.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\n')}"` : path;
}
