import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { commands } from '../../bin/command-table.ts';
import type { Worker } from '../../core/interfaces/worker.ts';
import { createRecordedWorker } from '../../plugins/recorded-worker/plugin.ts';
import { runLine } from '../bin/host.ts';
import { long } from '../rooms/long.ts';
import { makeSample, workedBy } from './sample.ts';

const fixed = readFileSync(
  new URL(
    '../../fixtures/runs/a-bugfix-whose-contract-waives-new-tests-needs-none/change.diff',
    import.meta.url,
  ),
  'utf8',
);
const waived = { acceptance: { qualityGates: { requireNewTestsWhenBugfix: false } } };

t.test(
  'a run whose plan names a file with local changes is refused before the worker is called',
  async (t) => {
    const { sample, worker, calls } = dirtySample(t);
    const objectives = ['Correct price() in src/price.js'];
    await t.rejects(sample.run({ worker }, { ...waived, intent: { objectives } }), {
      code: 'WORKTREE_DIRTY',
      exitCode: 128,
      detail: { count: 1, found: ['src/price.js (modified)'] },
    });
    t.equal(calls(), 0);
    t.equal(sample.git('for-each-ref', 'refs/ai'), '', 'nothing was begun');
  },
);

long(
  'a change to a file with local changes stops before evaluation, and is resumed without the worker',
  async (t) => {
    const { sample, worker, calls } = dirtySample(t);
    const runId = '01a21fa1-8dcd-7528-a91d-ed9ff744cade';
    await t.rejects(sample.run({ worker, runId }, waived), {
      code: 'WORKTREE_DIRTY',
      detail: { found: ['src/price.js (modified)'] },
    });
    t.equal(calls(), 1, 'no repair was tried');
    t.equal(readFileSync(join(sample.root, 'src/price.js'), 'utf8'), 'mine\n');

    const again = workedBy({ worker }).more;
    await t.rejects(sample.resume(runId, {}, again), { code: 'WORKTREE_DIRTY' });
    sample.git('checkout', '--', 'src/price.js');
    const view = await sample.resume(runId, {}, again);
    t.equal(view.decision?.type, 'commit', String(view.decision?.rationale));
    t.equal(calls(), 1, 'the work was kept');
    t.match(readFileSync(join(sample.root, 'src/price.js'), 'utf8'), 'return count * cents;');
  },
);

t.test('local changes that are set aside are untouched while the run works, and merged back', async (t) => {
  const { sample, worker } = dirtySample(t);
  const path = join(sample.root, 'src/price.js');
  sample.git('checkout', '--', 'src/price.js');
  writeFileSync(path, `${readFileSync(path, 'utf8')}\n// mine\n`);
  const before = readFileSync(path, 'utf8');
  let seen = '';
  const watched: Worker = {
    ...worker,
    work(...order) {
      seen = readFileSync(path, 'utf8');
      return worker.work(...order);
    },
  };
  const view = await sample.run({ worker: watched, localChanges: 'set-aside' }, waived);
  t.equal(view.decision?.type, 'commit', String(view.decision?.rationale));
  t.equal(seen, before);
  t.notMatch(sample.git('show', 'HEAD:src/price.js'), 'mine', 'the change was made on the base commit');
  t.equal(readFileSync(path, 'utf8'), before.replace('return count * cents + 1;', 'return count * cents;'));
  t.equal(sample.git('for-each-ref', 'refs/writ'), '');
});

long('after a conflict, the run and every other command name the ref', async (t) => {
  const { sample, worker } = dirtySample(t);
  const view = await sample.run({ worker, localChanges: 'set-aside' }, waived);
  t.equal(view.decision?.type, 'commit', String(view.decision?.rationale));
  const ref = `refs/writ/set-aside/${view.runId}`;
  t.match(view.notices, [`git stash apply ${ref}`]);
  t.equal(sample.git('show', `${ref}:src/price.js`), 'mine');
  for (const line of [['runs'], ['--json', 'runs'], ['-q', 'spec', 'validate', '-'], ['show', 'none']]) {
    const { err } = await runLine(line, commands, { cwd: join(sample.root, 'src'), env: sample.env });
    t.match(err, `git stash apply ${ref}`, line.join(' '));
  }
  const linked = join(t.testdir({}), 'linked');
  sample.git('worktree', 'add', '--quiet', '--detach', linked);
  t.match((await runLine(['runs'], commands, { cwd: linked, env: sample.env })).err, ref, 'a linked tree');
  sample.git('pack-refs', '--all');
  t.match((await runLine(['runs'], commands, { cwd: sample.root, env: sample.env })).err, ref);
  sample.git('update-ref', '-d', ref);
  t.equal((await runLine(['runs'], commands, { cwd: sample.root, env: sample.env })).err, '');
});

/** A sample with a local change in the file that its worker corrects. */
function dirtySample(t: Test) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  writeFileSync(join(sample.root, 'src', 'price.js'), 'mine\n');
  const recorded = createRecordedWorker([{ task: 1, attempt: 1, patch: fixed }], async () => {});
  let called = 0;
  const worker: Worker = {
    ...recorded,
    work(...order) {
      called += 1;
      return recorded.work(...order);
    },
  };
  return { sample, worker, calls: () => called };
}
