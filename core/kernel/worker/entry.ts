import { Writable } from 'node:stream';
import { toErrorRecord } from './error-record.ts';
import { findCandidatesTask } from './find-candidates-task.ts';
import { judgeRuleTask } from './judge-rule-task.ts';
import type { TaskCall, TaskMap, TaskName, TaskOutcome, TaskTable } from './task-map.ts';

const tasks: TaskTable = {
  'find-candidates': findCandidatesTask,
  'judge-rule': judgeRuleTask,
  // Loaded by its first task: most threads judge rules alone.
  redact: async ({ bytes, options }) =>
    (await import('../../../readers/sensitive/redact.ts')).redact(bytes, options),
};

// Standard output belongs to the command that runs: a task has nothing to say there.
for (const stream of ['stdout', 'stderr'] as const) {
  const sink = new Writable({ write: (_chunk, _encoding, done) => done() });
  Object.defineProperty(process, stream, { value: sink });
}

delete process.env.NODE_COMPILE_CACHE;

/** Runs one task in a worker thread. Never throws: what a task throws comes back as a record. */
export default async function run({
  name,
  input,
}: TaskCall): Promise<TaskOutcome<TaskMap[TaskName]['output']>> {
  try {
    // The caller pairs name and input; the compiler cannot follow that through a union.
    const task = tasks[name] as (of: typeof input) => Promise<TaskMap[TaskName]['output']>;
    return { ok: true, value: await task(input) };
  } catch (thrown) {
    return { ok: false, reason: 'threw', error: toErrorRecord(thrown) };
  }
}
