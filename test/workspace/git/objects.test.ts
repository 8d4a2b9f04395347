import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { listPeople, readIdentity } from '../../../workspace/git/commit-log.ts';
import { commitMessage, createCommit } from '../../../workspace/git/create-commit.ts';
import { runGit } from '../../../workspace/git/git.ts';
import { adoptObjects, importObjects } from '../../../workspace/git/import-objects.ts';
import { readBlob, readBlobs, readObjects } from '../../../workspace/git/read-objects.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import {
  commitTimeMs,
  isAncestor,
  mergeBase,
  resolveCommit,
  treeOf,
} from '../../../workspace/git/resolve-commit.ts';
import { createScratch } from '../../../workspace/git/scratch.ts';
import { listNames, listTree } from '../../../workspace/git/tree.ts';
import { makeRepository } from './sample-repository.ts';

t.test('revisions resolve to commits unless they look like options or hold control characters', async (t) => {
  const sample = makeRepository(t.testdir());
  const first = sample.commit({ a: '1' });
  sample.git('tag', '-a', '-m', 'x', 'v1');
  const second = sample.commit({ a: '2' });
  const repo = await openRepository(sample.dir);
  for (const [ref, id] of [
    ['main', second],
    ['refs/heads/main', second],
    ['v1', first],
    [first, first],
    ['HEAD~1', first],
    [second.slice(0, 10), second],
  ])
    t.equal(await resolveCommit(repo, ref ?? ''), id, `${ref}`);
  for (const ref of ['', '--output=x', '-x', 'main\nmain', 'main\0', 'a..b', '^main', 'x'.repeat(2000)])
    await t.rejects(resolveCommit(repo, ref), { code: 'REF_INVALID' }, ref.slice(0, 20));
  for (const ref of ['none', 'HEAD~9', `${first}0`, 'HEAD:a', ':/never', 'f'.repeat(40)])
    await t.rejects(resolveCommit(repo, ref), { code: 'REF_NOT_FOUND' }, ref);
  t.equal(existsSync(join(sample.dir, 'x')), false);
  t.equal(await mergeBase(repo, first, second), first);
  t.equal(await isAncestor(repo, first, second), true);
  t.equal(await isAncestor(repo, second, first), false);
  t.equal(await commitTimeMs(repo, first), Number(sample.git('log', '-1', '--format=%ct', first)) * 1000);
});

t.test('a tree lists every path with mode and size, whatever its name', async (t) => {
  const sample = makeRepository(t.testdir());
  sample.commit({ 'a b/ü\n"x"': 'four', tool: { exec: 'x' }, link: { link: 'tool' }, 'dir/sub/f': '' });
  const repo = await openRepository(sample.dir);
  const entries = await listTree(repo, 'HEAD');
  t.match(entries, [
    { path: 'a b/ü\n"x"', mode: '100644', sizeBytes: 4 },
    { path: 'dir/sub/f', sizeBytes: 0 },
    { path: 'link', mode: '120000', sizeBytes: 4 },
    { path: 'tool', mode: '100755' },
  ]);
  t.match(await listTree(repo, 'HEAD', 'dir'), [{ path: 'dir/sub/f' }]);
  t.same([...(await listNames(repo, 'HEAD'))].sort(), ['a b', 'dir', 'link', 'tool']);
  t.same([...(await listNames(repo, 'HEAD', 'dir'))], ['sub']);
});

t.test('many blobs are read in order by one git process, and missing ones are left out', async (t) => {
  const sample = makeRepository(t.testdir());
  const big = Buffer.alloc(3_000_000, 'ab\n');
  const files = Object.fromEntries(
    Array.from({ length: 500 }, (_, index) => [`d/${index}`, `content ${index}\n`]),
  );
  sample.commit({ ...files, big, empty: '', 'name\nwith newline': 'x', 'a b': 'blank' });
  const repo = await openRepository(sample.dir);
  const asked = [
    'empty',
    'none',
    'd',
    'a b',
    'big',
    ...Object.keys(files),
    'name\nwith newline',
    'none 0123456789012345678901234567890123456789 blob 3',
  ];
  const found = await readBlobs(repo, 'HEAD', asked);
  t.equal(found.size, 503);
  t.equal(found.get('empty')?.length, 0);
  t.equal(found.get('a b')?.toString(), 'blank');
  t.ok(found.get('big')?.equals(big));
  t.equal(found.get('d/499')?.toString(), 'content 499\n');
  t.equal(await readBlob(repo, 'HEAD', 'none'), undefined);
  await t.rejects(readBlobs(repo, 'HEAD', ['big', 'd/1'], 1000), { code: 'INPUT_TOO_LARGE' });
  t.match(await readObjects(repo, ['HEAD^{tree}', 'nothing', 'HEAD:empty']), [
    { type: 'tree' },
    undefined,
    { type: 'blob', bytes: Buffer.alloc(0) },
  ]);
});

