import { WritError } from '../base/errors.ts';
import { type GitDirectory, gitFailed, startGit, withGit } from './git.ts';

const defaultMaxTotalBytes = 256 * 1024 * 1024;
const lineFeed = 10;

/** Content of one path of a tree or commit, or of one blob id; `undefined` where there is none. */
export async function readBlob(
  place: GitDirectory,
  treeish: string,
  path: string,
  maxBytes?: number,
): Promise<Buffer | undefined> {
  return (await readBlobs(place, treeish, [path], maxBytes)).get(path);
}

/**
 * Content of many paths with one git process, in the order asked; absent paths, directories and submodules are left out. More than
 * `maxTotalBytes` in all (default 256 MiB) is INPUT_TOO_LARGE.
 */
export async function readBlobs(
  place: GitDirectory,
  treeish: string,
  paths: Iterable<string>,
  maxTotalBytes = defaultMaxTotalBytes,
): Promise<Map<string, Buffer>> {
  // A newline would end the request early; such a path cannot be asked for by name.
  const wanted = [...new Set(paths)].filter((path) => !path.includes('\n'));
  const found = new Map<string, Buffer>();
  let total = 0;
  await eachObject(
    place,
    wanted.map((path) => `${treeish}:${path}`),
    (index, object) => {
      const path = wanted[index];
      if (path === undefined || object?.type !== 'blob') return;
      total += object.bytes.length;
      if (total > maxTotalBytes) throw tooLarge(maxTotalBytes);
      found.set(path, object.bytes);
    },
    maxTotalBytes,
  );
  return found;
}

/** Objects by id or revision expression, in the order asked; `undefined` for what does not exist. */
export async function readObjects(
  place: GitDirectory,
  names: readonly string[],
): Promise<readonly (GitObject | undefined)[]> {
  const found: (GitObject | undefined)[] = new Array(names.length).fill(undefined);
  await eachObject(place, names, (index, object) => {
    found[index] = object;
  });
  return found;
}

/** One object as git stores it. */
export interface GitObject {
  readonly id: string;
  readonly type: string;
  readonly bytes: Buffer;
}

async function eachObject(
  place: GitDirectory,
  names: readonly string[],
  take: (index: number, object: GitObject | undefined) => void,
  maxBytes = defaultMaxTotalBytes,
): Promise<void> {
  if (names.length === 0) return;
  const args = ['cat-file', '--batch', '--buffer'];
  const git = startGit(place, args);
  git.stdin.end(names.map((name) => `${name}\n`).join(''));
  const reader = new BatchReader(names, take, maxBytes);
  try {
    for await (const chunk of git.stdout) reader.push(chunk);
  } catch (fault) {
    git.kill();
    throw fault;
  }
  const { code, stderr } = await withGit(() => git.exited);
  if (code !== 0) throw gitFailed(args, code, stderr.toString('utf8').slice(0, 2000));
  reader.finish();
}

/** Cuts the answer of `cat-file --batch` into objects: `<id> <type> <size>\n<bytes>\n`, or `<name> missing\n`. */
class BatchReader {
  readonly #names: readonly string[];
  readonly #take: (index: number, object: GitObject | undefined) => void;
  readonly #maxBytes: number;
  #index = 0;
  #parts: Buffer[] = [];
  #held = 0;
  #needed = 0;
  #open: { id: string; type: string; size: number } | undefined;

  constructor(
    names: readonly string[],
    take: (index: number, object: GitObject | undefined) => void,
    maxBytes: number,
  ) {
    this.#names = names;
    this.#take = take;
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): void {
    this.#parts.push(chunk);
    this.#held += chunk.length;
    if (this.#held < this.#needed) return;
    let rest = this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts);
    for (let after = this.#step(rest); after !== undefined; after = this.#step(rest))
      rest = rest.subarray(after);
    this.#parts = [rest];
    this.#held = rest.length;
  }

  finish(): void {
    if (this.#index !== this.#names.length || this.#held !== 0) {
      throw new WritError('GIT_FAILED', {
        message: '`git cat-file` ended in the middle of its answer',
        detail: { command: 'cat-file' },
      });
    }
  }

  /** Takes one header or one body from the front of `rest`; answers where the next begins, `undefined` for "not all here yet". */
  #step(rest: Buffer): number | undefined {
    const open = this.#open;
    if (open) {
      this.#needed = open.size + 1;
      if (rest.length < this.#needed) return undefined;
      // Copied: a slice would keep the whole answer alive.
      this.#take(this.#index, {
        id: open.id,
        type: open.type,
        bytes: Buffer.from(rest.subarray(0, open.size)),
      });
      this.#open = undefined;
      this.#index += 1;
      this.#needed = 0;
      return open.size + 1;
    }
    const name = this.#names[this.#index];
    const end = rest.indexOf(lineFeed);
    if (name === undefined || end < 0) return undefined;
    const line = rest.toString('utf8', 0, end);
    const header = /^([0-9a-f]{40,64}) (\w+) (\d+)$/.exec(line);
    if (header) {
      const [, id = '', type = '', size = '0'] = header;
      this.#open = { id, type, size: Number(size) };
      if (this.#open.size > this.#maxBytes) throw tooLarge(this.#maxBytes);
    } else {
      this.#take(this.#index, undefined);
      this.#index += 1;
    }
    return end + 1;
  }
}

function tooLarge(maxBytes: number): WritError {
  return new WritError('INPUT_TOO_LARGE', {
    message: `the objects asked for hold more than ${maxBytes} bytes`,
    detail: { maxBytes },
  });
}
