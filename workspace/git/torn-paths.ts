/* Decides for each path whether its content is the user's or what a killed git left. */
import { lstat, readFile, rmdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { askGit, maxListBytes, runGit } from './git.ts';
import { type ChangedEntry, type EntrySide, fileAt, toIndexInfo, withEmptyIndex } from './held-index.ts';
import type { Repository } from './repository.ts';

/**
 * `done`: the wanted content; `ours`: content of writ or git that may be replaced; `absent`: nothing; `left`: content
 * of the user.
 */
type TornState = 'done' | 'ours' | 'absent' | 'left';

interface PlacedSide {
  readonly path: string;
  readonly after: EntrySide | undefined;
}

const maxBlobBytes = 1024 * 1024 * 1024;
const linkMode = '120000';
const submoduleMode = '160000';

/**
 * Classifies each path after a git was killed between two trees: the content before, the content after, a beginning
 * of it, or nothing at all is git's; all other content is the user's. git itself compares files with content, so its
 * rules for line endings, encodings, modes and symlinks apply.
 */
export async function classifyPaths(
  repo: Repository,
  changes: readonly ChangedEntry[],
): Promise<ReadonlyMap<string, TornState>> {
  const states = new Map<string, TornState>();
  const present: ChangedEntry[] = [];
  for (const change of changes) {
    const { path, after } = change;
    const full = fileAt(repo.root, path);
    const found = (await isBelowFile(repo.root, path)) ? 'below' : await lstat(full).catch(() => undefined);
    if (found === undefined) states.set(path, 'absent');
    // A path through a file or link, or one that is a directory now, counts as removed.
    else if (found === 'below' || found.isDirectory()) states.set(path, await classifyOther(full, after));
    else if (found.isFile() || found.isSymbolicLink()) present.push(change);
    else states.set(path, 'left');
  }
  const done = await unchangedPaths(repo, present);
  const others = present.filter(({ path }) => !done.has(path));
  const befores = others.map(({ path, before }) => ({ path, after: before }));
  const ours = await unchangedPaths(repo, befores);
  for (const { path } of present) if (done.has(path)) states.set(path, 'done');
  for (const { path, after } of others) {
    const isOurs = ours.has(path) || (await isWrittenFor(repo, path, after));
    states.set(path, isOurs ? 'ours' : 'left');
  }
  return states;
}

/** The paths at which git finds no difference between the file and the given side. */
export async function unchangedPaths(
  repo: Repository,
  sides: readonly PlacedSide[],
): Promise<ReadonlySet<string>> {
  const files = sides.filter(({ after }) => after !== undefined && after.mode !== submoduleMode);
  if (files.length === 0) return new Set();
  return withEmptyIndex(repo, async (index) => {
    const input = Buffer.from(toIndexInfo(repo, files), 'latin1');
    await runGit(index, ['update-index', '-z', '--index-info'], { input });
    // Marks equal files in the index; its exit code only says that some differ.
    await askGit(index, ['update-index', '-q', '--refresh'], { maxBytes: maxListBytes });
    const args = ['diff-files', '-z', '--name-only', '--no-ext-diff', '--no-renames'];
    const listed = await runGit(index, args, { maxBytes: maxListBytes });
    const differing = new Set(listed.toString('latin1').split('\0'));
    return new Set(files.map(({ path }) => path).filter((path) => !differing.has(path)));
  });
}

export async function isBelowFile(root: string, path: string): Promise<boolean> {
  for (let above = dirname(path); above !== '.'; above = dirname(above)) {
    const found = await lstat(fileAt(root, above)).catch(() => undefined);
    if (found !== undefined && !found.isDirectory()) return true;
  }
  return false;
}

/** An empty directory may be removed; git does not know it. */
async function classifyOther(full: Buffer, after: EntrySide | undefined): Promise<TornState> {
  if (after === undefined) return 'absent';
  return rmdir(full).then(
    () => 'absent',
    () => 'left',
  );
}

/**
 * True if the file is a beginning of what git writes for this side. The whole content with another mode is a change
 * of the user.
 */
async function isWrittenFor(repo: Repository, path: string, side: EntrySide | undefined): Promise<boolean> {
  const full = fileAt(repo.root, path);
  const found = await lstat(full);
  // A line break would end the request.
  if (side === undefined || side.mode === linkMode || !found.isFile() || path.includes('\n')) return false;
  const input = Buffer.from(`${side.object} ${path}\n`, 'latin1');
  const answer = await runGit(repo, ['cat-file', '--batch', '--filters'], { input, maxBytes: maxBlobBytes });
  const whole = answer.subarray(answer.indexOf('\n') + 1, -1);
  if ((await stat(full)).size > whole.length) return false;
  const bytes = await readFile(full);
  if (!whole.subarray(0, bytes.length).equals(bytes)) return false;
  const isExecutable = (found.mode & 0o100) !== 0;
  return bytes.length < whole.length || isExecutable === (side.mode === '100755');
}
