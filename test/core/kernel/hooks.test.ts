import t from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import { createHooks, hooksFor, listHooks } from '../../../core/kernel/hooks.ts';

const setting = { clock: systemClock, timeoutMs: 50, report: () => {} };

t.test('the hooks are listed in the order of a run', async (t) => {
  t.strictSame(
    listHooks(createHooks(setting)).map(({ name, kind }) => `${name}: ${kind}`),
    [
      'engine.opened: observe',
      'engine.closed: observe',
      'spec.check: collect',
      'plan.draft: transform',
      'plan.review: observe',
      'frame.admit: guard',
      'frame.tag: transform',
      'frame.redact: transform',
      'tool.guard: guard',
      'tool.started: observe',
      'tool.settled: observe',
      'patch.judge: collect',
      'artifact.redact: transform',
      'stage.judge: collect',
      'stage.settled: observe',
      'replan.sense: collect',
      'decision.guard: guard',
      'decision.made: observe',
      'statement.fill: collect',
      'attest.settled: observe',
    ],
  );
});

t.test('every hook has the name of its place in the frozen table', async (t) => {
  const hooks = createHooks(setting);
  t.ok(Object.isFrozen(hooks));
  for (const [family, points] of Object.entries(hooks)) {
    t.ok(Object.isFrozen(points));
    for (const [point, hook] of Object.entries(points)) t.equal(hook.name, `${family}.${point}`);
  }
});

t.test('answers of collect and transform hooks are validated', async (t) => {
  const answered = async (use: (hooks: ReturnType<typeof hooksFor>) => void) => {
    const hooks = createHooks(setting);
    use(hooksFor(hooks, 'bad'));
    for (const hook of listHooks(hooks)) hook.freeze();
    return hooks;
  };
  const nonsense = { code: 'PLUGIN_FAULT', detail: { plugin: 'bad', reason: 'nonsense' } };
  const wrong = await answered(({ spec, plan, patch, stage, statement, artifact, frame, replan }) => {
    spec.check.tap(() => [{ code: 'X', path: '', message: 'm', severity: 'fatal' as never }]);
    plan.draft.tap((draft) => ({
      ...draft,
      tasks: draft.tasks.map((task) => ({ ...task, dependsOn: [task.key] })),
    }));
    patch.judge.tap(() => [{ rule: 'x', severity: 'error' } as never]);
    stage.judge.tap(() => 'fine' as never);
    replan.sense.tap(() => ['boredom' as never]);
    statement.fill.tap(() => [{ name: 'x', digest: { sha256: 'not hex' } }]);
    artifact.redact.tap((artifact) => ({ ...artifact, bytes: 'text' as never }));
    frame.tag.tap((entry) => ({ ...entry, tags: { '': 'nameless' } }));
    frame.redact.tap((entry) => ({ ...entry, bytes: [1] as never }));
  });
  const entry = {
    runId: 'r',
    form: 'item',
    kind: 'Snippet',
    name: 'a.ts#L1-L2',
    trustTier: 'repo',
    tags: {},
    bytes: new Uint8Array(),
    policy: { remove: [], beyond: [], words: {} },
  } as const;
  const artifact = {
    name: 'test-log',
    contentType: 'text/plain',
    bytes: new Uint8Array(),
    policy: { remove: [], beyond: [], words: {} },
    redactions: 0,
    receipt: [],
  };
  await t.rejects(wrong.spec.check.call({} as never), nonsense);
  const task = {
    key: 'task-1',
    number: 1,
    kind: 'implementation',
    title: 'a task',
    goal: 'chore',
    steps: ['a step'],
    constraints: [],
    acceptanceCriteria: [],
    dependsOn: [],
    gateStages: [],
  } as const;
  const draft = { revision: 1, tasks: [task] };
  await t.rejects(wrong.plan.draft.call(draft), nonsense);
  await t.rejects(wrong.patch.judge.call({} as never), nonsense);
  await t.rejects(wrong.stage.judge.call({} as never), nonsense);
  await t.rejects(wrong.replan.sense.call({} as never), nonsense);
  await t.rejects(wrong.statement.fill.call({} as never), nonsense);
  await t.rejects(wrong.artifact.redact.call(artifact), nonsense);
  await t.rejects(wrong.frame.tag.call(entry), nonsense);
  await t.rejects(wrong.frame.redact.call(entry), nonsense);
  const right = await answered(({ spec, plan, patch, statement, artifact, frame, replan }) => {
    spec.check.tap(() => [{ code: 'X', path: '', message: 'm', severity: 'warning' }]);
    plan.draft.tap((one) => ({ ...one, tasks: one.tasks.map((each) => ({ ...each, goal: 'docs' })) }));
    patch.judge.tap(() => [{ rule: 'x', severity: 'note', message: 'm', line: 1 }]);
    replan.sense.tap(() => ['unknown-api']);
    statement.fill.tap(() => [{ name: 'x', digest: { sha256: 'ab'.repeat(32) } }]);
    artifact.redact.tap((one) => ({ ...one, bytes: new Uint8Array([42]), redactions: one.redactions + 1 }));
    frame.tag.tap((one) => ({ ...one, tags: { ...one.tags, topic: 'x' } }));
    frame.redact.tap((one) => ({ ...one, bytes: new Uint8Array([42]) }));
  });
  t.match(await right.spec.check.call({} as never), [{ code: 'X', path: '' }]);
  t.strictSame(await right.plan.draft.call(draft), { revision: 1, tasks: [{ ...task, goal: 'docs' }] });
  t.match(await right.patch.judge.call({} as never), [{ rule: 'x', line: 1 }]);
  t.strictSame(await right.replan.sense.call({} as never), ['unknown-api']);
  t.match(await right.statement.fill.call({} as never), [{ name: 'x' }]);
  t.strictSame(await right.frame.tag.call(entry), { ...entry, tags: { topic: 'x' } });
  t.match(await right.frame.redact.call(entry), { bytes: new Uint8Array([42]) });
  t.match(await right.artifact.redact.call(artifact), { redactions: 1, bytes: new Uint8Array([42]) });
});
