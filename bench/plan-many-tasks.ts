/* One process that plans N objectives; prints milliseconds (median of 5) and the bytes that a draft holds. Wants --expose-gc. */
import { checkTaskGraph } from '../core/interfaces/plan.ts';
import { type PlanOutcome, planTasks } from '../engine/plan/plan-tasks.ts';
import { effectiveScope } from '../engine/plan/scope.ts';
import { sampleSpecWith } from '../testing.ts';
import { median, timed } from './measure.ts';

const count = Number(process.argv[2] ?? '10000');
/** Half the objectives share files with others, some name whole directories or globs, a tenth names nothing. */
const objectives = Array.from({ length: count }, (_, at) => {
  const part = `src/part-${at % Math.ceil(count / 20)}`;
  const place =
    at % 10 === 0
      ? ''
      : at % 97 === 0
        ? ` in ${part}/`
        : at % 31 === 0
          ? ` in ${part}/*.test.ts`
          : ` in ${part}/file-${at % 7}.ts`;
  return `objective ${at} holds${place}`;
});
const spec = sampleSpecWith({ intent: { objectives, inScope: ['src/'] } });
const scope = effectiveScope(spec);
const plan = (): PlanOutcome =>
  planTasks({ spec, scope, for: 'worker', environment: { rootNames: new Set(['src']) } });

const times: number[] = [];
for (let round = 0; round < 5; round += 1) times.push(await timed(plan));
global.gc?.();
const before = process.memoryUsage().heapUsed;
const outcome = plan();
global.gc?.();
const heapBytes = process.memoryUsage().heapUsed - before;
if (!outcome.ok) throw new Error(outcome.problems[0]?.message);
const checked = checkTaskGraph(outcome.draft.tasks);
if (!checked.ok || checked.order.length !== count)
  throw new Error('the plan is not one DAG of every objective');
const edges = outcome.draft.tasks.reduce((sum, { dependsOn }) => sum + dependsOn.length, 0);
process.stdout.write(JSON.stringify({ ms: median(times), firstMs: times[0], heapBytes, edges }));