t.test(
  'a commit has exactly the requested identity, dates and trailers, without hooks or signature',
  async (t) => {
    const sample = makeRepository(t.testdir());
    const parent = sample.commit({ a: '1' });
    sample.git('config', 'commit.gpgSign', 'true');
    sample.git('config', 'gpg.program', 'false');
    sample.git('config', 'i18n.commitEncoding', 'ISO-8859-1');
    sample.git('config', 'user.useConfigOnly', 'true');
    const repo = await openRepository(sample.dir);
    const message = commitMessage({
      changeType: 'bugfix',
      summary: 'another',
      message: 'close the\rhole\n\nso: ü\n',
      intentId: 'id-1\nRun-Id: forged',
      runId: 'run-1',
      intentSpecDigest: 'd'.repeat(64),
    });
    const request = {
      tree: await treeOf(repo, parent),
      parents: [parent],
      message,
      author: { name: 'Ann\nEvil <x>', email: 'ann@example.com' },
      committer: { name: 'Writ', email: 'w@example.com' },
      authoredAtMs: 1_700_000_000_999,
      committedAtMs: 1_700_000_100_000,
    };
    const commit = await createCommit(repo, request);
    t.equal(await createCommit(repo, request), commit);
    const raw = sample.git('cat-file', 'commit', commit);
    t.match(
      raw,
      /^tree [0-9a-f]+\nparent [0-9a-f]+\nauthor Ann Evil x <ann@example.com> 1700000000 \+0000\ncommitter Writ <w@example.com> 1700000100 \+0000\n\n/,
    );
    t.equal(raw.slice(raw.indexOf('\n\n') + 2), message);
    t.match(
      message,
      /^close the\nhole\n\nso: ü\nIntent-Id: id-1 Run-Id: forged\nRun-Id: run-1\nIntentspec-Digest: d{64}\n$/,
    );
    const trailers = sample.git('log', '-1', '--format=%(trailers:key=Run-Id,valueonly)', commit).trim();
    t.equal(trailers, 'run-1');
    t.equal(sample.git('rev-parse', 'main').trim(), parent);
    const root = await createCommit(repo, { ...request, parents: [] });
    t.notMatch(sample.git('cat-file', 'commit', root), /^parent/m);
  },
);

t.test(
  'the change type selects the prefix of the commit message, and an unknown type has none',
  async (t) => {
    const prefix = (changeType: string): string =>
      commitMessage({ changeType, summary: 'S', intentId: 'i', runId: 'r', intentSpecDigest: 'd' }).split(
        'S',
      )[0] ?? '';
    t.same(
      ['bugfix', 'feature', 'refactor', 'performance', 'security', 'docs', 'chore', 'unknown'].map(prefix),
      ['fix: ', 'feat: ', 'refactor: ', 'perf: ', 'fix: ', 'docs: ', 'chore: ', ''],
    );
  },
);

t.test("the user's identity is read from config or environment and may be absent", async (t) => {
  const sample = makeRepository(t.testdir());
  const repo = await openRepository(sample.dir);
  t.same(await readIdentity(repo), { name: 'Sample Author', email: 'sample@example.com' });
  const names = ['GIT_AUTHOR_NAME', 'GIT_AUTHOR_EMAIL', 'GIT_COMMITTER_NAME', 'GIT_COMMITTER_EMAIL'];
  const saved = names.map((name) => process.env[name]);
  for (const name of names) delete process.env[name];
  t.teardown(() => {
    for (const [index, name] of names.entries()) process.env[name] = saved[index];
  });
  t.equal(await readIdentity(repo), undefined);
  sample.git('config', 'user.name', 'Zoë Ex');
  sample.git('config', 'user.email', 'zoe@example.com');
  t.same(await readIdentity(repo), { name: 'Zoë Ex', email: 'zoe@example.com' });
});

