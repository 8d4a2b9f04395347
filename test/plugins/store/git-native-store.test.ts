import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import { openGitNativeStore } from '../../../plugins/store/git-native-store.ts';
import { storeRefs } from '../../../store/stores.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { mountTiny } from '../../store/tiny-mount.ts';
import { makeRepository } from '../../workspace/git/sample-repository.ts';
import { snapshot } from '../../workspace/git/snapshot.ts';

const bytes = (text: string): Buffer => Buffer.from(text);
const refs = storeRefs('refs/ai/');

async function openStore(dir: string, ...initArgs: string[]) {
  const sample = makeRepository(dir, ...initArgs);
  const repo = await openRepository(dir);
  return {
    sample,
    repo,
    store: openGitNativeStore(repo, { clock: systemClock, actorId: 'writ-orchestrator' }),
  };
}

t.test('builds ref names from prefix, kind and encoded id', async (t) => {
  t.equal(refs.run('a/b'), 'refs/ai/runs/a%2Fb');
  t.equal(storeRefs('refs/x-team').intent('i'), 'refs/x-team/intents/i');
  t.equal(refs.plan('p'), 'refs/ai/plans/p');
  t.equal(refs.content('r'), 'refs/ai/content/r');
  for (const prefix of ['', 'heads', 'refs/a b/', 'refs//'])
    t.throws(() => storeRefs(prefix), { code: 'REF_INVALID' });
});

for (const format of ['sha1', 'sha256'])
  t.test(`reads back what was written as plain git objects (${format})`, async (t) => {
    const { sample, store } = await openStore(t.testdir(), `--object-format=${format}`);
    const ref = refs.run('run-1');
    const odd = Buffer.from([0, 10, 255, 13, 10]);
    const files: [string, Uint8Array][] = [
      ['intent/1.json', bytes('{"a":1}\n')],
      ['with "quotes"\\ and blank/ü', odd],
      ['empty', new Uint8Array()],
    ];
    t.equal(await store.read(ref, 'empty'), undefined);
    t.same(await store.list(ref), []);
    const first = await store.writeTree(ref, {
      message: 'run\nstarted',
      files,
      keepExisting: true,
      expectedOld: null,
    });
    t.equal((await store.read(ref, 'intent/1.json'))?.toString(), '{"a":1}\n');
    t.ok((await store.read(ref, 'with "quotes"\\ and blank/ü'))?.equals(odd));
    t.equal((await store.read(ref, 'empty'))?.length, 0);
    t.equal(await store.read(ref, 'none'), undefined);
    t.equal((await store.readMany(ref, ['empty', 'none', 'intent/1.json'])).size, 2);
    t.match(await store.list(ref), [
      { path: 'empty', sizeBytes: 0 },
      { path: 'intent/1.json', sizeBytes: 8 },
      { sizeBytes: 5 },
    ]);
    t.same(await store.refs(refs.runs), [{ ref, version: first }]);
    t.equal(sample.git('show', `${ref}:intent/1.json`), '{"a":1}\n');
    t.match(sample.git('log', '-1', '--format=%an|%s', ref), /^writ-orchestrator\|run started\n$/);
    t.equal(sample.git('fsck', '--strict').includes('error'), false);

    const second = await store.writeTree(ref, {
      message: 'decided',
      files: [['decision/1.json', bytes('{}')]],
      keepExisting: true,
      expectedOld: first,
    });
    t.equal((await store.list(ref)).length, 4);
    t.equal(sample.git('rev-parse', `${ref}^`).trim(), first);
    const third = await store.writeTree(ref, {
      message: 'replaced',
      files: [['only', bytes('x')]],
      keepExisting: false,
    });
    t.match(await store.list(ref), [{ path: 'only' }]);
    t.equal(sample.git('rev-parse', `${ref}^`).trim(), second);
    t.not(third, second);
    sample.git('gc', '-q', '--prune=now');
    t.equal((await store.read(ref, 'only'))?.toString(), 'x');
    await store.remove(ref);
    await store.remove(ref);
    t.same(await store.refs(refs.runs), []);
  });

