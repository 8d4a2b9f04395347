import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeSample } from '../test/engine/sample.ts';
import { manyTasksRecording } from './many-tasks-spec.ts';
import { figure, median } from './measure.ts';
import { sized } from './sized.ts';

const rounds = sized(5, 1);
const counts = sized([10, 100, 1000], [2, 3, 4]);

/**
 * From `resumeRun` to the worker's first new order, where all Tasks but the last had settled when the process was
 * killed: each time in a new process, after a SIGKILL, with the recorded worker, in a real repository with real
 * sandboxed checks.
 */
export async function benchResumeRun(): Promise<boolean> {
  const grounds = counts.map((count) => killedRun(count));
  try {
    const times = counts.map((): number[] => []);
    let rssMb = 0;
    for (let round = 0; round < rounds; round += 1) {
      for (const [index, environment] of grounds.entries()) {
        const resumed = JSON.parse(child('resume', environment)) as {
          readonly ms: number;
          readonly rssMb: number;
        };
        times[index]?.push(resumed.ms);
        rssMb = Math.max(rssMb, resumed.rssMb);
      }
    }
    const medians = times.map(median);
    const detail = counts
      .map((count, index) => `${count} tasks: ${medians[index]?.toFixed(0)} ms`)
      .join(', ');
    return figure(
      'a run of 1,000 tasks resumed, to the first new work',
      medians.at(-1) ?? Number.NaN,
      1000,
      'ms',
      `${detail}; rss ${rssMb.toFixed(0)} MB`,
    );
  } finally {
    for (const { sample } of grounds) sample.remove();
  }
}

interface RunEnvironment {
  readonly sample: ReturnType<typeof makeSample>;
  readonly count: number;
  readonly runId: string;
}

function killedRun(count: number): RunEnvironment {
  const sample = makeSample();
  writeFileSync(join(sample.home, 'recording.json'), manyTasksRecording(count));
  mkdirSync(join(sample.home, 'tmp'));
  return { sample, count, runId: child('start', { sample, count, runId: '' }) };
}

/** What the process printed before it was killed; one that ended in another way did something else. */
function child(mode: 'start' | 'resume', { sample, count, runId }: RunEnvironment): string {
  const { signal, status, stdout } = spawnSync(
    process.execPath,
    ['bench/many-tasks-run.ts', mode, sample.root, sample.home, String(count), runId],
    {
      encoding: 'utf8',
      // What a killed process leaves in there goes with the sample.
      env: { ...process.env, TMPDIR: join(sample.home, 'tmp') },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  if (signal !== 'SIGKILL') throw new Error(`the child ended with ${status ?? signal}`);
  return stdout;
}
