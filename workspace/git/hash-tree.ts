/*
 * Verifies that git shows the objects that are there: ids match, none is missing, and no replace ref or graft hides
 * one.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import type { HashedTree } from '../../core/interfaces/store.ts';
import { formatIdentity, listPeopleHere } from './commit-log.ts';
import { askGit, type GitDirectory, gitFields, isGitFault, runGit, tryGit } from './git.ts';
import { canonicalMode, isTreeMode, parseCommit, parseTree } from './git-object.ts';
import { askObjects, keepObjectReaders, type ObjectAnswer } from './object-reader.ts';
import { readObjects } from './read-objects.ts';
import { hasNoRefsBelow } from './ref-files.ts';
import { matchRefs } from './refs.ts';
import { isObjectId, type Repository, resolveId } from './repository.ts';

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
async function promisedBelow(repository: Repository, tree: string): Promise<ReadonlySet<string>> {
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

/** The names in a directory; none where it cannot be read. */
export function namesIn(directory: string): readonly string[] {
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
      hints: [
        `fetch them: \`${fetchAll}\`; objects of a commit that no refspec of the clone covers, such as a pull request: \`${fetchAll} REMOTE REF\``,
      ],
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

interface Replacements {
  /** Ids for which plain git reads another object (`refs/replace`). */
  readonly objects: ReadonlySet<string>;
  /** Parents that plain git shows for a commit (`info/grafts`). */
  readonly grafts: ReadonlyMap<string, readonly string[]>;
}

const prefix = 'refs/replace/';

/** The replacements that git follows here; none if `core.useReplaceRefs` is off. */
export async function readReplacements(repository: Repository): Promise<Replacements> {
  const [objects, grafts] = await Promise.all([readReplaceRefs(repository), readGrafts(repository)]);
  return { objects, grafts };
}

async function readReplaceRefs(repository: Repository): Promise<ReadonlySet<string>> {
  if (hasNoRefsBelow(repository, 'refs/replace')) return new Set();
  // As git reads them: the last part of the name, in upper or lower case.
  const ids = (await matchRefs(repository, [prefix]))
    .map(({ ref }) => ref.slice(ref.lastIndexOf('/') + 1).toLowerCase())
    .filter(isObjectId);
  return new Set(ids.length > 0 && (await followsReplaceRefs(repository)) ? ids : []);
}

async function followsReplaceRefs(repository: Repository): Promise<boolean> {
  return (await tryGit(repository, ['config', '--type=bool', '--get', 'core.useReplaceRefs'])) !== 'false';
}

/**
 * A line is a commit and its parents, in upper or lower case, separated by one white space, up to a NUL; the first
 * line of a commit counts. git skips what it cannot read.
 */
async function readGrafts({ commonDir }: Repository): Promise<Replacements['grafts']> {
  const grafts = new Map<string, readonly string[]>();
  for (const line of readText(join(commonDir, 'info', 'grafts')).split('\n')) {
    const [said = ''] = withoutEnd(line).split('\0', 1);
    const [commit = '', ...parents] = said.toLowerCase().split(/[ \t\r]/);
    const isRead = [commit, ...parents].every((id) => isObjectId(id) && id.length === commit.length);
    if (isRead && !grafts.has(commit)) grafts.set(commit, parents);
  }
  return grafts;
}

/** Trims only what git regards as white space. */
function withoutEnd(line: string): string {
  let end = line.length;
  while (end > 0 && ' \t\r'.includes(line.charAt(end - 1))) end -= 1;
  return line.slice(0, end);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch (fault) {
    if (['ENOENT', 'ENOTDIR'].includes((fault as NodeJS.ErrnoException).code ?? '')) return '';
    throw fault;
  }
}

/**
 * What plain git shows differently for `commit`: the tags that name it (`target`), the commit, its tree and
 * everything in it, its parents and theirs. At most twenty short texts.
 */
export async function effectsOn(
  repository: Repository,
  { objects, grafts }: Replacements,
  { target, commit, raw }: { readonly target: string; readonly commit: string; readonly raw: Uint8Array },
): Promise<readonly string[]> {
  const parents = parseCommit(raw)?.parents ?? [];
  const effects: string[] = [];
  const grafted = grafts.get(commit);
  if (grafted !== undefined && grafted.join(' ') !== parents.join(' '))
    effects.push(`parents of ${commit} (info/grafts)`);
  if (objects.size === 0) return effects;
  for (const tag of await tagsOf(repository, target))
    if (objects.has(tag)) effects.push(`tag ${tag} (refs/replace)`);
  for (const one of [commit, ...parents]) {
    if (objects.has(one)) effects.push(`commit ${one} (refs/replace)`);
    for (const { id, path } of await entriesOf(repository, one))
      if (objects.has(id)) effects.push(`${path} ${id} (refs/replace)`);
  }
  return [...new Set(effects)].slice(0, 20);
}

/** Tag objects between a name and its commit. */
async function tagsOf(repository: Repository, target: string): Promise<readonly string[]> {
  const tags: string[] = [];
  let name = target;
  for (let depth = 0; depth < 16; depth += 1) {
    const id = await resolveId(repository, `${name}^{tag}`);
    if (id === undefined) return tags;
    tags.push(id);
    const tag = await runGit(repository, ['cat-file', 'tag', id]);
    const next = /^object ([0-9a-f]+)\ntype tag\n/.exec(tag.toString('latin1', 0, 200))?.[1];
    if (next === undefined) return tags;
    name = next;
  }
  return tags;
}

/** The tree of a commit and everything below it; empty if the commit is not in this clone. */
async function entriesOf(
  repository: Repository,
  commit: string,
): Promise<readonly { readonly id: string; readonly path: string }[]> {
  const tree = await resolveId(repository, `${commit}^{tree}`);
  if (tree === undefined) return [];
  const listed = await gitFields(repository, ['ls-tree', '-r', '-t', '-z', '--full-tree', tree]);
  const entries = listed.flatMap((line) => {
    const [, id, path] = /^\d+ \w+ ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
    return id === undefined || path === undefined ? [] : [{ id, path: `\`${path}\`` }];
  });
  return [{ id: tree, path: 'tree' }, ...entries];
}
