import { WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import type { StartedProcess } from '../process/spawn.ts';
import { AnswerCutter, badAnswer, type TakeAnswer } from './answer-cutter.ts';
import { type GitDirectory, gitFailed, startGit, withGit } from './git.ts';

export interface ObjectQuestion {
  /** Ids or revision expressions without a line break. */
  readonly names: readonly string[];
  /** `info` is what it is, `contents` its bytes as well. */
  readonly command: 'contents' | 'info';
  /** Is handed each answer in the order asked; `undefined` for what does not exist. Throwing ends the question. */
  readonly take: TakeAnswer;
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

/** A git that is spoken with in the words of `cat-file --batch-command`. */
export interface LentGit {
  readonly stdin: Pick<StartedProcess['stdin'], 'write'>;
  readonly chunks: AsyncIterator<Buffer>;
  /** It has answered others: where it is gone before it answers anything, that says nothing of what it was asked. */
  readonly isUsed: boolean;
}

/**
 * Lends the git that is kept for `place`, else one that ends with `talk`; nobody else is answered meanwhile. `false`
 * from `talk`, like a fault: what it was asked is not read to the end, so it is of no more use.
 */
export async function lendGit(place: GitDirectory, talk: (git: LentGit) => Promise<boolean>): Promise<void> {
  await using readers = keepObjectReaders();
  readers.keep(place);
  await kept.get(keyOf(place))?.reader.lend(talk);
}

/** Git processes that stay for as long as this is not disposed. */
export interface KeptReaders extends AsyncDisposable {
  /**
   * From here on, questions about the objects of `place` go to one git that stays. It sees what is written meanwhile.
   */
  keep<T extends GitDirectory>(place: T): T;
  /** Starts the git that is kept for `place`, so that it gets ready while the first question is found. */
  start(place: GitDirectory): void;
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

  start(): void {
    this.#git ??= this.#start();
  }

  ask(question: ObjectQuestion): Promise<void> {
    return this.#next(() => this.#ask(question));
  }

  /** Behind what is being asked. */
  lend(talk: (git: LentGit) => Promise<boolean>): Promise<void> {
    return this.#next(async () => {
      const isUsed = this.#git !== undefined;
      this.#git ??= this.#start();
      const git = this.#git;
      let isRead = false;
      try {
        isRead = await talk({ ...git, isUsed });
      } finally {
        if (!isRead) await this.#drop(git);
      }
    });
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
      this.#drop(git);
      throw fault;
    }
  }

  /** What is left of its answer must not be taken for the next one. */
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
