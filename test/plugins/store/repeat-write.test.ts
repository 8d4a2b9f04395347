import t from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import type { RefWrite } from '../../../core/interfaces/store.ts';
import { openGitNativeStore } from '../../../plugins/store/git-native-store.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { makeRepository } from '../../workspace/git/sample-repository.ts';

const ref = 'refs/ai/runs/r';
const atMs = 1_700_000_000_500;
const write = (text: string, expectedOld: string | null) => ({
  message: 'run r',
  files: [['a/b', Buffer.from(text)]] as [string, Uint8Array][],
  keepExisting: true,
  expectedOld,
  atMs,
});

async function openStore(dir: string) {
  const sample = makeRepository(dir);
  const repo = await openRepository(dir);
  return { sample, store: openGitNativeStore(repo, { clock: systemClock }) };
}

t.test('the same write at the same time gives the same commit in any repository', async (t) => {
  const here = await openStore(t.testdir());
  const there = await openStore(t.testdir({ there: {} }));
  const first = await here.store.writeTree(ref, write('1', null));
  t.equal(await there.store.writeTree(ref, write('1', null)), first);
  t.equal(here.sample.git('log', '-1', '--format=%at %ct', ref), '1700000000 1700000000\n');
});

t.test('repeating the latest write succeeds, while a different or older write fails', async (t) => {
  const { sample, store } = await openStore(t.testdir());
  const first = await store.writeTree(ref, write('1', null));
  t.equal(await store.writeTree(ref, write('1', null)), first);
  t.equal(sample.git('rev-list', '--count', ref), '1\n');
  const second = await store.writeTree(ref, write('2', first));
  t.equal(await store.writeTree(ref, write('2', first)), second);
  for (const other of [write('3', first), write('1', null), { ...write('2', first), atMs: atMs + 1000 }])
    await t.rejects(store.writeTree(ref, other), {
      code: 'EVIDENCE_WRITE_FAILED',
      detail: { found: second },
    });
  t.equal(await store.version(ref), second);
});

t.test('the same write made concurrently succeeds each time with one commit', async (t) => {
  const { store, sample } = await openStore(t.testdir());
  const answers = await Promise.all([1, 2, 3].map(() => store.writeTree(ref, write('1', null))));
  t.equal(new Set(answers).size, 1);
  t.equal(sample.git('rev-list', '--count', ref), '1\n');
});

t.test('anchored commits are kept alive without adding their files to the version', async (t) => {
  const { sample, store } = await openStore(t.testdir());
  sample.commit({ base: 'x' });
  const candidate = sample.commit({ candidate: 'y' });
  sample.git('reset', '-q', '--hard', 'HEAD^');
  const first = await store.writeTree(ref, { ...write('1', null), anchors: [candidate] });
  const second = await store.writeTree(ref, { ...write('2', first), anchors: [candidate] });
  t.equal(sample.git('rev-list', '--parents', '-1', ref).trim(), `${second} ${first} ${candidate}`);
  t.match(await store.list(ref), [{ path: 'a/b' }]);
  t.equal((await store.list(ref)).length, 1);
  sample.git('reflog', 'expire', '--expire=now', '--all');
  sample.git('gc', '-q', '--prune=now');
  t.equal(sample.git('show', `${candidate}:candidate`), 'y');
  for (const anchor of ['--output=x', 'f'.repeat(40), sample.git('rev-parse', 'HEAD^{tree}').trim()])
    await t.rejects(store.writeTree(ref, { ...write('3', second), anchors: [anchor] }), {
      code: 'EVIDENCE_WRITE_FAILED',
    });
  t.equal(await store.version(ref), second);
});

t.test('several writes move all their refs or none, and can be repeated after a part of them', async (t) => {
  const { store, sample } = await openStore(t.testdir());
  const writeTrees = async (writes: readonly RefWrite[]): Promise<void> => store.writeTrees?.(writes);
  const other = 'refs/ai/content/r';
  const both = [[other, write('1', null)] as const, [ref, write('2', null)] as const];
  const taken = await store.writeTree(ref, write('9', null));
  await t.rejects(writeTrees(both), { code: 'EVIDENCE_WRITE_FAILED', detail: { ref, found: taken } });
  t.equal(await store.version(other), undefined, 'the first is not moved either');
  await store.remove(ref);
  const first = await store.writeTree(other, write('1', null));
  await Promise.all([writeTrees(both), writeTrees(both)]);
  t.equal(await store.version(other), first);
  t.equal(String(await store.read(ref, 'a/b')), '2');
  t.equal(sample.git('rev-list', '--count', ref), '1\n');
});
