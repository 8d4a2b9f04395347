import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { HashedTree } from '../../core/contract/hashed-tree.ts';
import { askGit } from './git.ts';
import { type HashAnswer, hashObjects } from './hash-objects.ts';
import { keepObjectReaders } from './object-reader.ts';
import type { Repository } from './repository.ts';
import { canonicalMode, isTreeMode, parseTree } from './tree-object.ts';

const maxObjects = 5_000_000;
const maxWrong = 20;

/**
 * Reckons the id of every tree and file below `tree` from its bytes. git takes an object to be what the file that holds
 * it is called, or what an index says, and a repository that was handed over may be wrong about that; what is fetched
 * is hashed by git as it arrives. Submodules are other repositories and are not looked at. Each object once, however
 * often it stands in the tree.
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
  let trees: readonly Named[] = promised.has(tree) ? [] : [{ id: tree, name: '' }];
  await using readers = keepObjectReaders();
  readers.keep(repository);
  /** Counts one answer; whether to go on. */
  const judge = (expected: 'tree' | 'blob', { id, name }: Named, answer: HashAnswer): boolean => {
    if (answer === 'absent') absent.push(`${named(expected, name, id)}`);
    else if (answer === 'damaged') wrong.push(`${named(expected, name, id)} cannot be read`);
    else if (answer.id !== id) wrong.push(`${named(expected, name, id)} holds ${answer.type} ${answer.id}`);
    else if (answer.type !== expected) wrong.push(`${named(expected, name, id)} is a ${answer.type}`);
    else {
      sums[expected === 'tree' ? 'trees' : 'files'] += 1;
      sums.bytes += answer.sizeBytes;
    }
    return wrong.length + absent.length < maxWrong;
  };
  const open = (bytes: Buffer | undefined): readonly Named[] => {
    const inside: Named[] = [];
    const entries = bytes && parseTree(bytes, idBytes);
    isCut ||= entries === undefined;
    for (const { mode, name, object: id } of entries ?? []) {
      if (canonicalMode(mode) === '160000' || seen.has(id)) continue;
      isCut ||= seen.size >= maxObjects;
      if (isCut) return inside;
      seen.add(id);
      if (!promised.has(id)) (isTreeMode(mode) ? inside : blobs).push({ id, name });
    }
    return inside;
  };
  const ask = (
    expected: 'tree' | 'blob',
    asked: readonly Named[],
    found: (bytes: Buffer | undefined) => void,
  ) => {
    let index = 0;
    const ids = asked.map(({ id }) => id);
    return hashObjects(repository, ids, (id, answer) => {
      const goOn = judge(expected, asked[index] ?? { id, name: '' }, answer);
      index += 1;
      if (typeof answer === 'object' && answer.id === id && answer.type === 'tree') found(answer.tree);
      return goOn;
    });
  };
  const isOn = (): boolean => wrong.length + absent.length < maxWrong;
  while (trees.length > 0 && isOn()) {
    const inside: Named[] = [];
    await ask('tree', trees, (bytes) => {
      for (const one of open(bytes)) inside.push(one);
    });
    trees = inside;
    if (isOn()) await ask('blob', blobs, () => {});
    blobs = [];
  }
  return { ...sums, absent, promised: promised.size, wrong, isCut, borrowed: await borrowedBy(repository) };
}

/** An object and what it is called where it was first met. */
interface Named {
  readonly id: string;
  readonly name: string;
}

function named(expected: 'tree' | 'blob', name: string, id: string): string {
  return `${expected === 'tree' ? 'tree' : 'file'} \`${name === '' ? '/' : name}\` ${id}`;
}

/**
 * What a partial clone left behind of a tree: asking for it would make git try to fetch it, and give up. Nothing in any
 * other repository.
 */
export async function promisedBelow(repository: Repository, tree: string): Promise<ReadonlySet<string>> {
  if (repository.isWhole) return new Set();
  // What a partial clone fetches is in packs with a file of this name (partial-clone.txt).
  const packs = await readdir(join(repository.objectsDir, 'pack')).catch(() => []);
  if (!packs.some((name) => name.endsWith('.promisor'))) return new Set();
  const args = ['rev-list', '--objects', '--no-object-names', '--missing=print', '--end-of-options', tree];
  const listed = await askGit(repository, args, { maxBytes: maxObjects * 66 });
  const lines = listed.code === 0 ? listed.stdout.toString('latin1').split('\n') : [];
  return new Set(lines.flatMap((line) => (line.startsWith('?') ? [line.slice(1)] : [])));
}

/** What `objects/info/alternates` names outside of the repository; our own store of content lies in it. */
async function borrowedBy({ objectsDir, commonDir }: Repository): Promise<readonly string[]> {
  const text = await readFile(join(objectsDir, 'info', 'alternates'), 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => resolve(objectsDir, line))
    .filter((path) => !path.startsWith(`${commonDir}/`));
}
