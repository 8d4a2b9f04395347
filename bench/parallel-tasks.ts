import { formatModelChoice } from '../agent/instructions.ts';
import { coderWorker } from '../agent/plugin.ts';
import { makeSample } from '../test/engine/sample.ts';
import { figure, median, timed } from './measure.ts';
import { type MockCalls, mockProvider, mockProviderPlugin, submit } from './mock-provider.ts';
import { sized } from './sized.ts';

const [few, many] = sized([10, 100], [2, 4]) as [number, number];

/** Whole runs of 10 and 100 Tasks, each of which a model that answers at once does with one patch. */
export async function benchParallelTasks(): Promise<boolean> {
  const before = await timed(() => run(few));
  const long = await timed(() => run(many));
  const short = median([before, await timed(() => run(few)), await timed(() => run(few))]);
  return figure(
    `${many} tasks of a model / ${few}, for each task`,
    long / many / (short / few),
    1.2,
    'x',
    `${(long / many).toFixed(1)} against ${(short / few).toFixed(1)} ms a task`,
  );
}

async function run(count: number): Promise<void> {
  const sample = makeSample();
  try {
    const view = await sample.run(
      {
        source: {
          kind: 'worker',
          worker: coderWorker,
          from: formatModelChoice({ provider: 'mock', flags: {} }),
        },
        reach: async (_name, { base }) => ({ base, isOtherBase: false }),
      },
      {
        intent: {
          changeType: 'feature',
          objectives: Array.from({ length: count }, (_, at) => `write ${fileOf(at + 1)}`),
          inScope: ['src/'],
        },
        acceptance: {
          verificationPlan: {
            fastChecks: [
              {
                id: 'quick',
                kind: 'command',
                command: 'true',
                required: true,
                artifactsProduced: ['test-log'],
              },
            ],
          },
        },
        security: {
          toolAcl: {
            allow: [
              { tool: 'workspace.fs', actions: ['read', 'write'], constraints: {} },
              { tool: 'workspace.command', actions: ['execute'], constraints: { allowCommands: ['true'] } },
            ],
          },
        },
        execution: { concurrency: { maxParallelTasks: 4 } },
      },
      [mockProviderPlugin(() => mockProvider(next))],
    );
    if (view.decision?.type !== 'commit') throw new Error(JSON.stringify(view.decision));
  } finally {
    sample.remove();
  }
}

function next(replies: number, task: string): MockCalls {
  if (replies > 0) return submit;
  const path = /src\/part-\d+\/file-\d+\.js/.exec(task)?.[0] ?? 'src/none.js';
  return [
    ['apply_patch', { patch: `*** Begin Patch\n*** Add File: ${path}\n+export const x = 1;\n*** End Patch` }],
  ];
}

function fileOf(task: number): string {
  return `src/part-${task % 20}/file-${task}.js`;
}