t.test('writes and reads a thousand files in one call each', async (t) => {
  const { sample, store } = await openStore(t.testdir());
  const ref = refs.run('many');
  function* files(): Generator<[string, Uint8Array]> {
    for (let index = 0; index < 1000; index += 1)
      yield [`evidence/${index}.json`, bytes(`{"index":${index},"pad":"${'x'.repeat(800)}"}`)];
  }
  await store.writeTree(ref, { message: 'evidence', files: files(), keepExisting: true });
  const listed = await store.list(ref);
  t.equal(listed.length, 1000);
  const read = await store.readMany(
    ref,
    listed.map(({ path }) => path),
  );
  t.match(read.get('evidence/999.json')?.toString(), /^\{"index":999/);
  t.match(sample.git('count-objects', '-v'), /packs: 1\n/);
});

t.test('a read after a listing returns the version that is current by then', async (t) => {
  const { store } = await openStore(t.testdir());
  const ref = refs.run('moves');
  const paths = Array.from({ length: 40 }, (_, n) => `${n}`);
  const write = (text: string) =>
    store.writeTree(ref, {
      message: text,
      files: paths.map((path) => [path, bytes(text)]),
      keepExisting: false,
    });
  await write('first');
  t.equal((await store.list(ref)).length, 40);
  t.equal((await store.readMany(ref, paths)).get('39')?.toString(), 'first');
  t.equal((await store.list(ref)).length, 40);
  await write('second');
  t.equal((await store.readMany(ref, paths)).get('39')?.toString(), 'second');
  t.equal((await store.readMany(ref, paths)).size, 40);
});

t.test('a write that expected another version changes nothing', async (t) => {
  const { sample, store } = await openStore(t.testdir());
  const ref = refs.run('r');
  const first = await store.writeTree(ref, { message: 'x', files: [['a', bytes('1')]], keepExisting: true });
  const again = { message: 'x', files: [['a', bytes('2')]] as [string, Uint8Array][], keepExisting: true };
  await t.rejects(store.writeTree(ref, { ...again, expectedOld: null }), {
    code: 'EVIDENCE_WRITE_FAILED',
    detail: { found: first },
  });
  await t.rejects(store.writeTree(ref, { ...again, expectedOld: 'f'.repeat(40) }), {
    code: 'EVIDENCE_WRITE_FAILED',
  });
  async function* slow(): AsyncGenerator<[string, Uint8Array]> {
    sample.git('update-ref', ref, sample.commit({ other: 'x' }));
    yield ['a', bytes('3')];
  }
  await t.rejects(store.writeTree(ref, { ...again, files: slow() }), {
    code: 'EVIDENCE_WRITE_FAILED',
    detail: { expected: first },
  });
  t.equal(await store.read(ref, 'a'), undefined, 'the other writer won');
});

t.test('an invalid path or ref or a failing source stores nothing and leaves no stale files', async (t) => {
  const { sample, store } = await openStore(t.testdir());
  sample.commit({ a: '1' });
  mkdirSync(join(sample.dir, '.git/writ/tmp'), { recursive: true });
  const before = snapshot(sample.dir);
  for (const path of ['../x', '/x', 'a//b', '', 'a/.', '.git/x'])
    await t.rejects(
      store.writeTree(refs.run('r'), { message: 'x', files: [[path, bytes('x')]], keepExisting: true }),
      { code: 'EVIDENCE_WRITE_FAILED' },
      path,
    );
  // biome-ignore lint/correctness/useYield: it fails before it has anything to give
  function* failing(): Generator<[string, Uint8Array]> {
    throw new Error('the source broke');
  }
  await t.rejects(store.writeTree(refs.run('r'), { message: 'x', files: failing(), keepExisting: true }), {
    code: 'EVIDENCE_WRITE_FAILED',
    message: /the source broke/,
  });
  await t.rejects(store.writeTree('refs/a b', { message: 'x', files: [], keepExisting: true }), {
    code: 'REF_INVALID',
  });
  t.equal(snapshot(sample.dir), before);
});

const mount = mountTiny('3m');
t.teardown(() => mount?.remove());

t.test(
  'a full disk fails the write and loses nothing that was stored',
  { skip: mount ? false : 'mounting a small file system needs more rights' },
  async (t) => {
    if (mount === undefined) return;
    const { store } = await openStore(join(mount.dir, 'repo'));
    const ref = refs.run('r');
    const first = await store.writeTree(ref, {
      message: 'x',
      files: [['a', bytes('kept')]],
      keepExisting: true,
    });
    const big = execFileSync('head', ['-c', '8000000', '/dev/urandom'], { maxBuffer: 1 << 24 });
    await t.rejects(store.writeTree(ref, { message: 'x', files: [['big', big]], keepExisting: true }), {
      code: 'EVIDENCE_WRITE_FAILED',
    });
    t.same(await store.refs(refs.runs), [{ ref, version: first }]);
    t.equal((await store.read(ref, 'a'))?.toString(), 'kept');
    await store.writeTree(ref, { message: 'x', files: [['b', bytes('room again')]], keepExisting: true });
    t.equal((await store.list(ref)).length, 2);
  },
);