t.test('each author and committer of a range is listed once', async (t) => {
  const sample = makeRepository(t.testdir());
  const base = sample.commit({ a: '1' });
  sample.write({ a: '2' });
  sample.git('-c', 'user.name=x', 'commit', '-qam', 'x', '--author', 'Other One <other@example.com>');
  const repo = await openRepository(sample.dir);
  const author = { name: 'Sample Author', email: 'sample@example.com' };
  const other = { name: 'Other One', email: 'other@example.com' };
  t.same(await listPeople(repo, base, 'main'), { authors: [other], committers: [author] });
  t.same(await listPeople(repo, undefined, 'main'), { authors: [other, author], committers: [author] });
});

for (const format of ['sha1', 'sha256'])
  t.test(
    `objects in a scratch, few or many, are invisible until they are imported (${format})`,
    async (t) => {
      const dir = t.testdir();
      const sample = makeRepository(join(dir, 'repo'), `--object-format=${format}`);
      const parent = sample.commit({ a: '1' });
      const repo = await openRepository(sample.dir);
      const objects = (): number => Number(sample.git('count-objects').split(' ')[0]);
      for (const count of [3, 150]) {
        const scratch = await createScratch(join(dir, `scratch-${count}`), repo);
        const before = objects();
        const blobs: string[] = [];
        for (let index = 0; index < count; index += 1) {
          blobs.push(
            (await runGit(scratch, ['hash-object', '-w', '--stdin'], { input: `blob ${count}/${index}` }))
              .toString()
              .trim(),
          );
          if (index >= 5 && count > 100) break;
        }
        if (count > 100) {
          const stream = Array.from(
            { length: count },
            (_, index) => `blob\ndata ${`more ${index}`.length}\nmore ${index}\n`,
          ).join('');
          await runGit(scratch, ['fast-import', '--quiet'], { input: stream });
        }
        const tree = (
          await runGit(scratch, ['mktree'], {
            input: blobs.map((id, index) => `100644 blob ${id}\tf${index}\n`).join(''),
          })
        )
          .toString()
          .trim();
        const commit = await createCommit(scratch, {
          tree,
          parents: [parent],
          message: 'x\n',
          author: { name: 'a', email: 'b' },
          committer: { name: 'a', email: 'b' },
          authoredAtMs: 0,
          committedAtMs: 0,
        });
        t.equal(objects(), before, 'the repository has nothing of it');
        await t.rejects(resolveCommit(repo, commit), { code: 'REF_NOT_FOUND' });
        await importObjects(scratch, repo);
        rmSync(scratch.gitDir, { recursive: true });
        t.equal(await resolveCommit(repo, commit), commit);
        t.equal(sample.git('rev-list', '--objects', commit).split('\n').length > blobs.length, true);
        t.equal(sample.git('fsck', '--full', '--strict', commit).includes('missing'), false);
        if (count > 100)
          t.equal(
            readdirSync(join(sample.dir, '.git/objects/pack')).filter((name) => name.endsWith('.pack'))
              .length,
            1,
          );
      }
      const empty = await createScratch(join(dir, 'empty'), repo);
      await importObjects(empty, repo);
    },
  );

/** A directory on another file system than `dir`, where the machine has one. */
function elsewhere(dir: string): string | undefined {
  const { dev } = statSync(dir);
  for (const place of ['/dev/shm', '/tmp', '/var/tmp']) {
    try {
      accessSync(place, constants.W_OK);
      if (statSync(place).dev !== dev) return mkdtempSync(join(place, 'writ-test-'));
    } catch {
      // Not on this machine.
    }
  }
  return undefined;
}

t.test('objects of a scratch are moved by renaming, or copied from another file system', async (t) => {
  const dir = t.testdir();
  const other = elsewhere(dir);
  t.teardown(() => other && rmSync(other, { recursive: true, force: true }));
  const sample = makeRepository(join(dir, 'repo'));
  sample.commit({ a: '1' });
  const repo = await openRepository(sample.dir);
  for (const place of [join(dir, 'near'), ...(other === undefined ? [] : [join(other, 'far')])]) {
    const scratch = await createScratch(place, repo);
    const loose = (await runGit(scratch, ['hash-object', '-w', '--stdin'], { input: `loose ${place}` }))
      .toString()
      .trim();
    const stream = Array.from(
      { length: 120 },
      (_, index) => `blob\ndata ${place.length + 4}\n${place} ${String(index).padStart(3)}\n`,
    ).join('');
    await runGit(scratch, ['fast-import', '--quiet'], { input: stream });
    const objects = (
      await runGit(scratch, ['cat-file', '--batch-all-objects', '--batch-check=%(objectname)'])
    )
      .toString()
      .trim()
      .split('\n');
    await adoptObjects(scratch, repo);
    await adoptObjects(scratch, repo);
    rmSync(scratch.gitDir, { recursive: true });
    const found = await readObjects(repo, objects);
    t.equal(found.filter((object) => object === undefined).length, 0, place);
    t.ok(objects.includes(loose) && objects.length > 120);
  }
  t.equal(sample.git('fsck', '--full').includes('missing'), false);
});

