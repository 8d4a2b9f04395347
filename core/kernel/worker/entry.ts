import { Writable } from 'node:stream';
import { toErrorRecord } from './error-record.ts';
import type { TaskCall, TaskOutcome } from './task-outcome.ts';
import { toRunnable } from './to-runnable.ts';

// Standard output belongs to the command that runs: a task has nothing to say there.
for (const stream of ['stdout', 'stderr'] as const) {
  const sink = new Writable({ write: (_chunk, _encoding, done) => done() });
  Object.defineProperty(process, stream, { value: sink });
}

delete process.env.NODE_COMPILE_CACHE;

/**
 * Runs one task in a worker thread, which knows none before it is asked. Never throws: what a task throws comes back as
 * a record.
 */
export default async function run({ module, input }: TaskCall): Promise<TaskOutcome<unknown>> {
  try {
    const loaded = await import(toRunnable(module));
    return { ok: true, value: await loaded.run(input) };
  } catch (thrown) {
    return { ok: false, reason: 'threw', error: toErrorRecord(thrown) };
  }
}
