/* Verifies that the objects of a tree match their ids, and that a partial clone has all of them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import type { HashedTree } from '../../core/interfaces/store.ts';
import { listPeopleHere } from './commit-log.ts';
import { askGit, type GitDirectory, isGitFault } from './git.ts';
import { canonicalMode, isTreeMode, parseTree } from './git-object.ts';
import { formatIdentity } from './identity.ts';
import { askObjects, keepObjectReaders, type ObjectAnswer } from './object-reader.ts';
import { readObjects } from './read-objects.ts';
import type { Repository } from './repository.ts';

const maxObjects = 5_000_000;
const maxWrong = 20;
/** A directory of a million files has about 50 MiB. */
const maxTreeBytes = 128 * 1024 * 1024;

/** An object and the name under which it was first met. */
interface Named {
  readonly id: string;
  readonly name: string;
}

/**
 * Computes the id of every tree and file below `tree` from its bytes. Git trusts the name of the file, or the pack
 * index, that holds an object; in a repository that was copied from elsewhere these may be wrong. Submodules are not
 * read. Each object is read once.
 */
export async function hashTree(repository: Repository, tree: string): Promise<HashedTree> {
  const idBytes = repository.objectFormat === 'sha1' ? 20 : 32;
  const promised = await promisedBelow(repository, tree);
  const seen = new Set([tree]);
  const absent: string[] = [];
  const wrong: string[] = [];
  const sums = { trees: 0, files: 0, bytes: 0 };
  let isCut = false;
  let blobs: Named[] = [];
  let trees: Named[] = [];
  if (promised.has(tree))
    absent.push(`tree \`/\` ${tree}, which this partial clone left out: \`${fetchAll}\``);
  else trees.push({ id: tree, name: '' });
  await using readers = keepObjectReaders();
  readers.keep(repository);
  const goesOn = (): boolean => wrong.length + absent.length < maxWrong;
  const addEntries = (bytes: Buffer | undefined): void => {
    const entries = bytes && parseTree(bytes, idBytes);
    isCut ||= entries === undefined;
    for (const { mode, name, object: id } of entries ?? []) {
      if (canonicalMode(mode) === '160000' || seen.has(id)) continue;
      isCut ||= seen.size >= maxObjects;
      if (isCut) return;
      seen.add(id);
      if (!promised.has(id)) (isTreeMode(mode) ? trees : blobs).push({ id, name });
    }
  };
  const hashAll = (expected: 'tree' | 'blob', objects: readonly Named[]): Promise<void> =>
    hashObjects(repository, objects, ({ id, name }, answer) => {
      const shown = `${expected === 'tree' ? 'tree' : 'file'} \`${name === '' ? '/' : name}\` ${id}`;
      if (answer === undefined) absent.push(shown);
      else if (answer === 'damaged') wrong.push(`${shown} cannot be read`);
      else if (answer.id !== id) wrong.push(`${shown} holds ${answer.type} ${answer.id}`);
      else if (answer.type !== expected) wrong.push(`${shown} is a ${answer.type}`);
      else {
        sums[expected === 'tree' ? 'trees' : 'files'] += 1;
        sums.bytes += answer.sizeBytes;
      }
      if (typeof answer === 'object' && answer.id === id && answer.type === 'tree') addEntries(answer.bytes);
      return goesOn();
    });
  while (trees.length > 0 && goesOn()) {
    const level = trees;
    trees = [];
    await hashAll('tree', level);
    if (goesOn()) await hashAll('blob', blobs);
    blobs = [];
  }
  return { ...sums, absent, promised: promised.size, wrong, isCut, borrowed: borrowedBy(repository) };
}

/**
 * Calls `take` for each object in order, with `undefined` if git does not find the id, and `damaged` if git fails
 * while it reads the object. A damaged object costs a process, so `take` returns false to stop.
 */
