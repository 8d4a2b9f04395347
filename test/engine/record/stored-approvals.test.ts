import t from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import type { ObjectStore } from '../../../core/interfaces/store.ts';
import { listApprovals, storeApproval } from '../../../engine/record/stored-approvals.ts';
import { openGitNativeStore } from '../../../plugins/store/git-native-store.ts';
import { storeRefs } from '../../../store/stores.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { makeSample } from '../sample.ts';

const sample = makeSample();
t.teardown(() => sample.remove());
const refs = storeRefs('refs/ai');
const objects = openGitNativeStore(await openRepository(sample.root), { clock: systemClock });
const runStore = { objects, refs };
const at = (run: string, n: number | string) => `refs/ai/approvals/${run}/${n}`;
const listed = async (run: string) =>
  (await listApprovals(runStore, run)).map(({ source, bytes }) => [source, Buffer.from(bytes).toString()]);

t.test('approvals are numbered from 1 and listed in that order as bytes', async (t) => {
  t.strictSame(await listed('none'), []);
  for (let n = 1; n <= 2; n += 1) {
    t.equal(await storeApproval(runStore, 'run-1', Buffer.from(`text ${n}`), 'one'), at('run-1', n));
  }
  await objects.writeTree(at('run-1', 10), {
    message: 'x',
    files: [['approval.json', Buffer.from('ten')]],
    keepExisting: false,
  });
  await objects.writeTree(at('run-1', 'odd'), {
    message: 'x',
    files: [['other', Buffer.from('x')]],
    keepExisting: false,
  });
  t.strictSame(await listed('run-1'), [
    [at('run-1', 1), 'text 1'],
    [at('run-1', 2), 'text 2'],
    [at('run-1', 10), 'ten'],
    [at('run-1', 'odd'), ''],
  ]);
  t.equal(await storeApproval(runStore, 'run-1', Buffer.from('next'), 'one'), at('run-1', 11));
  t.strictSame(await listed('run-10'), [], 'another run of which this one is a beginning');
});

t.test('approvals that are stored at the same time get different numbers', async (t) => {
  const texts = ['a', 'b', 'c'];
  const stored = await Promise.all(
    texts.map((text) => storeApproval(runStore, 'race', Buffer.from(text), text)),
  );
  t.strictSame(
    [...stored].sort(),
    [1, 2, 3].map((n) => at('race', n)),
  );
  t.strictSame((await listed('race')).map(([, text]) => text).sort(), texts);
});

t.test('an approval gets the next number if another writer uses its number first', async (t) => {
  let disturbed = 0;
  const racing: ObjectStore = {
    ...objects,
    async writeTree(ref, write) {
      if (disturbed++ === 0)
        await objects.writeTree(ref, {
          message: 'theirs',
          files: [['approval.json', Buffer.from('theirs')]],
          keepExisting: false,
        });
      return objects.writeTree(ref, write);
    },
  };
  t.equal(await storeApproval({ objects: racing, refs }, 'lost', Buffer.from('ours'), 'x'), at('lost', 2));
  t.strictSame(await listed('lost'), [
    [at('lost', 1), 'theirs'],
    [at('lost', 2), 'ours'],
  ]);
});

t.test('a store error is not retried as a lost race', async (t) => {
  let tries = 0;
  const broken: ObjectStore = {
    ...objects,
    async writeTree(ref, write) {
      tries += 1;
      return objects.writeTree(ref, { ...write, files: [['../escape', Buffer.from('x')]] });
    },
  };
  await t.rejects(storeApproval({ objects: broken, refs }, 'broken', Buffer.from('x'), 'x'), {
    code: 'EVIDENCE_WRITE_FAILED',
  });
  t.equal(tries, 1);
});
