import { WritError } from '../../base/errors.ts';

declare const signature: unique symbol;

/**
 * A kind of work for the pool's threads: a module that exports `run`. Only `defineTask` makes one, so code names it and
 * data never does.
 */
export interface Task<Input, Output> {
  /** File URL. */
  readonly module: string;
  /** For the compiler alone. */
  readonly [signature]?: (input: Input) => Output;
}

const defined = new WeakSet<object>();

/**
 * Names the module of a task: `defineTask<typeof run>(new URL('./x-in-thread.ts', import.meta.url))`, with `run`
 * imported from it as a type. What goes in and comes back crosses by structured clone. PLUGIN_INVALID for anything but
 * a file URL.
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

/** Refuses (PLUGIN_INVALID) what `defineTask` did not make. */
export function requireTask(task: object): void {
  if (!defined.has(task))
    throw new WritError('PLUGIN_INVALID', { message: 'the pool runs only what `defineTask` named' });
}
