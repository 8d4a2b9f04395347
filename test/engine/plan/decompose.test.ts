import t from 'tap';
import { fileClusters, hintedFiles, type Imports } from '../../../engine/plan/decompose.ts';
import { draftOf, workOf } from './sample-plan.ts';

const tracked = [
  'docs/a.md',
  'src/a.ts',
  'src/b.ts',
  'src/c.ts',
  'src/d.ts',
  'src/util.ts',
  'test/a.test.ts',
];
const graph = (edges: Readonly<Record<string, readonly string[]>>): Imports =>
  new Map(Object.entries(edges).map(([from, to]) => [from, new Set(to)]));
const imports = graph({
  'src/a.ts': ['src/b.ts', 'src/util.ts'],
  'src/c.ts': ['src/util.ts'],
  'test/a.test.ts': ['src/a.ts'],
});
const wish = {
  decompositionMode: 'per-file-cluster',
  hints: ['src/a.ts', 'src/b.ts', 'src/c.ts', 'src/d.ts'],
} as const;

t.test('groups hinted files that import each other and ignores files outside the hints', async (t) => {
  t.strictSame(hintedFiles(['src', 'test/*.test.ts'], tracked, ''), [
    'src/a.ts',
    'src/b.ts',
    'src/c.ts',
    'src/d.ts',
    'src/util.ts',
    'test/a.test.ts',
  ]);
  t.strictSame(fileClusters(['src/c.ts', 'src/b.ts', 'src/a.ts'], imports), [
    ['src/a.ts', 'src/b.ts'],
    ['src/c.ts'],
  ]);
  t.strictSame(fileClusters(['src/c.ts', 'src/a.ts', 'src/util.ts'], imports), [
    ['src/a.ts', 'src/c.ts', 'src/util.ts'],
  ]);
  t.strictSame(
    fileClusters(['test/a.test.ts', 'src/b.ts', 'src/a.ts'], imports).length,
    1,
    'whichever of the two imports the other',
  );
});

t.test('an objective becomes a step of each cluster that it names', async (t) => {
  const objectives = ['fix src/b.ts', 'fix src/c.ts and src/d.ts', 'fix src/a.ts'];
  t.strictSame(workOf(draftOf({ ...wish, objectives }, { tracked, imports })), [
    ['task-1', ['fix src/b.ts', 'fix src/a.ts'], ['src/a.ts', 'src/b.ts'], []],
    ['task-2', ['fix src/c.ts and src/d.ts'], ['src/c.ts'], []],
    ['task-3', ['fix src/c.ts and src/d.ts'], ['src/d.ts'], []],
  ]);
});

t.test('an objective that names no path becomes a step of every cluster', async (t) => {
  const objectives = ['no callbacks any more', 'fix src/b.ts'];
  t.strictSame(
    workOf(draftOf({ ...wish, objectives }, { tracked, imports })).map((row) => (row as unknown[])[1]),
    [objectives, ['no callbacks any more'], ['no callbacks any more']],
  );
});

t.test('an objective outside every cluster gets its own task, and empty clusters get none', async (t) => {
  const objectives = ['explain it in docs/a.md', 'fix src/b.ts and docs/b.md'];
  const draft = draftOf({ ...wish, objectives, inScope: ['docs/'] }, { tracked, imports });
  t.strictSame(workOf(draft), [
    ['task-1', ['fix src/b.ts and docs/b.md'], ['src/a.ts', 'src/b.ts', 'docs/b.md'], []],
    ['task-2', ['explain it in docs/a.md'], ['docs/a.md'], []],
  ]);
});

t.test('directories and globs in an objective select clusters by their files', async (t) => {
  const hints = ['src/**'];
  const files = ['src/http/a.ts', 'src/http/b.ts', 'src/ui/c.ts'];
  const steps = (objective: string) =>
    draftOf(
      { decompositionMode: 'per-file-cluster', hints, objectives: [objective] },
      { tracked: files, imports: graph({}) },
    ).tasks.map(({ predictedWrites }) => predictedWrites);
  t.strictSame(steps('tidy src/http/'), [['src/http/a.ts'], ['src/http/b.ts']]);
  t.strictSame(steps('tidy src/*/c.ts'), [['src/ui/c.ts']]);
});

t.test('files that the spec puts out of scope belong to no cluster', async (t) => {
  const draft = draftOf(
    { ...wish, objectives: ['no callbacks any more'], outOfScope: ['src/c.ts'] },
    { tracked, imports },
  );
  t.strictSame(
    draft.tasks.map(({ predictedWrites }) => predictedWrites),
    [['src/a.ts', 'src/b.ts'], ['src/d.ts']],
  );
});

t.test('without hints, files or imports there is one task with all objectives', async (t) => {
  const objectives = ['fix src/b.ts', 'nobody waits'];
  const one = [['task-1', objectives, undefined, []]];
  t.strictSame(workOf(draftOf({ ...wish, objectives, hints: [] }, { tracked, imports })), one);
  t.strictSame(workOf(draftOf({ ...wish, objectives, hints: ['lib/'] }, { tracked, imports })), one);
  t.strictSame(workOf(draftOf({ ...wish, objectives }, { tracked })), one);
  t.strictSame(workOf(draftOf({ ...wish, objectives })), one);
});

t.test('too many clusters times objectives fall back to one task', async (t) => {
  const files = Array.from({ length: 1000 }, (_, index) => `src/file-${index}.ts`);
  const objectives = Array.from({ length: 1000 }, (_, index) => `thing ${index} is done`);
  const environment = { tracked: files, imports: graph({}) };
  t.equal(
    draftOf({ decompositionMode: 'per-file-cluster', hints: ['src/'], objectives }, environment).tasks.length,
    1,
  );
});
