import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { sha256Hex } from '../../core/base/canonical.ts';
import { uuidV7 } from '../../core/base/ids.ts';
import {
  type BlobRetentionStrategy,
  readRetained,
  releaseBlobs,
  retainBlobs,
} from '../../store/retain-blobs.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import { casesOf } from '../rooms/long.ts';
import { makeRepository, type SampleRepository } from '../workspace/git/sample-repository.ts';

const run = uuidV7(1_700_000_000_000);
const otherRun = uuidV7(1_700_000_000_001);
const blobs: readonly [string, Uint8Array][] = [
  ['a'.repeat(64), Buffer.from('what a page said\n')],
  ['binary', Buffer.from([0, 10, 255, 13, 10])],
  ['in/a/directory', Buffer.from('a snippet')],
];
const later: readonly [string, Uint8Array][] = [['later', Buffer.from('said later')]];

function collectGarbage(sample: SampleRepository): void {
  sample.git('reflog', 'expire', '--expire=now', '--expire-unreachable=now', '--all');
  sample.git('gc', '--quiet', '--prune=now', '--aggressive');
}

function idOf(sample: SampleRepository, bytes: Uint8Array): string {
  return sample.gitInput(bytes, 'hash-object', '--stdin').trim();
}

function isThere(sample: SampleRepository, bytes: Uint8Array): boolean {
  try {
    sample.git('cat-file', '-e', idOf(sample, bytes));
    return true;
  } catch {
    return false;
  }
}

function refsOf(sample: SampleRepository): readonly string[] {
  const names = sample.git('for-each-ref', '--format=%(refname)').trim().split('\n').sort();
  return names.map((name) => name.replace(/(orphan-commits\/[^/]+)\/[0-9a-f]{40}$/, '$1/…'));
}

async function open(dir: string): Promise<{ sample: SampleRepository; repo: Repository }> {
  const sample = makeRepository(dir);
  sample.commit({ 'src/a.js': 'one\n' });
  return { sample, repo: await openRepository(dir) };
}

const expectedRefs: Readonly<Record<BlobRetentionStrategy, readonly string[]>> = {
  'ref-anchoring': [`refs/ai/context/${run}`, `refs/ai/context/${otherRun}`].sort(),
  'orphan-commit': [
    `refs/ai/orphan-commits/${run}/…`,
    `refs/ai/orphan-commits/${run}/…`,
    `refs/ai/orphan-commits/${otherRun}/…`,
  ],
  'keep-pack': [],
  'custom-gc': [],
};

