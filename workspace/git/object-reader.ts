/* Reads git objects through `git cat-file`, with one process for many reads. */
import type { Hash } from 'node:crypto';
import { WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import type { StartedProcess } from '../process/spawn.ts';
import { type GitDirectory, gitFailed, startGit, withGit } from './git.ts';
import { objectHash } from './git-object.ts';

/** One object as `git cat-file` reports it. */
export interface ObjectAnswer {
  /** With `hash`, the id of the bytes that were read, whatever the name of the object. */
  readonly id: string;
  readonly type: string;
  readonly sizeBytes: number;
  /** Present with `contents`; with `hash`, those of a tree within the limit. */
  readonly bytes: Buffer | undefined;
}

interface ObjectQuestion {
  /** Ids or revision expressions without a line break. */
  readonly names: readonly string[];
  /** `info`: type and size; `contents`: the bytes as well; `hash`: the id of the bytes, which are not kept. */
  readonly command: 'contents' | 'hash' | 'info';
  /** Called with each answer in the order of the names; `undefined`: no such object. A throw ends the request. */
  readonly take: (index: number, answer: ObjectAnswer | undefined) => void;
  /** Maximum bytes of one object to keep; with `contents`, a larger object is INPUT_TOO_LARGE. */
  readonly maxBytes: number;
}

interface OpenBody {
  readonly answer: Omit<ObjectAnswer, 'bytes'>;
  readonly hash: Hash | undefined;
  readonly parts: Buffer[] | undefined;
  left: number;
}

const lineFeed = 10;

/** Cuts the output of `git cat-file` into objects: `<id> <type> <size>\n`, then `<bytes>\n`, or `<name> missing\n`. */
class AnswerCutter {
  readonly #question: ObjectQuestion;
  readonly #format: 'sha1' | 'sha256';
  #index = 0;
  #held: Buffer = Buffer.alloc(0);
  #open: OpenBody | undefined;

  constructor(question: ObjectQuestion, format: 'sha1' | 'sha256') {
    this.#question = question;
    this.#format = format;
  }

  get isUntouched(): boolean {
    return this.#index === 0 && this.#held.length === 0 && this.#open === undefined;
  }

  get isDone(): boolean {
    return this.#index === this.#question.names.length;
  }

  push(chunk: Buffer): void {
    let rest = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    while (rest.length > 0 && !this.isDone) {
      const used = this.#open === undefined ? this.#readHeader(rest) : this.#readBody(rest, this.#open);
      if (used === 0) break;
      rest = rest.subarray(used);
    }
    this.#held = rest;
    if (this.isDone && rest.length > 0) throw badAnswer('answered more than it was asked');
  }

  /** Returns the number of bytes used; 0 if the line is not complete. */
  #readHeader(bytes: Buffer): number {
    const { command, maxBytes } = this.#question;
    const end = bytes.indexOf(lineFeed);
    if (end < 0) return 0;
    const header = /^([0-9a-f]{40,64}) (\w+) (\d+)$/.exec(bytes.toString('utf8', 0, end));
    const [, id = '', type = '', size = '0'] = header ?? [];
    const answer = { id, type, sizeBytes: Number(size) };
    if (!header) this.#give(undefined);
    else if (command === 'info') this.#give({ ...answer, bytes: undefined });
    else {
      const isLarge = answer.sizeBytes > maxBytes;
      if (command === 'contents' && isLarge) throw objectsTooLarge(maxBytes);
      const isHash = command === 'hash';
      this.#open = {
        answer,
        hash: isHash ? objectHash(this.#format, type, answer.sizeBytes) : undefined,
        parts: isHash && (type !== 'tree' || isLarge) ? undefined : [],
        left: answer.sizeBytes,
      };
    }
    return end + 1;
  }

  #readBody(bytes: Buffer, open: OpenBody): number {
    const part = bytes.subarray(0, open.left);
    open.left -= part.length;
    open.hash?.update(part);
    open.parts?.push(part);
    // The line feed behind the content may come with the next chunk.
    if (open.left > 0 || bytes.length === part.length) return part.length;
    this.#open = undefined;
    const id = open.hash?.digest('hex') ?? open.answer.id;
    // Copied: a slice would keep all of the output in memory.
    this.#give({ ...open.answer, id, bytes: open.parts && Buffer.concat(open.parts) });
    return part.length + 1;
  }

  #give(answer: ObjectAnswer | undefined): void {
    this.#question.take(this.#index, answer);
    this.#index += 1;
  }
}

/** GIT_FAILED for a `git cat-file` with unexpected output. */
function badAnswer(what: string): WritError {
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

const args = ['cat-file', '--batch-command', '--buffer'];
const maxErrorText = 2000;
const kept = new Map<string, KeptReader>();

interface KeptReader {
  readonly reader: ObjectReader;
  holders: number;
}

/**
 * Reads objects through the process that is kept for `place`, else through one that ends with the answer. REF_INVALID
 * for a name with a line break, which would be another request.
 */
export async function askObjects(place: GitDirectory, question: ObjectQuestion): Promise<void> {
  const bad = question.names.find((name) => name.includes('\n'));
  if (bad !== undefined) {
    throw new WritError('REF_INVALID', {
      message: `\`${printable(bad)}\` is not a valid name of a git object`,
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

/** Git processes that run until this is disposed. */
export interface KeptReaders extends AsyncDisposable {
  /** From now on one git process serves all reads of `place`. It sees objects that are written later. */
  keep<T extends GitDirectory>(place: T): T;
  /** Starts the kept git, so that it is ready for the first read. */
  start(place: GitDirectory): void;
}

/** If this process is killed, the kept gits end, because their input closes. */
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
    start: (place) => kept.get(keyOf(place))?.reader.start(),
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

/** Restarts every kept git at its next read: a running git does not notice new alternates. */
export async function restartObjectReaders(): Promise<void> {
  await Promise.all([...kept.values()].map(({ reader }) => reader.end()));
}

/** Everything that decides which objects are visible. */
function keyOf({ gitDir, cwd, env }: GitDirectory): string {
  return JSON.stringify([gitDir, cwd, env]);
}

interface RunningGit extends StartedProcess {
  readonly chunks: AsyncIterator<Buffer>;
}

/** One `git cat-file`, started at the first read, that serves one read after the other. */
class ObjectReader {
  readonly #place: GitDirectory;
  #git: RunningGit | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(place: GitDirectory) {
    this.#place = place;
  }

  start(): void {
    this.#git ??= this.#start();
  }

  ask(question: ObjectQuestion): Promise<void> {
    return this.#next(() => this.#ask(question));
  }

  /** Runs after the current read; a later read starts the process again. */
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
    const isFresh = this.#git === undefined;
    this.#git ??= this.#start();
    const git = this.#git;
    const cutter = new AnswerCutter(question, this.#place.objectFormat);
    const command = question.command === 'info' ? 'info' : 'contents';
    git.stdin.write(`${question.names.map((name) => `${command} ${name}\n`).join('')}flush\n`);
    try {
      while (!cutter.isDone) {
        const { value, done } = await git.chunks.next();
        if (done !== true) cutter.push(value);
        // It ended while it was idle (a Ctrl-C reaches it too), independently of this read.
        else if (!isFresh && cutter.isUntouched) return await this.#askAnew(git, question);
        else throw await endedEarly(git);
      }
    } catch (fault) {
      this.#drop(git);
      throw fault;
    }
  }

  /** The rest of its output must not be read as the next answer. */
  async #drop(git: RunningGit): Promise<void> {
    if (this.#git === git) this.#git = undefined;
    git.kill();
    await git.exited.catch(() => undefined);
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
