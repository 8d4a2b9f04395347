import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { PlannedTask } from '../core/interfaces/plan.ts';
import { planTasks } from '../engine/plan/plan-tasks.ts';
import { effectiveScope } from '../engine/plan/scope.ts';
import { stepsInMemory } from '../engine/state/record-collector.ts';
import { schedule, type TaskEnd } from '../engine/work/schedule.ts';
import { readIntentSpec } from '../spec/read-intent-spec.ts';
import { sampleSpec } from '../test/engine/sample.ts';
import { figure, median, timed } from './measure.ts';
import { sized } from './sized.ts';

const count = sized(10_000, 20);
const fewer = count / 10;
const parallel = 8;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/**
 * A contract whose objectives each write a file of their own, every tenth one a file that nine others write as well.
 */
function question(objectives: number) {
  const read = readIntentSpec(
    sampleSpec({
      intent: {
        objectives: Array.from({ length: objectives }, (_, at) =>
          at % 10 === 0
            ? `objective ${at} changes src/shared-${Math.floor(at / 100)}.js`
            : `objective ${at} changes src/part-${at % 97}/file-${at}.js`,
        ),
        inScope: ['src/'],
      },
      execution: { concurrency: { maxParallelTasks: parallel } },
    }),
  );
  if (!read.ok) throw new Error(JSON.stringify(read.issues.slice(0, 3)));
  const spec = read.effective;
  return { spec, scope: effectiveScope(spec), for: 'worker' } as const;
}

function plan(asked: ReturnType<typeof question>): readonly PlannedTask[] {
  const planned = planTasks(asked);
  if (!planned.ok) throw new Error(planned.problems[0]?.message ?? 'no plan');
  return planned.draft.tasks;
}

/**
 * Every Task through the scheduler with three recorded steps and a worker that does nothing; bytes of heap that are
 * left in the end.
 */
async function work(tasks: readonly PlannedTask[]): Promise<number> {
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const steps = stepsInMemory();
  const outcome = await schedule({
    tasks,
    limit: () => parallel,
    work: async ({ number }): Promise<TaskEnd> => {
      const own = steps.under(`task/${number}/attempt/1`);
      await own.once('started', () => 0);
      await own.once('worked', () => ({ kind: 'nothing' }));
      await own.once('settled', () => ({ decision: 'merge' }));
      return 'done';
    },
  });
  if (outcome.done.length !== tasks.length)
    throw new Error(`${outcome.notStarted.length} tasks were left over`);
  collectGarbage();
  const grown = process.memoryUsage().heapUsed - before;
  return steps.ended(`task/${tasks.length}/attempt/1/settled`) ? grown : Number.NaN;
}

/**
 * 10,000 Tasks in one DAG: planned in a second, scheduled at 2,000 a second, both in time and memory that grow with
 * their number.
 */
export async function benchScheduleTasks(): Promise<boolean> {
  const rounds = sized(3, 1);
  const all = question(count);
  const some = question(fewer);
  const tasks = { all: plan(all), some: plan(some) };
  const times = {
    planned: [] as number[],
    scheduled: [] as number[],
    fewer: [] as number[],
    fewerPlanned: [] as number[],
  };
  const bytes = { all: [] as number[], some: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    times.planned.push(await timed(() => plan(all)));
    times.fewerPlanned.push(await timed(() => plan(some)));
    times.scheduled.push(await timed(async () => bytes.all.push(await work(tasks.all))));
    times.fewer.push(await timed(async () => bytes.some.push(await work(tasks.some))));
  }
  const [planned, scheduled] = [median(times.planned), median(times.scheduled)];
  const [fewPlanned, few] = [median(times.fewerPlanned), median(times.fewer)];
  const perTask = { all: median(bytes.all) / count, some: median(bytes.some) / fewer };
  const edges = tasks.all.reduce((sum, { dependsOn }) => sum + dependsOn.length, 0);
  return [
    figure(
      `${count} tasks planned`,
      planned,
      1000,
      'ms',
      `${edges} dependencies; ${fewer} tasks in ${fewPlanned.toFixed(1)} ms`,
    ),
    figure(
      `${count} tasks scheduled`,
      scheduled,
      count / 2,
      'ms',
      `${((count / scheduled) * 1000).toFixed(0)} tasks/s; ${fewer} tasks in ${few.toFixed(1)} ms`,
    ),
    figure(
      'memory per task, 10 × as many / as many',
      perTask.all / perTask.some,
      2,
      'x',
      `${perTask.all.toFixed(0)} against ${perTask.some.toFixed(0)} bytes`,
    ),
  ].every(Boolean);
}
