import { readdirSync } from 'node:fs';
import t from 'tap';
import type { SignedCheckpoint } from '../../../attest/log/checkpoint.ts';
import {
  type CheckpointMemory,
  holdToSeen,
  openCheckpointMemory,
} from '../../../attest/log/checkpoint-memory.ts';
import { type TestTree, testTree } from './test-tree.ts';

const hold = (found: SignedCheckpoint, memory: CheckpointMemory, log: TestTree) =>
  holdToSeen(found, memory, log.consistency);
const newest = async (memory: CheckpointMemory, log: TestTree) =>
  (await memory.latest({ origin: log.key.name, keyId: log.key.keyId }))?.size;

t.test('a growing log passes, and its newest checkpoint is remembered', async (t) => {
  const memory = openCheckpointMemory(t.testdir());
  const log = testTree(600);
  for (const size of [1, 2, 7, 8, 255, 256, 257, 600]) {
    await hold(await log.head(size), memory, log);
    t.equal(await newest(memory, log), size);
  }
  await hold(await log.head(600), memory, log);
});

t.test('every pair of sizes is proven to belong to one history', async (t) => {
  const log = testTree(17);
  for (let from = 1; from <= 17; from += 1)
    for (let to = 1; to <= 17; to += 1) {
      const seen = await log.head(from);
      const memory = { at: async () => undefined, near: async () => [seen] };
      const kept: number[] = [];
      const remember = async ({ size }: { readonly size: number }) => void kept.push(size);
      if (from === to) continue;
      await hold(await log.head(to), { ...memory, latest: async () => seen, remember }, log);
      t.strictSame(kept, [to]);
    }
});

/** What a log that was seen with 20 entries may show next, and how it is asked to prove that. */
type Lie = (log: TestTree) => readonly [shown: TestTree, size: number, asked?: TestTree['consistency']];
const flip = (hashes: readonly Uint8Array[]): Uint8Array[] =>
  hashes.map((hash, n) => (n === 1 ? Buffer.alloc(32, 9) : hash));
const changed =
  (
    log: TestTree,
    change: (hashes: readonly Uint8Array[]) => readonly Uint8Array[],
  ): TestTree['consistency'] =>
  async (from, to) => ({ hashes: change((await log.consistency(from, to)).hashes) });

const unproven: Readonly<Record<string, Lie>> = {
  'a fork that has grown larger': (log) => [log.fork(19, 5), 24],
  'a fork whose keeper proves the honest tree': (log) => [log.fork(19, 5), 24, log.consistency],
  'a fork from the first entry on': (log) => [log.fork(0, 40), 40],
  'a log that shrank and grew by another entry': (log) => [log.fork(10, 1), 11],
  'a log that shrank and says nothing of what it had': (log) => [
    log.fork(10, 1),
    11,
    async () => ({ hashes: [] }),
  ],
  'a log started over': (log) => [log.fork(0, 1), 1],
  'a proof of other sizes': (log) => [log, 24, (from, to) => log.consistency(from - 1, to)],
  'a proof of an older tree': (log) => [log, 24, (from) => log.consistency(from, 23)],
  'no nodes': (log) => [log, 24, async () => ({ hashes: [] })],
  'a wrong node': (log) => [log, 24, changed(log, flip)],
  'a node too few': (log) => [log, 24, changed(log, (hashes) => hashes.slice(1))],
  'a node too many': (log) => [log, 24, changed(log, (hashes) => [...hashes, Buffer.alloc(32)])],
  'the nodes the other way round': (log) => [log, 24, changed(log, (hashes) => [...hashes].reverse())],
  'a node of 31 octets': (log) => [
    log,
    24,
    changed(log, (hashes) => hashes.map((hash, n) => (n === 0 ? hash.subarray(1) : hash))),
  ],
  'no answer': (log) => [log, 24, () => Promise.reject(new Error('it is asleep'))],
};

for (const [what, lie] of Object.entries(unproven))
  t.test(`${what} is refused, and its checkpoint is not remembered`, async (t) => {
    const memory = openCheckpointMemory(t.testdir());
    const log = testTree(24);
    await hold(await log.head(20), memory, log);
    const [shown, size, asked = shown.consistency] = lie(log);
    const found = await shown.head(size);
    await t.rejects(holdToSeen(found, memory, asked), {
      code: 'LOG_FAILED',
      message: new RegExp(
        `seen with 20 entries and shows ${size} now: expected .*, found .*; ask its operator`,
      ),
      detail: {
        reason: 'unproven',
        seen: 20,
        found: size,
        answer: /./,
        seen_checkpoint: [log.key.name, '20'],
        found_checkpoint: [log.key.name, `${size}`],
      },
      hints: [/./, /./],
    });
    t.equal(await newest(memory, log), 20, 'what was seen stays');
    t.equal(await memory.at(found, size), undefined);
    await hold(await log.head(24), memory, log);
  });