async function hashObjects(
  place: GitDirectory,
  objects: readonly Named[],
  take: (object: Named, answer: ObjectAnswer | 'damaged' | undefined) => boolean,
): Promise<void> {
  const enough = new Error('enough');
  for (let begin = 0; begin < objects.length; ) {
    const rest = objects.slice(begin);
    const next = (answer: ObjectAnswer | 'damaged' | undefined): void => {
      const object = objects[begin];
      begin += 1;
      if (object && !take(object, answer)) throw enough;
    };
    try {
      const names = rest.map(({ id }) => id);
      const give = (_: number, answer: ObjectAnswer | undefined): void => next(answer);
      await askObjects(place, { names, command: 'hash', maxBytes: maxTreeBytes, take: give }).catch(
        (fault) => {
          if (!isGitFault(fault)) throw fault;
          next('damaged');
        },
      );
    } catch (fault) {
      if (fault === enough) return;
      throw fault;
    }
  }
}

/** The ids, of a tree and of what is below it, that a partial clone left out; empty elsewhere. git would fetch them. */
export async function promisedBelow(repository: Repository, tree: string): Promise<ReadonlySet<string>> {
  if (repository.isWhole) return new Set();
  // Packs that a partial clone fetched have a `.promisor` file (partial-clone.txt).
  if (!namesIn(join(repository.objectsDir, 'pack')).some((name) => name.endsWith('.promisor')))
    return new Set();
  const args = ['rev-list', '--objects', '--no-object-names', '--missing=print', '--end-of-options', tree];
  const listed = await askGit(repository, args, { maxBytes: maxObjects * 66 });
  // Git before 2.45 does not list the tree itself. An error before this line is damage.
  if (listed.code !== 0) return new Set(listed.stderr.trim() === `fatal: bad object ${tree}` ? [tree] : []);
  const lines = listed.stdout.toString('latin1').split('\n');
  return new Set(lines.flatMap((line) => (line.startsWith('?') ? [line.slice(1)] : [])));
}

/** Alternates outside of the repository. writ's own object store is inside. */
function borrowedBy({ objectsDir, commonDir }: Repository): readonly string[] {
  return linesOf(join(objectsDir, 'info', 'alternates'))
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => resolve(objectsDir, line))
    .filter((path) => !path.startsWith(`${commonDir}/`));
}

function linesOf(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return [];
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

const fetchAll = 'git fetch --refetch --no-filter';

/**
 * Throws OBJECTS_MISSING if a partial clone lacks objects of one of these trees. writ never lets git fetch them
 * during a run: the network and the user's credentials are not for a run.
 */
export async function requireObjects(repository: Repository, trees: readonly string[]): Promise<void> {
  if (repository.isWhole) return;
  for (const tree of new Set(trees)) {
    const missing = await promisedBelow(repository, tree);
    if (missing.size === 0) continue;
    throw new WritError('OBJECTS_MISSING', {
      message: `${missing.size} objects of the tree \`${tree.slice(0, 12)}\` are not in this partial clone; a run needs all of them`,
      detail: { tree, missing: missing.size, objects: [...missing].slice(0, 10) },
      hints: [`fetch them: \`${fetchAll}\``],
    });
  }
}

interface EvidenceReader {
  hashTree(tree: string): Promise<HashedTree>;
  /**
   * Reads a file of a commit. `bytes` is absent if the commit has no such file; `undefined` if there is no such
   * commit.
   */
  readAt(commit: string, path: string): Promise<{ readonly bytes?: Uint8Array } | undefined>;
  /** Authors and committers of `base..tip` as `Name <mail>`; empty if some commits are not in this clone. */
  listPeople(base: string | null, tip: string): Promise<readonly string[]>;
}

/** What a verifier reads from the repository of a sealed commit, before and after the branch moves. */
export function evidenceReader(repository: Repository): EvidenceReader {
  return {
    hashTree: (tree) => hashTree(repository, tree),
    readAt: async (commit, path) => {
      const [known, file] = await readObjects(repository, [commit, `${commit}:${path}`]);
      if (known?.type !== 'commit') return undefined;
      return file?.type === 'blob' ? { bytes: file.bytes } : {};
    },
    listPeople: async (base, tip) => {
      const { authors, committers } = await listPeopleHere(repository, base ?? undefined, tip);
      return [...authors, ...committers].map(formatIdentity);
    },
  };
}
