import { createHash } from 'node:crypto';
import type { GitDirectory } from './git.ts';
import { type LentGit, lendGit } from './object-reader.ts';

/** One object as its bytes are here, whatever the file that holds it is called. */
export interface HashedObject {
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
export type HashAnswer = HashedObject | 'absent' | 'damaged';

/** Most octets of one tree that are held; a directory of a million files has about 50 MiB. */
const maxTreeBytes = 128 * 1024 * 1024;

const maxHeaderBytes = 4096;
const lineFeed = 10;

/**
 * Reckons ids from the bytes of objects, which git does not do when it reads them; blobs are hashed as they stream by
 * and never held. Hands every id's answer to `take`, in the order asked; a damaged object costs a git, so `take` may
 * say `false`: that is enough.
 */
export async function hashObjects(
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
