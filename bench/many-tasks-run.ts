/*
 * One process of a run with N Tasks: `start` works all but the last and is killed there, `resume` goes on until the worker is asked again.
 * Prints the run id, or the milliseconds until that question.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { userJournalWitness } from '../attest/signer/user-journal-witness.ts';
import { systemClock } from '../core/base/clock.ts';
import type { Worker } from '../core/contract/worker.ts';
import { createEngine } from '../core/kernel/engine.ts';
import { resumeRun, runIntent } from '../engine/run/run-intent.ts';
import { contractRows } from '../engine/spec/contract-rows.ts';
import { preset } from '../plugins/preset.ts';
import { createRecordedWorker, parseRecording } from '../plugins/recorded-worker/worker.ts';
import { manyTasksSpec } from './many-tasks-spec.ts';

const [mode, root = '', home = '', asked = '1000', runId = ''] = process.argv.slice(2);
const count = Number(asked);
const env = {
  PATH: process.env.PATH ?? '',
  HOME: home,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
};
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
await using engine = await createEngine({
  plugins: preset({ env, ephemeralKey: true }),
  rows: contractRows,
  clock: systemClock,
  env,
  report: () => {},
});
if (mode === 'start') await runIntent(engine, { ...settings, ...start() });
else await resume();

/** The last Task is asked for while others may still run: it waits for them, then the process dies as if the power went. */
function start() {
  const runs = join(root, '.git', 'writ', 'runs');
  const worker: Worker = {
    ...recorded,
    async work(order) {
      if (order.taskNumber < count) return recorded.work(order);
      const journal = join(runs, order.runId, 'journal.jsonl');
      while (settledIn(journal) < count - 1) await systemClock.sleep(20, order.signal);
      process.stdout.write(order.runId, () => process.kill(process.pid, 'SIGKILL'));
      return new Promise(() => {});
    },
  };
  return { specBytes: manyTasksSpec(count), source: { kind: 'worker', worker } } as const;
}

function settledIn(journal: string): number {
  return (
    readFileSync(journal, 'utf8').match(/"type":"step-ended","data":\{"step":"[^"]*\/attempt-1\/settled"/g)
      ?.length ?? 0
  );
}

async function resume(): Promise<void> {
  const began = performance.now();
  const openWorker = async (): Promise<Worker> => ({
    ...recorded,
    work({ taskNumber }) {
      const ms = performance.now() - began;
      if (taskNumber !== count) throw new Error(`task ${taskNumber} was worked twice`);
      process.stdout.write(JSON.stringify({ ms, rssMb: process.memoryUsage().rss / 1e6 }), () =>
        process.kill(process.pid, 'SIGKILL'),
      );
      return new Promise(() => {});
    },
  });
  await resumeRun(engine, { ...settings, runId, openWorker });
}
