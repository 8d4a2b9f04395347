import { compileGlob } from '../../core/base/glob.ts';
import type { PatchFile, PatchSet } from '../../core/interfaces/patch-set.ts';
import type { FileSides, Rule } from '../../core/interfaces/rule.ts';
import type { GitDirectory } from '../../workspace/git/git.ts';
import { readBlobs } from '../../workspace/git/read-objects.ts';
import { listTree } from '../../workspace/git/tree.ts';

/** Byte limit for the files passed to one rule; above it, the rule refuses. */
const maxFileBytes = 256 * 1024 * 1024;

/**
 * Returns the content of the files that a rule declares, at base and candidate. Empty if no changed file is among
 * them. Throws INPUT_TOO_LARGE.
 */
export async function readRuleFiles(
  objects: GitDirectory,
  patch: PatchSet,
  rule: Pick<Rule, 'reads' | 'readsUnchanged'>,
): Promise<Record<string, FileSides>> {
  const isRead = pathMatcher(rule.reads ?? []);
  const wanted = patch.files.filter(
    ({ path, oldPath }) => isRead(path) || (oldPath !== undefined && isRead(oldPath)),
  );
  if (wanted.length === 0) return {};
  const unchanged = rule.readsUnchanged ? await listUnchanged(objects, patch, isRead) : [];
  const [base, candidate] = await Promise.all([
    readBlobs(
      objects,
      patch.baseTree,
      wanted.map((file) => file.oldPath ?? file.path),
      maxFileBytes,
    ),
    readBlobs(objects, patch.candidateTree, [...wanted.map(({ path }) => path), ...unchanged], maxFileBytes),
  ]);
  const sides = (file: PatchFile): FileSides =>
    toSides(base.get(file.oldPath ?? file.path), candidate.get(file.path));
  return Object.fromEntries([
    ...wanted.map((file) => [file.path, sides(file)] as const),
    ...unchanged.map((path) => [path, toSides(candidate.get(path), candidate.get(path))] as const),
  ]);
}

async function listUnchanged(
  objects: GitDirectory,
  patch: PatchSet,
  isRead: (path: string) => boolean,
): Promise<readonly string[]> {
  const changed = new Set(patch.files.map(({ path }) => path));
  const tree = await listTree(objects, patch.candidateTree);
  return tree
    .filter(({ path, mode }) => mode.startsWith('100') && !changed.has(path) && isRead(path))
    .map(({ path }) => path);
}

/** The matcher runs over a whole tree, so a pattern that names one file is looked up, not matched. */
function pathMatcher(patterns: readonly string[]): (path: string) => boolean {
  const names = new Set<string>();
  const globs = patterns.flatMap((pattern) => {
    const name = /^\*\*\/([\w.-]+)$/.exec(pattern)?.[1];
    if (name === undefined) return [compileGlob(pattern)];
    names.add(name);
    return [];
  });
  return (path) =>
    names.has(path.slice(path.lastIndexOf('/') + 1)) || globs.some((glob) => glob.matches(path));
}

function toSides(base: Buffer | undefined, candidate: Buffer | undefined): FileSides {
  return { ...(base ? { base } : {}), ...(candidate ? { candidate } : {}) };
}
