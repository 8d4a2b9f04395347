/* Keeps parts of a run's record, and its steps, until the end. */
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sha256Hex } from '../../core/base/canonical.ts';
import { messageOf, WritError } from '../../core/base/errors.ts';
import type { JournalRecord } from '../../store/parse-journal.ts';

/**
 * Parts of a run's record that exist before its end: plans, attempts, decisions on the way. Kept in the run's
 * directory.
 */
export interface RecordCollector {
  /** Writes a file whole or not at all; the same path again replaces it. EVIDENCE_WRITE_FAILED. */
  put(files: Iterable<readonly [path: string, bytes: Uint8Array]>): Promise<void>;
  /** Every path, sorted. */
  list(): Promise<readonly string[]>;
  read(path: string): Promise<Uint8Array>;
}

/** Memory of a box outside its files, because other processes may change the files. */
export interface BoxMemory {
  /** Digest of each file that was put, by path. */
  readonly digests: Map<string, string>;
  /** Writes down what was put, with its digests, before anything rests on it. */
  note(files: readonly (readonly [path: string, sha256: string])[]): Promise<void>;
}

/**
 * A box in `directory`, which is created on the first write. With a memory, the box holds only files that it wrote;
 * throws OBJECT_CORRUPT for a changed file.
 */
export function createRecordCollector(directory: string, memory?: BoxMemory): RecordCollector {
  return {
    async put(files) {
      const noted: [string, string][] = [];
      try {
        for (const [path, bytes] of files) {
          noted.push([path, sha256Hex(bytes)]);
          const target = join(directory, path);
          await mkdir(dirname(target), { recursive: true, mode: 0o700 });
          const draft = `${target}.draft`;
          await writeFile(draft, bytes, { mode: 0o600 });
          await rename(draft, target);
        }
      } catch (cause) {
        throw new WritError('EVIDENCE_WRITE_FAILED', {
          message: `a part of the record could not be written: ${messageOf(cause)}`,
          hints: ['free disk space; the run is kept and can be resumed'],
          cause,
        });
      }
      if (!memory) return;
      await memory.note(noted);
      for (const [path, digest] of noted) memory.digests.set(path, digest);
    },
    async list() {
      if (memory) return [...memory.digests.keys()].sort();
      const found = await readdir(directory, { recursive: true, withFileTypes: true }).catch(
        (fault: NodeJS.ErrnoException) => {
          if (fault.code === 'ENOENT') return [];
          throw fault;
        },
      );
      return found
        .filter((entry) => entry.isFile() && !entry.name.endsWith('.draft'))
        .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
        .sort();
    },
    async read(path) {
      const expected = memory?.digests.get(path);
      const bytes = await readFile(join(directory, path)).catch((fault: unknown) => {
        if (memory) throw corrupt(path, fault);
        throw fault;
      });
      if (memory && sha256Hex(bytes) !== expected) throw corrupt(path);
      return bytes;
    },
  };
}

function corrupt(path: string, cause?: unknown): WritError {
  return new WritError('OBJECT_CORRUPT', {
    message: `\`${path}\` of the run’s record was changed`,
    detail: { path },
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Where steps are recorded: a run's journal, or memory. */
export interface StepLog {
  readonly records: readonly JournalRecord[];
  append(type: string, data: unknown): Promise<unknown>;
  /** Resolves when everything appended survives a power cut; absent for a log in memory. */
  sync?(): Promise<void>;
}

/**
 * Named steps of a run, each of which happens once, however often the run is resumed
 * (`docs/decisions/0004-durable-runs.md`).
 */
export interface Steps {
  /**
   * Returns the step's answer from this or an earlier process. `act` must be idempotent: it runs again if an earlier
   * process stopped before recording its answer. The answer must be JSON or `undefined`. A rejection is not recorded,
   * nor is an answer that is not final: the next process then runs the step again.
   */
  once<T>(key: string, act: () => Promise<T> | T, isFinal?: (answer: T) => boolean): Promise<T>;
  /** The answer of a step that ended; `undefined` where it did not. */
  ended(key: string): { readonly answer: unknown } | undefined;
  /** Keys of ended steps that start so. */
  endedUnder(start: string): readonly string[];
  /** True where an earlier process began the step and was stopped before its end. */
  interrupted(key: string): boolean;
  /** The same steps under `<prefix>/`. */
  under(prefix: string): Steps;
  /** Records a journal entry that is not a step, for readers of the journal. */
  note(type: string, data: unknown): Promise<void>;
  /**
   * Called before an effect outside of the journal: resolves when all records so far, begun steps included, survive a
   * power cut (`docs/decisions/0026-journal-barriers.md`).
   */
  sync(): Promise<void>;
}

/** Steps over a log, with whatever it already holds. */
export function stepsOver(log: StepLog): Steps {
  const ended = new Map<string, unknown>();
  const begun = new Set<string>();
  for (const { type, data } of log.records) {
    const { step, answer } = (data ?? {}) as { readonly step?: string; readonly answer?: unknown };
    if (step === undefined) continue;
    if (type === 'step-begun') begun.add(step);
    if (type === 'step-ended') ended.set(step, answer);
  }
  const running = new Map<string, Promise<unknown>>();
  const at = (prefix: string): Steps => ({
    once<T>(name: string, act: () => Promise<T> | T, isFinal = (_answer: T) => true): Promise<T> {
      const step = `${prefix}${name}`;
      const known = running.get(step);
      if (known) return known as Promise<T>;
      if (ended.has(step)) return Promise.resolve(ended.get(step) as T);
      const doing = (async () => {
        await log.append('step-begun', { step });
        const answer = await act();
        if (!isFinal(answer)) return answer;
        await log.append('step-ended', { step, ...(answer === undefined ? {} : { answer }) });
        ended.set(step, answer);
        return answer;
      })();
      running.set(step, doing);
      return doing.finally(() => running.delete(step));
    },
    ended: (name) => (ended.has(`${prefix}${name}`) ? { answer: ended.get(`${prefix}${name}`) } : undefined),
    endedUnder: (start) =>
      [...ended.keys()].flatMap((step) =>
        step.startsWith(`${prefix}${start}`) ? [step.slice(prefix.length)] : [],
      ),
    interrupted: (name) => begun.has(`${prefix}${name}`) && !ended.has(`${prefix}${name}`),
    under: (name) => at(`${prefix}${name}/`),
    note: async (type, data) => {
      await log.append(type, data);
    },
    sync: async () => log.sync?.(),
  });
  return at('');
}

/** Steps that live as long as the process: for tests, measurements and embedders that want no journal. */
export function stepsInMemory(): Steps {
  return stepsOver({ records: [], append: async () => undefined });
}
