/* The entry of a worker thread. */
import { Writable } from 'node:stream';
import { type TaskCall, type TaskOutcome, toErrorRecord, toRunnable } from './task.ts';

// Standard output belongs to the running command, so a task must not write to it.
for (const stream of ['stdout', 'stderr'] as const) {
  const sink = new Writable({ write: (_chunk, _encoding, done) => done() });
  Object.defineProperty(process, stream, { value: sink });
}

delete process.env.NODE_COMPILE_CACHE;

/**
 * Runs one task in a worker thread; the thread loads the task's module on demand. Never throws: an error of the task
 * is returned as a record. If the task leaves a timer running or a callback that throws, its thread ends without a
 * result.
 */
export default async function run(call: TaskCall): Promise<TaskOutcome<unknown>> {
  const outcome = await outcomeOf(call);
  // If the result were sent earlier, it and the end of the thread could arrive in either order.
  await new Promise<void>((resolve) => {
    setImmediate(() => {
      if (process.getActiveResourcesInfo().some((kind) => kind === 'Timeout' || kind === 'Immediate'))
        throw new Error('it left a timer running');
      resolve();
    });
  });
  return outcome;
}

async function outcomeOf({ module, input }: TaskCall): Promise<TaskOutcome<unknown>> {
  try {
    const loaded = await import(toRunnable(module));
    return { ok: true, value: await loaded.run(input) };
  } catch (thrown) {
    return { ok: false, reason: 'threw', error: toErrorRecord(thrown) };
  }
}
