import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Worker } from '../../../core/contract/worker.ts';
import { createRecordedWorker } from '../../../plugins/recorded-worker/worker.ts';
import { makeSample, workedBy } from './sample.ts';

const fixed = readFileSync(
  new URL(
    '../../../fixtures/runs/a-bugfix-whose-contract-waives-new-tests-needs-none/change.diff',
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

t.test(
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
