import assert from 'node:assert/strict';
import { systemClock } from '../../core/base/clock.ts';
import { type CaseRunner, runCases } from './run-cases.ts';
import {
  openBench,
  ref,
  type StoreCases,
  type StoreSubject,
  sameBytes,
  text,
  versionFiles,
} from './store-bench.ts';
import { storeCases } from './store-cases.ts';

/**
 * Runs a store through what every store promises; rejects with an AssertionError that names the case. Takes some
 * seconds.
 */
export async function storeTester(runner: CaseRunner | undefined, subject: StoreSubject): Promise<void> {
  const promises = Object.entries({ ...storeCases, ...storeProcessCases }).map(
    ([sentence, judge]) => [sentence, async () => judge(await openBench(subject))] as const,
  );
  await runCases(runner, 'store', subject.export, Object.fromEntries(promises));
}

/** What a store promises while other processes write to it, or are killed at it. */
const storeProcessCases: StoreCases = {
  'two processes that add at once lose nothing of each other': async ({ store, start }) => {
    const count = 5;
    const names = ['left', 'right'];
    const started = names.map((name) => start({ task: 'add', name, count }));
    for (const { process } of started) {
      const { code, stderr } = await process.exited;
      assert.equal(code, 0, stderr.toString('utf8'));
    }
    const expected = names.flatMap((name) => Array.from({ length: count }, (_, index) => `${name}/${index}`));
    assert.deepEqual(
      (await store.list(ref)).map(({ path }) => path),
      expected.sort(),
    );
  },
  'a process that is killed in the middle of a write leaves what was there, and the next write works':
    async ({ store, start }) => {
      const first = await store.writeTree(ref, {
        message: 'm',
        files: [['kept', text('1')]],
        keepExisting: true,
      });
      const { process, said } = start({ task: 'hang', name: 'half', count: 500 });
      await said();
      process.kill();
      await process.exited;
      assert.equal(await store.version(ref), first);
      assert.deepEqual(
        (await store.list(ref)).map(({ path }) => path),
        ['kept'],
      );
      await store.writeTree(ref, {
        message: 'm',
        files: [['next', text('2')]],
        keepExisting: true,
        expectedOld: first,
      });
      assert.equal((await store.list(ref)).length, 2);
    },
  'whenever a writer is killed, the version that is current is a whole one': async ({ store, start }) => {
    const count = 20;
    for (const waitMs of [0, 11, 37]) {
      const { process, said } = start({ task: 'replace', name: `kill-${waitMs}`, count });
      await said();
      await systemClock.sleep(waitMs);
      process.kill();
      await process.exited;
      const listed = await store.list(ref);
      const read = await store.readMany(
        ref,
        listed.map(({ path }) => path),
      );
      assert.equal(read.size, count);
      assert.equal(new Set([...read.values()].map(String)).size, 1, 'one version');
      const after = versionFiles(`after-${waitMs}`, count);
      await store.writeTree(ref, { message: 'm', files: after, keepExisting: false });
      sameBytes(await store.read(ref, 'part/0'), text(`after-${waitMs}`));
    }
  },
};
