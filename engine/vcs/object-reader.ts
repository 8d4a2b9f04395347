import { WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import type { StartedProcess } from '../tool/spawn.ts';
import { type GitDirectory, gitFailed, startGit, withGit } from './git.ts';

/** What git says of one object; `bytes` where they were asked for. */
export interface ObjectAnswer {
  readonly id: string;
  readonly type: string;
  readonly sizeBytes: number;
  readonly bytes: Buffer | undefined;
}

export interface ObjectQuestion {
  /** Ids or revision expressions without a line break. */
  readonly names: readonly string[];
  /** `info` is what it is, `contents` its bytes as well. */
  readonly command: 'contents' | 'info';
  /** Is handed each answer in the order asked; `undefined` for what does not exist. Throwing ends the question. */
  readonly take: (index: number, answer: ObjectAnswer | undefined) => void;
  /** Most bytes of one object whose contents are asked for; one more is INPUT_TOO_LARGE. */
  readonly maxBytes: number;
}

const args = ['cat-file', '--batch-command', '--buffer'];
const maxErrorText = 2000;
const kept = new Map<string, KeptReader>();

interface KeptReader {
  readonly reader: ObjectReader;
  holders: number;
}

/**
 * Asks git about objects: the process that is kept for `place`, where somebody keeps one, else one that ends with the
 * answer. REF_INVALID for a name with a line break, which would be another question.
 */
export async function askObjects(place: GitDirectory, question: ObjectQuestion): Promise<void> {
  const bad = question.names.find((name) => name.includes('\n'));
  if (bad !== undefined) {
    throw new WritError('REF_INVALID', {
      message: `\`${printable(bad)}\` is not a usable name of an object`,
      detail: { ref: printable(bad) },
    });
  }
  if (question.names.length === 0) return;
  const held = kept.get(keyOf(place));
  if (held) return held.reader.ask(question);
  const reader = new ObjectReader(place);
  try {
    await reader.ask(question);
  } finally {
    await reader.end();
  }
}

/** Git processes that stay for as long as this is not disposed. */
export interface KeptReaders extends AsyncDisposable {
  /**
   * From here on, questions about the objects of `place` go to one git that stays. It sees what is written meanwhile.
   */
  keep<T extends GitDirectory>(place: T): T;
}

/** Where we are killed, what was kept ends too: its input closes. */
export function keepObjectReaders(): KeptReaders {
  const keys = new Set<string>();
  return {
    keep(place) {
      const key = keyOf(place);
      if (keys.has(key)) return place;
      keys.add(key);
      const held = kept.get(key) ?? { reader: new ObjectReader(place), holders: 0 };
      held.holders += 1;
      kept.set(key, held);
      return place;
    },
    async [Symbol.asyncDispose]() {
      const over: ObjectReader[] = [];
      for (const key of keys) {
        const held = kept.get(key);
        if (held === undefined) continue;
        held.holders -= 1;
        if (held.holders > 0) continue;
        kept.delete(key);
        over.push(held.reader);
      }
      keys.clear();
      await Promise.all(over.map((reader) => reader.end()));
    },
  };
}

/**
 * Has every git that is kept start anew at its next question: once started, git does not look again where objects are
 * borrowed from.
 */
export async function restartObjectReaders(): Promise<void> {
  await Promise.all([...kept.values()].map(({ reader }) => reader.end()));
}

/** What decides which objects are seen. */
function keyOf({ gitDir, cwd, env }: GitDirectory): string {
  return JSON.stringify([gitDir, cwd, env]);
}

interface RunningGit extends StartedProcess {
  readonly chunks: AsyncIterator<Buffer>;
}

/** One `git cat-file`, started at the first question, that answers one question after the other. */
class ObjectReader {
  readonly #place: GitDirectory;
  #git: RunningGit | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(place: GitDirectory) {
    this.#place = place;
  }

  ask(question: ObjectQuestion): Promise<void> {
    return this.#next(() => this.#ask(question));
  }

  /** Behind what is being asked; the next question would start it again. */
  end(): Promise<void> {
    return this.#next(async () => {
      const git = this.#git;
      this.#git = undefined;
      git?.stdin.end();
      await git?.exited.catch(() => undefined);
    });
  }

  #next<T>(act: () => Promise<T>): Promise<T> {
    const answer = this.#last.then(act);
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  async #ask(question: ObjectQuestion): Promise<void> {
    const { names, command, take, maxBytes } = question;
    const isFresh = this.#git === undefined;
    this.#git ??= this.#start();
    const git = this.#git;
    const cutter = new AnswerCutter(names.length, command === 'contents', take, maxBytes);
    git.stdin.write(`${names.map((name) => `${command} ${name}\n`).join('')}flush\n`);
    try {
      while (!cutter.isDone) {
        const { value, done } = await git.chunks.next();
        if (done !== true) cutter.push(value);
        // It ended while it waited (a Ctrl-C goes to it as well): that has nothing to do with the question.
        else if (!isFresh && cutter.isUntouched) return await this.#askAnew(git, question);
        else throw await endedEarly(git);
      }
    } catch (fault) {
      // What is left of the answer must not be taken for the next one.
      if (this.#git === git) this.#git = undefined;
      git.kill();
      throw fault;
    }
  }

  #askAnew(gone: RunningGit, question: ObjectQuestion): Promise<void> {
    if (this.#git === gone) this.#git = undefined;
    return this.#ask(question);
  }

  #start(): RunningGit {
    const started = startGit(this.#place, args);
    const git: RunningGit = { ...started, chunks: started.stdout[Symbol.asyncIterator]() };
    const forget = (): void => {
      if (this.#git === git) this.#git = undefined;
    };
    git.exited.then(forget, forget);
    return git;
  }
}

async function endedEarly(git: StartedProcess): Promise<WritError> {
  const { code, stderr } = await withGit(() => git.exited);
  if (code !== 0) return gitFailed(args, code, stderr.toString('utf8').slice(-maxErrorText));
  return badAnswer('ended in the middle of its answer');
}

function badAnswer(what: string): WritError {
  return new WritError('GIT_FAILED', {
    message: `\`git cat-file\` ${what}`,
    detail: { command: 'cat-file' },
  });
}

const lineFeed = 10;

/** Cuts the answer into objects: `<id> <type> <size>\n`, for contents `<bytes>\n` behind it, or `<name> missing\n`. */
class AnswerCutter {
  readonly #count: number;
  readonly #hasBytes: boolean;
  readonly #take: ObjectQuestion['take'];
  readonly #maxBytes: number;
  #index = 0;
  #parts: Buffer[] = [];
  #held = 0;
  #needed = 0;
  #open: Omit<ObjectAnswer, 'bytes'> | undefined;

  constructor(count: number, hasBytes: boolean, take: ObjectQuestion['take'], maxBytes: number) {
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

/** INPUT_TOO_LARGE for objects of more than `maxBytes`. */
export function objectsTooLarge(maxBytes: number): WritError {
  return new WritError('INPUT_TOO_LARGE', {
    message: `the objects asked for hold more than ${maxBytes} bytes`,
    detail: { maxBytes },
  });
}
