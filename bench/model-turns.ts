/*
 * `npm run bench:model-turns`: what the engine and the coder cost around a model that answers at once, outside of the
 * tools: a turn of 50 calls with 200 KB of context, a stream's first piece, 2,000 turns, 100 Tasks side by side.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { workOn } from '../coder/work.ts';
import { systemClock } from '../core/base/clock.ts';
import type { Provider } from '../core/contract/provider.ts';
import type { TaskOrder } from '../core/contract/worker.ts';
import { createEngine } from '../core/kernel/engine.ts';
import { effectiveScope } from '../engine/plan/scope.ts';
import type { OpenRun } from '../engine/run/state/attempt.ts';
import { openHands } from '../engine/run/work/hands/open-hands.ts';
import type { WriteWatch } from '../engine/run/work/hands/watch-writes.ts';
import { openTurns } from '../engine/run/work/turns/open-turns.ts';
import { contractRows } from '../engine/spec/contract-rows.ts';
import { readIntentSpec } from '../engine/spec/read-intent-spec.ts';
import { preset } from '../plugins/preset.ts';
import { sampleSpec } from '../test/engine/run/sample.ts';
import { benchFirstToken } from './first-token.ts';
import { figure, median, printTable } from './measure.ts';
import { mockProvider, submit } from './mock-provider.ts';
import { benchParallelTasks } from './parallel-tasks.ts';
import { sized } from './sized.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const read = readIntentSpec(
  sampleSpec({
    security: {
      toolAcl: { allow: [{ tool: 'workspace.fs', actions: ['read', 'write', 'delete'], constraints: {} }] },
    },
  }),
);
if (!read.ok) throw new Error(JSON.stringify(read.issues.slice(0, 3)));
const contract = read;

/** A workspace of `count` files of 4 KB, as an attempt has one. */
function makeWorkspace(count: number): string {
  const workspace = mkdtempSync(join(tmpdir(), 'writ-bench-turns-'));
  mkdirSync(join(workspace, 'src'));
  for (let at = 0; at < count; at += 1)
    writeFileSync(join(workspace, nameOf(at)), `export const value${at} = ${at}; // words\n`.repeat(110));
  return workspace;
}

function nameOf(at: number): string {
  return `src/file-${at}.js`;
}

const signal = new AbortController().signal;

async function orderOf(provider: Provider, workspace: string): Promise<TaskOrder> {
  const engine = await createEngine({
    plugins: preset({ env: {}, ephemeralKey: false }),
    rows: contractRows,
    clock: systemClock,
    report: () => {},
  });
  const run = {
    identity: { runId: 'r', contract, scope: effectiveScope(contract.effective) },
    ground: { config: { redaction: undefined } },
    means: { engine, signal, settings: { clock: systemClock } },
  } as unknown as OpenRun;
  const turns = openTurns(run, { provider, model: 'mock', secrets: ['a-key-that-no-prompt-may-hold'] });
  return {
    runId: 'r',
    taskId: 't',
    taskNumber: 1,
    revision: 1,
    attempt: 1,
    title: 'a task',
    goal: 'feature',
    steps: [],
    constraints: [],
    acceptanceCriteria: [],
    workspace,
    hands: openHands(run, { workspace, reports: workspace, stubs: async () => workspace }, unwatched),
    turns,
    signal,
  };
}

/** No command is run here. */
const unwatched: WriteWatch = {
  around: (_, act) => act(),
  forget: () => {},
  strayedIn: async () => [],
};

/** Milliseconds between two questions: calls, their results, and the next question made of them. */
async function turnTimes(workspace: string, turns: number, calls: number): Promise<readonly number[]> {
  const asked: number[] = [];
  const reads = Array.from({ length: calls }, (_, at) => nameOf(at));
  const provider = mockProvider(() => {
    asked.push(performance.now());
    if (asked.length > turns) return submit;
    return reads.map((path) => ['read_file', { path, from_line: 1 + (asked.length % 3) }] as const);
  });
  const { kind } = await workOn(await orderOf(provider, workspace));
  if (kind !== 'workspace') throw new Error(`the attempt ended with ${kind}`);
  return asked.slice(1).map((at, index) => at - (asked[index] ?? 0));
}

/** What reading the files costs anybody. */
async function bareReads(workspace: string, calls: number): Promise<number> {
  const started = performance.now();
  for (let at = 0; at < calls; at += 1) await readFile(join(workspace, nameOf(at)));
  return performance.now() - started;
}

const calls = sized(50, 3);
const workspace = makeWorkspace(calls);
try {
  const bare: number[] = [];
  for (let round = 0; round < 20; round += 1) bare.push(await bareReads(workspace, calls));
  const times = await turnTimes(workspace, sized(30, 2), calls);
  const overhead = median(times) - median(bare);
  const heaps: number[] = [];
  const many = sized(2000, 20);
  collectGarbage();
  for (let from = 0; from < many; from += 380) {
    await turnTimes(workspace, Math.min(380, many - from), 2);
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
  rmSync(workspace, { recursive: true, force: true });
}
