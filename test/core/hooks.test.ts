import t from 'tap';
import { systemClock } from '../../core/base/clock.ts';
import { createHooks, hooksFor, listHooks } from '../../core/hooks.ts';

const setting = { clock: systemClock, timeoutMs: 50, report: () => {} };

t.test('the table, in the order of a run', async (t) => {
  t.strictSame(
    listHooks(createHooks(setting)).map(({ name, kind }) => `${name}: ${kind}`),
    [
      'engine.opened: observe',
      'engine.closed: observe',
      'spec.check: collect',
      'plan.review: observe',
      'tool.guard: guard',
      'tool.settled: observe',
      'patch.judge: collect',
      'artifact.redact: transform',
      'stage.judge: collect',
      'stage.settled: observe',
      'decision.guard: guard',
      'decision.made: observe',
      'statement.fill: collect',
      'attest.settled: observe',
    ],
  );
});

t.test('every hook stands where its name says, and the table cannot change', async (t) => {
  const hooks = createHooks(setting);
  t.ok(Object.isFrozen(hooks));
  for (const [family, points] of Object.entries(hooks)) {
    t.ok(Object.isFrozen(points));
    for (const [point, hook] of Object.entries(points)) t.equal(hook.name, `${family}.${point}`);
  }
});

t.test('answers of collecting and transforming points are checked', async (t) => {
  const answered = async (use: (hooks: ReturnType<typeof hooksFor>) => void) => {
    const hooks = createHooks(setting);
    use(hooksFor(hooks, 'bad'));
    for (const hook of listHooks(hooks)) hook.freeze();
    return hooks;
  };
  const nonsense = { code: 'PLUGIN_FAULT', detail: { plugin: 'bad', reason: 'nonsense' } };
  const wrong = await answered(({ spec, patch, stage, statement, artifact }) => {
    spec.check.tap(() => [{ code: 'X', path: '', message: 'm', severity: 'fatal' as never }]);
    patch.judge.tap(() => [{ rule: 'x', severity: 'error' } as never]);
    stage.judge.tap(() => 'fine' as never);
    statement.fill.tap(() => [{ name: 'x', digest: { sha256: 'not hex' } }]);
    artifact.redact.tap((artifact) => ({ ...artifact, bytes: 'text' as never }));
  });
  const artifact = { name: 'test-log', contentType: 'text/plain', bytes: new Uint8Array(), redactions: 0 };
  await t.rejects(wrong.spec.check.call({} as never), nonsense);
  await t.rejects(wrong.patch.judge.call({} as never), nonsense);
  await t.rejects(wrong.stage.judge.call({} as never), nonsense);
  await t.rejects(wrong.statement.fill.call({} as never), nonsense);
  await t.rejects(wrong.artifact.redact.call(artifact), nonsense);
  const right = await answered(({ spec, patch, statement, artifact }) => {
    spec.check.tap(() => [{ code: 'X', path: '', message: 'm', severity: 'warning' }]);
    patch.judge.tap(() => [{ rule: 'x', severity: 'note', message: 'm', line: 1 }]);
    statement.fill.tap(() => [{ name: 'x', digest: { sha256: 'ab'.repeat(32) } }]);
    artifact.redact.tap((one) => ({ ...one, bytes: new Uint8Array([42]), redactions: one.redactions + 1 }));
  });
  t.match(await right.spec.check.call({} as never), [{ code: 'X', path: '' }]);
  t.match(await right.patch.judge.call({} as never), [{ rule: 'x', line: 1 }]);
  t.match(await right.statement.fill.call({} as never), [{ name: 'x' }]);
  t.match(await right.artifact.redact.call(artifact), { redactions: 1, bytes: new Uint8Array([42]) });
});