t.test('a different tree of a remembered size is a fork, reported with both checkpoints', async (t) => {
  const memory = openCheckpointMemory(t.testdir());
  const log = testTree(20);
  await hold(await log.head(), memory, log);
  const other = log.fork(19, 1);
  await t.rejects(hold(await other.head(), memory, other), {
    code: 'LOG_FORKED',
    detail: { reason: 'forked', seen: 20, found: 20, seen_checkpoint: [], found_checkpoint: [] },
    hints: [/keep both/],
  });
});

t.test('a checkpoint smaller than the newest one passes with a proof to both neighbours', async (t) => {
  const directory = t.testdir();
  const log = testTree(12);
  await hold(await log.head(5), openCheckpointMemory(directory), log);
  await hold(await log.head(12), openCheckpointMemory(directory), log);
  const asked: (readonly number[])[] = [];
  await holdToSeen(await log.head(7), openCheckpointMemory(directory), (from, to) => {
    asked.push([from, to]);
    return log.consistency(from, to);
  });
  t.strictSame(asked, [
    [5, 7],
    [7, 12],
  ]);
  t.equal(await newest(openCheckpointMemory(directory), log), 12, 'the newest stays the newest');
  t.strictSame(readdirSync(`${directory}/${readdirSync(directory).find((name) => name !== 'tmp')}`).sort(), [
    '12',
    '5',
    '7',
  ]);
});

t.test('any number of concurrent seals on a growing log pass, in any order', async (t) => {
  const directory = t.testdir();
  const log = testTree(40);
  const heads = await Promise.all(Array.from({ length: 40 }, (_, n) => log.head(n + 1)));
  const shuffled = [...heads.filter((_, n) => n % 3 === 1), ...heads.filter((_, n) => n % 3 !== 1).reverse()];
  await Promise.all(shuffled.map((head) => hold(head, openCheckpointMemory(directory), log)));
  t.equal(await newest(openCheckpointMemory(directory), log), 40);
});

t.test(
  'a log that shows different histories to two concurrent seals is detected by at least one',
  async (t) => {
    for (const [first, second] of [
      [7, 9],
      [9, 7],
    ] as const) {
      const directory = t.testdir();
      const log = testTree(9);
      const other = log.fork(5, 4);
      const memory = openCheckpointMemory(directory);
      await hold(await log.head(5), memory, log);
      // Both look at what was seen before either has kept anything.
      const [one, two] = [await log.head(first), await other.head(second)];
      const both = Promise.withResolvers<void>();
      let looked = 0;
      const together = (): CheckpointMemory => {
        const own = openCheckpointMemory(directory);
        return {
          ...own,
          async remember(checkpoint) {
            looked += 1;
            if (looked === 2) both.resolve();
            await both.promise;
            await own.remember(checkpoint);
          },
        };
      };
      const outcomes = await Promise.allSettled([hold(one, together(), log), hold(two, together(), other)]);
      t.ok(
        outcomes.some(({ status }) => status === 'rejected'),
        `${first} and ${second}`,
      );
    }
  },
);

t.test('a memory that cannot be written is no failure, and a fork is still detected', async (t) => {
  const log = testTree(9);
  const seen = await log.head(5);
  const readOnly: CheckpointMemory = {
    latest: async () => seen,
    at: async () => undefined,
    near: async () => [seen],
    remember: () => Promise.reject(Object.assign(new Error('read-only'), { code: 'EROFS' })),
  };
  await hold(await log.head(), readOnly, log);
  const alike = { ...readOnly, at: async () => log.fork(4, 5).head() };
  await t.rejects(hold(await log.head(), alike, log), { code: 'LOG_FORKED' });
  const other = log.fork(4, 5);
  await t.rejects(hold(await other.head(), readOnly, other), {
    code: 'LOG_FAILED',
    detail: { reason: 'unproven' },
  });
});

t.test('growth from an empty tree needs no proof and makes no request', async (t) => {
  const memory = openCheckpointMemory(t.testdir());
  const log = testTree(3);
  await memory.remember(await log.head(0));
  await holdToSeen(await log.head(3), memory, () => Promise.reject(new Error('asked')));
  t.equal(await newest(memory, log), 3);
});
