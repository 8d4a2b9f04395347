/*
 * `npm run bench:model-turns`: what the engine and the coder cost around a model that answers at once, outside of the
 * tools: a turn of 50 calls with 200 KB of context, a stream's first piece, 2,000 turns, 100 Tasks side by side.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { formatModelChoice } from '../agent/instructions.ts';
import { coderWorker } from '../agent/plugin.ts';
import { makeSample } from '../test/engine/sample.ts';
import { benchFirstToken } from './first-token.ts';
import { figure, median, printTable } from './measure.ts';
import { mockProvider, mockProviderPlugin, submit } from './mock-provider.ts';
import { benchParallelTasks } from './parallel-tasks.ts';
import { sized } from './sized.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const calls = sized(50, 3);
const sample = makeSample();
mkdirSync(join(sample.root, 'src'), { recursive: true });
for (let at = 0; at < calls; at += 1)
  writeFileSync(join(sample.root, nameOf(at)), `export const value${at} = ${at}; // words\n`.repeat(110));
sample.git('add', '--all');
sample.git('commit', '--quiet', '-m', 'Files of 4 KB');

function nameOf(at: number): string {
  return `src/file-${at}.js`;
}

/** Milliseconds between two questions of one attempt: calls, what comes of each, and the next question made of them. */
async function turnTimes(turns: number, perTurn: number): Promise<readonly number[]> {
  const asked: number[] = [];
  const reads = Array.from({ length: perTurn }, (_, at) => nameOf(at));
  const provider = mockProvider(() => {
    asked.push(performance.now());
    if (asked.length > turns) return submit;
    return reads.map((path) => ['read_file', { path, from_line: 1 + (asked.length % 3) }] as const);
  });
  const from = formatModelChoice({ provider: 'mock', flags: {} });
  const view = await sample.run(
    {
      source: { kind: 'worker', worker: coderWorker, from },
      reach: async (_name, { base }) => ({ base, isOtherBase: false }),
    },
    {
      security: { toolAcl: { allow: [{ tool: 'workspace.fs', actions: ['read'], constraints: {} }] } },
    },
    [mockProviderPlugin(() => provider)],
  );
  // It changed nothing, and that is how the attempt ends.
  if (asked.length <= turns) throw new Error(view.decision?.rationale ?? 'the model was not asked');
  return asked.slice(1, turns + 1).map((at, index) => at - (asked[index] ?? 0));
}

/** What reading the files costs anybody. */
async function bareReads(): Promise<number> {
  const started = performance.now();
  for (let at = 0; at < calls; at += 1) await readFile(join(sample.root, nameOf(at)));
  return performance.now() - started;
}

try {
  const bare: number[] = [];
  for (let round = 0; round < 20; round += 1) bare.push(await bareReads());
  const times = await turnTimes(sized(30, 2), calls);
  const overhead = median(times) - median(bare);
  const heaps: number[] = [];
  const many = sized(2000, 20);
  collectGarbage();
  for (let from = 0; from < many; from += 380) {
    await turnTimes(Math.min(380, many - from), 2);
    collectGarbage();
    heaps.push(process.memoryUsage().heapUsed / 2 ** 20);
  }
  const held = [
    figure(
      `a turn of ${calls} calls, 200 KB of context`,
      overhead,
      15,
      'ms',
      `outside of reading the files, which takes ${median(bare).toFixed(1)} ms`,
    ),
    figure(
      `heap after ${many} turns / after the first attempt`,
      (heaps.at(-1) ?? 0) / (heaps[0] ?? 1),
      1.1,
      'x',
      `${heaps.map((heap) => heap.toFixed(0)).join(' ')} MB`,
    ),
    await benchFirstToken(),
    await benchParallelTasks(),
  ];
  printTable();
  process.exitCode = held.every(Boolean) ? 0 : 1;
} finally {
  sample.remove();
}