for (const [strategy] of casesOf(expectedRefs, ['orphan-commit', 'keep-pack'])) {
  t.test(`${strategy} keeps blobs through git gc until they are released`, async (t) => {
    const { sample, repo } = await open(t.testdir());
    const control = Buffer.from('stored without a strategy');
    sample.gitInput(control, 'hash-object', '-w', '--stdin');

    const { digests } = await retainBlobs(repo, strategy, run, blobs);
    t.strictSame(
      [...digests],
      blobs.map(([name, bytes]) => [name, sha256Hex(bytes)]),
    );
    await retainBlobs(repo, strategy, run, later);
    await retainBlobs(repo, strategy, otherRun, [['shared', blobs[1]?.[1] ?? Buffer.of()]]);
    t.strictSame(refsOf(sample), [...expectedRefs[strategy], 'refs/heads/main'].sort());

    collectGarbage(sample);
    t.equal(isThere(sample, control), false, 'the control is gone');
    for (const [name, bytes] of [...blobs, ...later]) {
      t.ok((await readRetained(repo, strategy, run, name))?.equals(bytes), `${name} by us`);
      t.equal(
        sample.git('cat-file', 'blob', idOf(sample, bytes)),
        Buffer.from(bytes).toString(),
        `${name} by git`,
      );
    }
    t.equal(await readRetained(repo, strategy, run, 'none'), undefined);
    t.equal(await readRetained(repo, strategy, 'another', 'later'), undefined);

    await releaseBlobs(repo, strategy, run);
    await releaseBlobs(repo, strategy, run);
    collectGarbage(sample);
    for (const [name, bytes] of [...blobs, ...later]) {
      if (name !== 'binary') t.equal(isThere(sample, bytes), false, `${name} is gone`);
      t.equal(await readRetained(repo, strategy, run, name), undefined);
    }
    t.ok(await readRetained(repo, strategy, otherRun, 'shared'), 'the other run keeps its own');
    await releaseBlobs(repo, strategy, otherRun);
    collectGarbage(sample);
    for (const [name, bytes] of blobs) t.equal(isThere(sample, bytes), false, name);
    t.strictSame(refsOf(sample), ['refs/heads/main']);
    t.equal(sample.git('count-objects', '-v').match(/packs: (\d+)/)?.[1], '1');
    t.notMatch(sample.git('fsck', '--strict', '--no-dangling'), /./);
  });

  t.test(`${strategy} keeps blobs that another run also keeps when one run releases them`, async (t) => {
    const { sample, repo } = await open(t.testdir());
    for (const id of [run, otherRun]) await retainBlobs(repo, strategy, id, blobs);
    await releaseBlobs(repo, strategy, otherRun);
    collectGarbage(sample);
    t.equal(await readRetained(repo, strategy, otherRun, 'binary'), undefined);
    for (const [name, bytes] of blobs)
      t.ok((await readRetained(repo, strategy, run, name))?.equals(bytes), name);
    t.notMatch(sample.git('fsck', '--strict', '--no-dangling'), /./);
  });

  t.test(`${strategy} does not lose a file that was committed before the release`, async (t) => {
    const { sample, repo } = await open(t.testdir());
    await retainBlobs(repo, strategy, run, blobs);
    collectGarbage(sample);
    sample.commit({ 'page.txt': 'what a page said\n' });
    collectGarbage(sample);
    await releaseBlobs(repo, strategy, run);
    collectGarbage(sample);
    t.equal(sample.git('show', 'HEAD:page.txt'), 'what a page said\n');
    t.notMatch(sample.git('fsck', '--strict', '--no-dangling'), /./);
    rmSync(join(repo.commonDir, 'writ'), { recursive: true });
    t.equal(sample.git('show', 'HEAD:page.txt'), 'what a page said\n', 'nothing is borrowed any more');
  });

  t.test(`${strategy} keeps repeated and concurrent blobs, and none of a source that fails`, async (t) => {
    const { sample, repo } = await open(t.testdir());
    const state = () => [
      sample.git('for-each-ref', '--format=%(objectname) %(refname)'),
      readdirSync(join(repo.objectsDir, 'pack')).sort().join(),
    ];
    await retainBlobs(repo, strategy, run, blobs);
    const before = state();
    await retainBlobs(repo, strategy, run, blobs);
    t.strictSame(state(), before);
    async function* failing(): AsyncGenerator<readonly [string, Uint8Array]> {
      yield ['half', Buffer.from('half')];
      throw new Error('the source broke');
    }
    await t.rejects(retainBlobs(repo, strategy, run, failing()), {
      code: 'EVIDENCE_WRITE_FAILED',
      message: /the source broke/,
    });
    await t.rejects(retainBlobs(repo, strategy, run, [['../x', Buffer.of(1)]]), {
      code: 'EVIDENCE_WRITE_FAILED',
    });
    t.strictSame(state(), before);
    t.equal(isThere(sample, Buffer.from('half')), false);
    t.strictSame(readdirSync(join(repo.commonDir, 'writ', 'tmp')), []);
    await Promise.all(
      [1, 2, 3].map((n) => retainBlobs(repo, strategy, run, [[`n${n}`, Buffer.from(`n${n}`)]])),
    );
    for (const n of [1, 2, 3])
      t.equal((await readRetained(repo, strategy, run, `n${n}`))?.toString(), `n${n}`);
  });
}

t.test('refs are created under the aiRefPrefix of the spec', async (t) => {
  const { sample, repo } = await open(t.testdir());
  const options = { aiRefPrefix: 'refs/x-team/' };
  await retainBlobs(repo, 'ref-anchoring', run, blobs, options);
  await retainBlobs(repo, 'orphan-commit', run, blobs, options);
  t.strictSame(refsOf(sample), [
    'refs/heads/main',
    `refs/x-team/context/${run}`,
    `refs/x-team/orphan-commits/${run}/…`,
  ]);
  t.ok(await readRetained(repo, 'ref-anchoring', run, 'binary', options));
  t.equal(await readRetained(repo, 'ref-anchoring', run, 'binary'), undefined);
});

t.test('an unknown retention strategy is refused', async (t) => {
  const { repo } = await open(t.testdir());
  for (const name of ['constructor', 'none'] as unknown as BlobRetentionStrategy[]) {
    await t.rejects(retainBlobs(repo, name, run, blobs), { code: 'OBJECT_CORRUPT' });
    await t.rejects(readRetained(repo, name, run, 'a'), { code: 'OBJECT_CORRUPT' });
    await t.rejects(releaseBlobs(repo, name, run), { code: 'OBJECT_CORRUPT' });
  }
});
