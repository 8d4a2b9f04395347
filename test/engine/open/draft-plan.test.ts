import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { PlanDraft } from '../../../core/interfaces/plan.ts';
import { definePlugin } from '../../../core/kernel/plugin.ts';
import { planRun } from '../../../engine/plan-run.ts';
import { type Json, makeSample, planRequest, type Sample } from '../sample.ts';

function sampleOf(t: Test): Sample {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  return sample;
}

/** The plan of the sample's contract with `spec` merged in, under a plugin that changes the draft. */
async function planned(
  t: Test,
  spec: Json,
  change?: (draft: PlanDraft) => PlanDraft,
  who: 'patch' | 'worker' = 'worker',
  sample = sampleOf(t),
) {
  const planner = definePlugin({
    name: 'planner',
    api: 1,
    setup: ({ hooks }) => {
      if (change) hooks.plan.draft.tap(change);
      return undefined;
    },
  });
  await using engine = await sample.engine([planner]);
  const plan = await planRun(engine, planRequest(sample, spec, who));
  const [refusal] = plan.refusals;
  if (refusal) throw refusal.fault;
  return plan;
}

const two = { intent: { objectives: ['change src/price.js', 'change test/price.test.js'] } };

t.test('a plugin may change the plan draft', async (t) => {
  const plan = await planned(t, two, (draft) => ({
    ...draft,
    tasks: draft.tasks.map((task) => (task.key === 'task-2' ? { ...task, dependsOn: ['task-1'] } : task)),
  }));
  t.ok(plan.edges.some(([before, after]) => before === 'task-1' && after === 'task-2'));
});

t.test('a plugin that returns a cyclic plan gives PLUGIN_FAULT', async (t) => {
  const cyclic = (draft: PlanDraft): PlanDraft => ({
    ...draft,
    tasks: draft.tasks.map((task) =>
      task.kind === 'gate' ? task : { ...task, dependsOn: [task.key === 'task-1' ? 'task-2' : 'task-1'] },
    ),
  });
  await t.rejects(planned(t, two, cyclic), {
    code: 'PLUGIN_FAULT',
    detail: { plugin: 'planner', hook: 'plan.draft', reason: 'nonsense' },
    message: /cycle/,
  });
});

t.test('a plugin that drops an objective, a boundary or a gate from the plan is refused', async (t) => {
  const without = (key: RegExp) => (draft: PlanDraft) => ({
    ...draft,
    tasks: draft.tasks
      .filter((task) => !key.test(task.key))
      .map((task) => ({ ...task, dependsOn: task.dependsOn.filter((before) => !key.test(before)) })),
  });
  await t.rejects(planned(t, two, without(/^task-2$/)), {
    code: 'PLAN_INVALID',
    detail: { reason: 'objective-dropped' },
  });
  await t.rejects(planned(t, two, without(/^gate-fast$/)), {
    code: 'PLAN_INVALID',
    detail: { reason: 'gate-dropped' },
  });
  const loose = (draft: PlanDraft) => ({
    ...draft,
    tasks: draft.tasks.map((task) => ({ ...task, constraints: [] })),
  });
  await t.rejects(planned(t, two, loose), { code: 'PLAN_INVALID', detail: { reason: 'boundary-dropped' } });
});

t.test('duplicate or conflicting objectives give PLAN_DUPLICATE_OBJECTIVE or PLAN_CONFLICT', async (t) => {
  const same = { intent: { objectives: ['the same thing', ' the  same thing'] } };
  await t.rejects(planned(t, same), { code: 'PLAN_DUPLICATE_OBJECTIVE', exitCode: 1 });
  const overlap = {
    intent: { objectives: ['change src/price.js', 'tidy src/'] },
    objmodel: { planGeneration: { conflictResolution: 'fail-fast' } },
  };
  await t.rejects(planned(t, overlap), {
    code: 'PLAN_CONFLICT',
    detail: { tasks: ['task-1', 'task-2'], path: 'src/price.js' },
  });
  t.equal(
    (await planned(t, overlap, undefined, 'patch')).tasks.filter(({ kind }) => kind !== 'gate').length,
    1,
  );
});

t.test('file clusters of a plan follow the imports of the base tree', async (t) => {
  const sample = sampleOf(t);
  const put = (path: string, text: string) => writeFileSync(join(sample.root, path), text);
  mkdirSync(join(sample.root, 'src', 'http'));
  put('src/http/server.js', "import './route.js';\n");
  put('src/http/route.js', 'export const route = 1;\n');
  put('src/alone.js', 'export const alone = 1;\n');
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', 'More files');
  const spec = (decompositionMode: string) => ({
    intent: {
      objectives: ['no variable is unused'],
      touchHints: { files: ['src/http/', 'src/alone.js'] },
    },
    objmodel: { planGeneration: { decompositionMode } },
  });
  const writes = async (mode: string) =>
    (await planned(t, spec(mode), undefined, 'worker', sample)).tasks
      .filter(({ kind }) => kind === 'implementation')
      .map(({ predictedWrites }) => predictedWrites);
  t.strictSame(await writes('per-file-cluster'), [
    ['src/alone.js'],
    ['src/http/route.js', 'src/http/server.js'],
  ]);
  t.strictSame(await writes('per-objective'), [undefined]);
});

t.test('the retry row of the ledger applies to a worker but not to a patch', async (t) => {
  const row = 'execution.retry.maxRetries';
  const asked = async (who: 'patch' | 'worker') =>
    (await planned(t, {}, undefined, who)).ledger.find(({ id }) => id === row)?.asked;
  t.equal(await asked('worker'), true);
  t.equal(await asked('patch'), false);
});
