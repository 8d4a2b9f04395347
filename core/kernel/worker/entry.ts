import { Writable } from 'node:stream';
import { type TaskCall, type TaskOutcome, toErrorRecord } from './task.ts';
import { toRunnable } from './to-runnable.ts';

// Standard output belongs to the command that runs: a task has nothing to say there.
for (const stream of ['stdout', 'stderr'] as const) {
  const sink = new Writable({ write: (_chunk, _encoding, done) => done() });
  Object.defineProperty(process, stream, { value: sink });
}

delete process.env.NODE_COMPILE_CACHE;

/**
 * Runs one task in a worker thread, which knows none before it is asked. Never throws: what a task throws comes back
 * as a record. One that leaves a timer running, or something that throws at its turn, ends its thread and has no
 * answer.
 */
export default async function run(call: TaskCall): Promise<TaskOutcome<unknown>> {
  const outcome = await outcomeOf(call);
  // Said before, the answer and the end of the thread would come in any order.
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
