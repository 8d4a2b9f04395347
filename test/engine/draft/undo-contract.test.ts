import t from 'tap';
import type { IntentSpec } from '../../../core/interfaces/intentspec.gen.ts';
import { undoContract } from '../../../engine/draft/undo.ts';
import { readIntentSpec } from '../../../spec/read-intent-spec.ts';
import { testsMayGo } from '../../../spec/tests-may-go.ts';
import { sampleSpec } from '../sample.ts';

const words = {
  id: '0196a3c0-3333-7000-8000-000000000003',
  createdAt: '2026-01-02T03:04:05Z',
  createdBy: { type: 'user', id: 'somebody' },
  baseRef: 'trunk',
  runId: '0196a3c0-2222-7000-8000-000000000002',
} as const;
const modified = { path: 'src/price.js', changeType: 'modify' } as const;
const gone = { path: 'test/exact.test.js', changeType: 'delete' } as const;
const named = { id: 'exact', kind: 'testSuite', command: 'node --test test/exact.test.js' };
const unit = { id: 'unit', kind: 'testSuite', command: 'node --test', artifactsProduced: ['test-log'] };

const undone = (files: Parameters<typeof undoContract>[1]['files'], more = {}): IntentSpec =>
  JSON.parse(Buffer.from(undoContract(sampleSpec(more), { ...words, files })).toString());

const checked = (fastChecks: readonly object[]) => ({
  acceptance: { verificationPlan: { fastChecks } },
});

t.test('an undo spec reverses the spec of a run and allows its tests to be removed', async (t) => {
  const document = undone([modified, gone], { intent: { summary: `Prices ${'are exact '.repeat(24)}` } });
  const read = readIntentSpec(Buffer.from(JSON.stringify(document)));
  t.ok(read.ok, JSON.stringify(read.issues));
  if (!read.ok) return;
  t.match(document.metadata, { id: words.id, target: { baseRef: 'trunk', labels: { area: 'price' } } });
  t.match(document.intent, { summary: /^Undo: Prices/, changeType: 'unknown', inScope: ['src/', 'test/'] });
  t.equal(document.intent.summary.length <= 256, true);
  const mayGo = testsMayGo(read.effective, [], () => false);
  t.ok(mayGo('test/exact.test.js', 'any'));
  t.ok(mayGo('src/price.js', 'any'), 'languages hold tests beside their code');
  t.notOk(mayGo('test/price.test.js', 'any'), 'tests elsewhere stay');
});

t.test('an undo spec drops a check that names a deleted file, together with its artifacts', async (t) => {
  const other = { ...named, artifactsProduced: ['exact-log'] };
  const required = [
    { name: 'exact-log', stage: 'per-task' },
    { name: 'test-log', stage: 'per-task' },
  ];
  const { acceptance, artifacts } = undone([gone], { ...checked([unit, other]), artifacts: { required } });
  t.match(
    acceptance.verificationPlan.fastChecks.map(({ id }) => id),
    ['unit'],
  );
  t.match(
    artifacts.required.map(({ name }) => name),
    ['test-log'],
  );
  const kept = undone([modified], checked([unit, other]));
  t.equal(kept.acceptance.verificationPlan.fastChecks.length, 2);
});

t.test('a check names a deleted file only if the whole path matches', async (t) => {
  const go = (path: string) => ({ path, changeType: 'delete' }) as const;
  const lint = { id: 'lint', kind: 'testSuite', command: 'npm run lint -- --rule=x.js src/lint/x.json' };
  for (const path of ['lint', 'x.js', 'src/lint', 'lint/x.json', 'n', 'm run', 'x.jso']) {
    const isNamed = path === 'x.js';
    const { acceptance } = undone([go(path)], checked([unit, lint]));
    t.equal(acceptance.verificationPlan.fastChecks.length, isNamed ? 1 : 2, path);
  }
  for (const command of ['node ./a/b.js', 'node "a/b.js"', 'cat a/b.js|wc', 'x=a/b.js; node $x']) {
    const { acceptance } = undone([go('a/b.js')], checked([unit, { ...named, command }]));
    t.equal(acceptance.verificationPlan.fastChecks.length, 1, command);
  }
});

t.test('an undo spec keeps all fast checks if none would be left', async (t) => {
  const { acceptance } = undone([gone], checked([named]));
  t.match(
    acceptance.verificationPlan.fastChecks.map(({ id }) => id),
    ['exact'],
  );
});