t.test('an interrupted adoption or import of objects can be completed', async (t) => {
  const dir = t.testdir();
  const sample = makeRepository(join(dir, 'repo'));
  sample.commit({ a: '1' });
  const repo = await openRepository(sample.dir);
  const scratch = await createScratch(join(dir, 'scratch'), repo);
  for (let n = 0; n < 8; n += 1)
    await runGit(scratch, ['hash-object', '-w', '--stdin'], { input: `loose ${n}` });
  const stream = Array.from(
    { length: 120 },
    (_, n) => `blob\ndata ${8}\npack ${String(n).padStart(3)}\n`,
  ).join('');
  await runGit(scratch, ['fast-import', '--quiet'], { input: stream });
  const listed = await runGit(scratch, ['cat-file', '--batch-all-objects', '--batch-check=%(objectname)']);
  const ids = listed.toString().trim().split('\n');
  // What a killed adoption has moved: half of the loose objects, and a pack whose index did not come after.
  const fans = readdirSync(scratch.objectsDir).filter((name) => name.length === 2);
  for (const fan of fans.slice(0, fans.length / 2)) {
    mkdirSync(join(repo.objectsDir, fan), { recursive: true });
    for (const name of readdirSync(join(scratch.objectsDir, fan)))
      renameSync(join(scratch.objectsDir, fan, name), join(repo.objectsDir, fan, name));
  }
  for (const name of readdirSync(join(scratch.objectsDir, 'pack')).filter((name) => name.endsWith('.pack')))
    renameSync(join(scratch.objectsDir, 'pack', name), join(repo.objectsDir, 'pack', name));
  const again = await createScratch(join(dir, 'scratch'), repo);
  await adoptObjects(again, repo);
  t.equal((await readObjects(repo, ids)).filter((object) => object === undefined).length, 0);
  sample.git('fsck', '--full', '--strict');

  const other = await createScratch(join(dir, 'other'), repo);
  const blobs: string[] = [];
  for (let n = 0; n < 4; n += 1) {
    const written = await runGit(other, ['hash-object', '-w', '--stdin'], { input: `import ${n}` });
    blobs.push(written.toString().trim());
  }
  sample.gitInput('import 0', 'hash-object', '-w', '--stdin');
  for (let times = 0; times < 2; times += 1) await importObjects(other, repo);
  t.equal((await readObjects(repo, blobs)).filter((object) => object === undefined).length, 0);
});

for (const count of [2, 150])
  t.test(`of a scratch with ${count} files, only objects of the wanted tree are imported`, async (t) => {
    const names = Array.from({ length: count }, (_, n) => `f${String(n).padStart(3, '0')}`);
    const dir = t.testdir({ files: Object.fromEntries([...names, 'token'].map((name) => [name, name])) });
    const sample = makeRepository(join(dir, 'repo'));
    sample.commit({ a: '1' });
    const repo = await openRepository(sample.dir);
    const scratch = await createScratch(join(dir, 'scratch'), repo);
    const paths = [...names, 'token'].map((name) => `${join(dir, 'files', name)}\n`).join('');
    const written = await runGit(scratch, ['hash-object', '-w', '--stdin-paths'], { input: paths });
    const kept = written.toString().trim().split('\n');
    const refused = kept.pop() ?? '';
    const lines = kept.map((id, n) => `100644 blob ${id}\t${names[n]}\n`);
    const made = await runGit(scratch, ['mktree'], { input: lines.join('') });
    const candidateTree = made.toString().trim();
    const baseTree = sample.git('rev-parse', 'HEAD^{tree}').trim();
    await importObjects(scratch, repo, { candidateTree, baseTree });
    rmSync(scratch.gitDir, { recursive: true });
    t.strictSame(await readObjects(repo, [refused]), [undefined], 'not what the tree does not hold');
    t.notOk((await readObjects(repo, [candidateTree, ...kept])).includes(undefined), 'all that it holds');
  });
