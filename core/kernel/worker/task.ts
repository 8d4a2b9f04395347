/* Types and errors of tasks for the worker pool. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { messageOf, WritError } from '../../base/errors.ts';

declare const signature: unique symbol;

/**
 * A kind of work for the pool's threads: a module that exports `run`. Only `defineTask` makes one, so that only code
 * can name it.
 */
export interface Task<Input, Output> {
  /** File URL. */
  readonly module: string;
  /** Exists only for the compiler. */
  readonly [signature]?: (input: Input) => Output;
}

const defined = new WeakSet<object>();

/**
 * Names the module of a task: `defineTask<typeof run>(new URL('./x-in-thread.ts', import.meta.url))`, with `run`
 * imported from it as a type. Input and output are structured clones. Throws PLUGIN_INVALID for anything but a file
 * URL.
 */
export function defineTask<Run extends (input: never) => unknown>(
  module: URL,
): Task<Parameters<Run>[0], Awaited<ReturnType<Run>>> {
  if (!(module instanceof URL) || module.protocol !== 'file:')
    throw new WritError('PLUGIN_INVALID', { message: 'a task is named by the file URL of its module' });
  const task = Object.freeze({ module: module.href });
  defined.add(task);
  return task;
}

/** Throws PLUGIN_INVALID for a task that `defineTask` did not make. */
export function requireTask(task: object): void {
  if (!defined.has(task))
    throw new WritError('PLUGIN_INVALID', { message: 'the pool runs only what `defineTask` named' });
}

/**
 * Why a task has no value. For `deadline` and `aborted` the pool ended its thread; for `crashed` the thread ended
 * itself.
 */
export type TaskFailure = 'threw' | 'deadline' | 'aborted' | 'crashed' | 'unsendable';

/** An error as a record: the thread it came from may be gone. */
interface ErrorRecord {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
}

export type TaskOutcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: TaskFailure; readonly error: ErrorRecord };

export interface TaskCall {
  /** File URL of the module that exports `run`. */
  readonly module: string;
  readonly input: unknown;
}

const maxLength = 1000;

/** Name, message and code of a thrown value, bounded; never its stack, which holds paths of this machine. */
export function toErrorRecord(thrown: unknown): ErrorRecord {
  try {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
    return {
      name: (thrown instanceof Error ? thrown.name : typeof thrown).slice(0, maxLength),
      message: messageOf(thrown).slice(0, maxLength),
      ...(typeof code === 'string' ? { code: code.slice(0, maxLength) } : {}),
    };
  } catch {
    // A getter or `toString` of the thrown value failed.
    return { name: typeof thrown, message: 'something without text was thrown' };
  }
}

/** Maps the URL of a source module (`./rule.ts`) to the file that runs: `.js` in the compiled package. */
export function toRunnable(module: string): string {
  if (!module.endsWith('.ts') || existsSync(fileURLToPath(module))) return module;
  return `${module.slice(0, -'.ts'.length)}.js`;
}
