import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { HashedTree } from '../../core/interfaces/store.ts';
import { askGit, type GitDirectory } from './git.ts';
import { keepObjectReaders, type LentGit, lendGit } from './object-reader.ts';
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

/** One object as its bytes are here, whatever the file that holds it is called. */
interface HashedObject {
  readonly type: string;
  readonly sizeBytes: number;
  /** Id of these bytes, in the repository's hash. */
  readonly id: string;
  /** The bytes of a tree of at most {@link maxTreeBytes}. */
  readonly tree: Buffer | undefined;
}

/**
 * `absent`: git finds none of that name, or none that it can begin to read. `damaged`: git gave up in the middle of it.
 */
type HashAnswer = HashedObject | 'absent' | 'damaged';

/** Most octets of one tree that are held; a directory of a million files has about 50 MiB. */
const maxTreeBytes = 128 * 1024 * 1024;

const maxHeaderBytes = 4096;
const lineFeed = 10;

/**
 * Reckons ids from the bytes of objects, which git does not do when it reads them; blobs are hashed as they stream by
 * and never held. Hands every id's answer to `take`, in the order asked; a damaged object costs a git, so `take` may
 * say `false`: that is enough.
 */
async function hashObjects(
  place: GitDirectory,
  ids: readonly string[],
  take: (id: string, answer: HashAnswer) => boolean,
): Promise<void> {
  for (let begin = 0; begin < ids.length; )
    await lendGit(place, async (git) => {
      const answers = new HashAnswers(git, place.objectFormat);
      const asked = ids.slice(begin).map((id) => `contents ${id}\n`);
      git.stdin.write(`${asked.join('')}flush\n`);
      while (begin < ids.length) {
        const answer = await answers.next();
        if (answer === 'damaged' && git.isUsed && answers.isUntouched) return false;
        const isEnough = !take(ids[begin] ?? '', answer);
        begin = isEnough ? ids.length : begin + 1;
        if (isEnough || answer === 'damaged') return false;
      }
      return answers.isRead;
    });
}

/** What git says, cut into answers. */
class HashAnswers {
  readonly #git: LentGit;
  readonly #format: GitDirectory['objectFormat'];
  #held: Buffer = Buffer.alloc(0);
  /** It has said nothing yet. */
  isUntouched = true;

  constructor(git: LentGit, format: GitDirectory['objectFormat']) {
    this.#git = git;
    this.#format = format;
  }

  /** Nothing of what it said is left. */
  get isRead(): boolean {
    return this.#held.length === 0;
  }

  async next(): Promise<HashAnswer> {
    const header = await this.#line();
    if (header === undefined) return 'damaged';
    const [, type = '', size = ''] = /^[0-9a-f]+ (\w+) (\d+)$/.exec(header) ?? [];
    return type === '' ? 'absent' : this.#body(type, Number(size));
  }

  async #body(type: string, sizeBytes: number): Promise<HashAnswer> {
    const hash = createHash(this.#format).update(`${type} ${sizeBytes}\0`);
    const parts: Buffer[] | undefined = type === 'tree' && sizeBytes <= maxTreeBytes ? [] : undefined;
    for (let left = sizeBytes; left > 0; ) {
      if (this.#held.length === 0 && !(await this.#more())) return 'damaged';
      const part = this.#held.subarray(0, left);
      this.#held = this.#held.subarray(part.length);
      left -= part.length;
      hash.update(part);
      parts?.push(part);
    }
    if (this.#held.length === 0 && !(await this.#more())) return 'damaged';
    this.#held = this.#held.subarray(1);
    return { type, sizeBytes, id: hash.digest('hex'), tree: parts && Buffer.concat(parts) };
  }

  async #line(): Promise<string | undefined> {
    for (;;) {
      const end = this.#held.indexOf(lineFeed);
      if (end >= 0) {
        const line = this.#held.toString('latin1', 0, end);
        this.#held = this.#held.subarray(end + 1);
        return line;
      }
      if (this.#held.length > maxHeaderBytes || !(await this.#more())) return undefined;
    }
  }

  /** Another piece of what git says; `false` where it has ended. */
  async #more(): Promise<boolean> {
    const next = await this.#git.chunks.next();
    if (next.done === true) return false;
    this.isUntouched = false;
    this.#held = this.#held.length === 0 ? next.value : Buffer.concat([this.#held, next.value]);
    return true;
  }
}
