/*
 * One process of a run with N Tasks: `start` works all but the last and is killed there, `resume` goes on until the
 * worker is asked again. Prints the run id, or the milliseconds until that question.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { userJournalWitness } from '../attest/signer/user-journal-witness.ts';
import { systemClock } from '../core/base/clock.ts';
import type { Worker } from '../core/interfaces/worker.ts';
import { definePlugin } from '../core/kernel/plugin.ts';
import { resumeRun, runIntent } from '../engine/run.ts';
import { openEngine } from '../plugins/preset/open-engine.ts';
import { createRecordedWorker, parseRecording } from '../plugins/recorded-worker/plugin.ts';
import { manyTasksSpec } from './many-tasks-spec.ts';

const [mode, root = '', home = '', asked = '1000', runId = ''] = process.argv.slice(2);
const count = Number(asked);
const env = {
  PATH: process.env.PATH ?? '',
  HOME: home,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
};
let began = 0;
const settings = {
  repositoryPath: root,
  sandbox: 'auto',
  schedulerVersion: '0.0.0-bench',
  witness: userJournalWitness(env),
  clock: systemClock,
  signal: new AbortController().signal,
};
const recorded = createRecordedWorker(
  parseRecording(readFileSync(join(home, 'recording.json'))),
  systemClock.sleep,
);
const workers = definePlugin({
  name: 'bench',
  api: 1,
  setup({ slots }) {
    slots.worker.addLazy('bench', () => ({ open: mode === 'start' ? stopping : asking }));
    return undefined;
  },
});
await using engine = await openEngine({
  env,
  ephemeralKey: true,
  plugins: [workers],
  clock: systemClock,
  report: () => {},
});
if (mode === 'start') {
  const source = { kind: 'worker', worker: 'bench', from: Buffer.alloc(0) } as const;
  await runIntent(engine, { ...settings, specBytes: manyTasksSpec(count), source });
} else {
  began = performance.now();
  const from = async (): Promise<Buffer> => Buffer.alloc(0);
  await resumeRun(engine, { ...settings, runId, worker: { name: 'bench', from } });
}

/**
 * The last Task is asked for while others may still run: it waits for them, then the process dies as if the power went.
 */
function stopping(): Worker {
  const runs = join(root, '.git', 'writ', 'runs');
  return {
    ...recorded,
    async work(order) {
      if (order.taskNumber < count) return recorded.work(order);
      const journal = join(runs, order.runId, 'journal.jsonl');
      while (settledIn(journal) < count - 1) await systemClock.sleep(20, order.signal);
      process.stdout.write(order.runId, () => process.kill(process.pid, 'SIGKILL'));
      return new Promise(() => {});
    },
  };
}

function settledIn(journal: string): number {
  return (
    readFileSync(journal, 'utf8').match(/"type":"step-ended","data":\{"step":"[^"]*\/attempt-1\/settled"/g)
      ?.length ?? 0
  );
}

/** Every Task but the last was done: the first question is for that one. */
function asking(): Worker {
  return {
    ...recorded,
    work({ taskNumber }) {
      const ms = performance.now() - began;
      if (taskNumber !== count) throw new Error(`task ${taskNumber} was worked twice`);
      process.stdout.write(JSON.stringify({ ms, rssMb: process.memoryUsage().rss / 1e6 }), () =>
        process.kill(process.pid, 'SIGKILL'),
      );
      return new Promise(() => {});
    },
  };
}
