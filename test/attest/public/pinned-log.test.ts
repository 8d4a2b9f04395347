import t, { type Test } from 'tap';
import { type CheckpointMemory, openCheckpointMemory } from '../../../attest/log/checkpoint-memory.ts';
import { pinnedLog } from '../../../attest/log/pinned-log.ts';
import type { OutsideLog } from '../../../core/interfaces/sealing.ts';
import { type TestTree, testTree } from '../log/test-tree.ts';

/** A log that a plugin speaks to, as one process or clone opens it; `changes` are what the plugin does otherwise. */
const open = (directory: string, log: TestTree, changes: Partial<OutsideLog> = {}) =>
  openWith(openCheckpointMemory(directory), { ...log, ...changes });
const openWith = (memory: CheckpointMemory, outside: OutsideLog) =>
  pinnedLog({ mode: 'public-log', name: 'notary', vkey: testTree(0).key.vkey, memory }, outside);
const body = (text: string): Buffer => Buffer.from(text);
const newest = async (directory: string, { key }: TestTree) =>
  (await openCheckpointMemory(directory).latest({ origin: key.name, keyId: key.keyId }))?.size;
/** The same log through a plugin that proves nothing of how it grew. */
function silent({ consistency: _, ...log }: TestTree): OutsideLog {
  return log;
}

t.test('sealing remembers the newest checkpoint of a log that proves its growth', async (t) => {
  const directory = t.testdir();
  const log = testTree(3);
  for (const size of [4, 5, 6]) {
    t.match(await open(directory, log).append(body('x')), { treeSize: size });
    t.equal(await newest(directory, log), size);
  }
});

t.test('sealing remembers only the first checkpoint of a log that gives no proofs', async (t) => {
  const directory = t.testdir();
  const log = testTree(3);
  for (const text of ['x', 'y']) {
    await openWith(openCheckpointMemory(directory), silent(log)).append(body(text));
    t.equal(await newest(directory, log), 4);
  }
  const other = log.fork(3, 0);
  await t.rejects(openWith(openCheckpointMemory(directory), silent(other)).append(body('z')), {
    code: 'LOG_FORKED',
    message: /^the log `notary` of a plugin: .*showed 4 entries that are not those/,
    detail: { mode: 'public-log', log: 'notary', reason: 'forked' },
    hints: [/./],
  });
  t.match(await openWith(openCheckpointMemory(directory), silent(log.fork(2, 8))).append(body('z')), {
    treeSize: 11,
  });
});

/** What stands in the log now, where this user has seen 9 entries. */
const refused: Readonly<Record<string, (log: TestTree) => readonly [TestTree, Partial<OutsideLog>?]>> = {
  'forked before what was seen': (log) => [log.fork(5, 20)],
  'put back to an earlier size': (log) => [log.fork(5, 0)],
  'started over': (log) => [log.fork(0, 0)],
  'that does not prove how it grew': (log) => [log, { consistency: async () => ({ hashes: [] }) }],
  'whose plugin gives no proof': (log) => [
    log,
    { consistency: () => Promise.reject(new TypeError('expected a list, got null')) },
  ],
};

for (const [what, make] of Object.entries(refused))
  t.test(`a log ${what} is refused with its name and a hint`, async (t) => {
    const directory = t.testdir();
    const log = testTree(8);
    await open(directory, log).append(body('x'));
    const [shown, changes] = make(log);
    await t.rejects(open(directory, shown, changes).append(body('y')), {
      code: 'LOG_FAILED',
      message: /^the log `notary` of a plugin: .*was seen with 9 entries.*expected.*found.*ask its operator/,
      detail: { mode: 'public-log', log: 'notary', reason: 'unproven', seen: 9 },
      hints: [/./, /./],
    });
    t.equal(await newest(directory, log), 9);
  });

t.test('a log that shows another tree of a remembered size is a fork', async (t) => {
  const directory = t.testdir();
  const log = testTree(8);
  await open(directory, log).append(body('x'));
  await t.rejects(open(directory, log.fork(7, 1)).append(body('y')), {
    code: 'LOG_FORKED',
    detail: { log: 'notary', seen: 9, found: 9 },
  });
});

t.test('an unreadable checkpoint memory is STATE_CORRUPT and is not overwritten', async (t) => {
  const spoilt: CheckpointMemory = openCheckpointMemory(`${t.testdir({ a: 'x' })}/a`);
  for (const act of [
    async (log: ReturnType<typeof openWith>) => void (await log.append(body('x'))),
    async (log: ReturnType<typeof openWith>) => void (await log.size()),
  ])
    await t.rejects(act(openWith(spoilt, testTree(3))), { code: 'STATE_CORRUPT', hints: [/remove/] });
});

t.test('clones that seal concurrently at one log do not look like a fork', async (t) => {
  const directory = t.testdir();
  const log = testTree(0);
  await open(directory, log).append(body('first'));
  // Answers come late, and not in the order in which the log took the entries.
  const slow = (n: number): Partial<OutsideLog> => ({
    async append(entry, behind) {
      const proof = await log.append(entry, behind);
      for (let turn = (n * 7) % 5; turn > 0; turn -= 1) await new Promise(setImmediate);
      return proof;
    },
  });
  const clones = Array.from({ length: 12 }, (_, n) => open(directory, log, slow(n)));
  const sizes = await Promise.all(
    clones.map(async (clone, n) => {
      await clone.size();
      return (await clone.append(body(`${n}`))).treeSize;
    }),
  );
  t.equal(new Set(sizes).size, 12);
  t.equal(await newest(directory, log), 13);
});

t.test('a log that grows between reading its size and appending proves its growth and passes', async (t) => {
  const directory = t.testdir();
  const log = testTree(2);
  const own = open(directory, log);
  const behind = await own.size();
  await open(directory, log).append(body('of another'));
  t.match(await own.append(body('own'), { behind }), { logIndex: 3, treeSize: 4 });
  t.equal(await own.size(), 4);
});

t.test('a size that is outdated by a concurrent seal is not a rollback', async (t) => {
  const directory = t.testdir();
  const log = testTree(2);
  const slow = open(directory, log, {
    async size() {
      const size = log.entries.length;
      await open(directory, log).append(body('meanwhile'));
      return size;
    },
  });
  t.equal(await slow.size(), 2);
  t.equal(await newest(directory, log), 3);
  await t.rejects(open(directory, log.fork(2, 0)).size(), {
    code: 'LOG_FAILED',
    message: /it had 3 entries, and now has 2/,
  });
});

t.test('a consistency proof comes from the plugin, and its errors name the log', async (t: Test) => {
  const log = testTree(9);
  const pinned = open(t.testdir(), log);
  t.strictSame(await pinned.consistency?.(3, 9), await log.consistency(3, 9));
  await t.rejects(async () => pinned.consistency?.(3, 10), {
    code: 'LOG_FAILED',
    message: /`notary`.*9 entries/,
  });
  t.equal(openWith(openCheckpointMemory(t.testdir()), silent(log)).consistency, undefined);
});
