import { WritError } from '../../core/base/errors.ts';

/** What git says of one object; `bytes` where they were asked for. */
export interface ObjectAnswer {
  readonly id: string;
  readonly type: string;
  readonly sizeBytes: number;
  readonly bytes: Buffer | undefined;
}

/** Is handed each answer in the order asked; `undefined` for what does not exist. */
export type TakeAnswer = (index: number, answer: ObjectAnswer | undefined) => void;

const lineFeed = 10;

/** Cuts the answer into objects: `<id> <type> <size>\n`, for contents `<bytes>\n` behind it, or `<name> missing\n`. */
export class AnswerCutter {
  readonly #count: number;
  readonly #hasBytes: boolean;
  readonly #take: TakeAnswer;
  readonly #maxBytes: number;
  #index = 0;
  #parts: Buffer[] = [];
  #held = 0;
  #needed = 0;
  #open: Omit<ObjectAnswer, 'bytes'> | undefined;

  constructor(count: number, hasBytes: boolean, take: TakeAnswer, maxBytes: number) {
    this.#count = count;
    this.#hasBytes = hasBytes;
    this.#take = take;
    this.#maxBytes = maxBytes;
  }

  get isUntouched(): boolean {
    return this.#index === 0 && this.#held === 0;
  }

  get isDone(): boolean {
    return this.#index === this.#count;
  }

  push(chunk: Buffer): void {
    this.#parts.push(chunk);
    this.#held += chunk.length;
    if (this.#held < this.#needed) return;
    const all = this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts);
    let at = 0;
    for (let after = this.#step(all, at); after !== undefined; after = this.#step(all, at)) at = after;
    const rest = all.subarray(at);
    this.#parts = [rest];
    this.#held = rest.length;
    if (this.isDone && rest.length > 0) throw badAnswer('answered more than it was asked');
  }

  /** Takes one header or one body at `at`; answers where the next begins, `undefined` for "not all here yet". */
  #step(all: Buffer, at: number): number | undefined {
    if (this.isDone) return undefined;
    const open = this.#open;
    if (open) {
      this.#needed = open.sizeBytes + 1;
      if (all.length - at < this.#needed) return undefined;
      this.#open = undefined;
      this.#needed = 0;
      // Copied: a slice would keep the whole answer alive.
      this.#give({ ...open, bytes: Buffer.from(all.subarray(at, at + open.sizeBytes)) });
      return at + open.sizeBytes + 1;
    }
    const end = all.indexOf(lineFeed, at);
    if (end < 0) return undefined;
    const header = /^([0-9a-f]{40,64}) (\w+) (\d+)$/.exec(all.toString('utf8', at, end));
    if (!header) this.#give(undefined);
    else {
      const [, id = '', type = '', size = '0'] = header;
      const answer = { id, type, sizeBytes: Number(size) };
      if (!this.#hasBytes) this.#give({ ...answer, bytes: undefined });
      else if (answer.sizeBytes > this.#maxBytes) throw objectsTooLarge(this.#maxBytes);
      else this.#open = answer;
    }
    return end + 1;
  }

  #give(answer: ObjectAnswer | undefined): void {
    this.#take(this.#index, answer);
    this.#index += 1;
  }
}

/** GIT_FAILED for a `git cat-file` that does not keep to its form. */
export function badAnswer(what: string): WritError {
  return new WritError('GIT_FAILED', {
    message: `\`git cat-file\` ${what}`,
    detail: { command: 'cat-file' },
  });
}

/** INPUT_TOO_LARGE for objects of more than `maxBytes`. */
export function objectsTooLarge(maxBytes: number): WritError {
  return new WritError('INPUT_TOO_LARGE', {
    message: `the objects asked for hold more than ${maxBytes} bytes`,
    detail: { maxBytes },
  });
}
