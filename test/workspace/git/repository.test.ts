import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { askGit, runGit } from '../../../workspace/git/git.ts';
import { emptyTreeOf, openRepository, zeroIdOf } from '../../../workspace/git/repository.ts';
import { readHead, resolveBase } from '../../../workspace/git/resolve-commit.ts';
import { makeRepository } from './sample-repository.ts';

t.test('a working tree is found from a directory below it and through a symlink', async (t) => {
  const dir = t.testdir();
  const sample = makeRepository(join(dir, 'with space'));
  sample.commit({ 'a/b/c.txt': 'x' });
  symlinkSync(join(sample.dir, 'a'), join(dir, 'link'));
  for (const path of [sample.dir, join(sample.dir, 'a/b'), join(dir, 'link/b')]) {
    const repo = await openRepository(path);
    t.equal(repo.root, sample.dir);
    t.equal(repo.gitDir, join(sample.dir, '.git'));
    t.equal(repo.commonDir, repo.gitDir);
    t.equal(repo.objectsDir, join(repo.gitDir, 'objects'));
    t.equal(repo.objectFormat, 'sha1');
  }
});

t.test('a linked working tree has its own root and shares the common directory', async (t) => {
  const dir = t.testdir();
  const sample = makeRepository(join(dir, 'main'));
  sample.commit({ a: 'x' });
  sample.git('worktree', 'add', '-q', '-b', 'side', join(dir, 'side'));
  const repo = await openRepository(join(dir, 'side'));
  t.equal(repo.root, join(dir, 'side'));
  t.equal(repo.commonDir, join(dir, 'main/.git'));
  t.equal(repo.objectsDir, join(dir, 'main/.git/objects'));
  t.same((await readHead(repo)).branch, 'refs/heads/side');
});

t.test('a path without a working tree is refused as NOT_A_REPOSITORY or BARE_REPOSITORY', async (t) => {
  const dir = t.testdir({ plain: {}, file: 'x' });
  process.env.GIT_CEILING_DIRECTORIES = dir;
  t.teardown(() => delete process.env.GIT_CEILING_DIRECTORIES);
  const sample = makeRepository(join(dir, 'repo'));
  makeRepository(join(dir, 'bare.git'), '--bare');
  await t.rejects(openRepository(join(dir, 'plain')), { code: 'NOT_A_REPOSITORY' });
  await t.rejects(openRepository(join(dir, 'file')), { code: 'NOT_A_REPOSITORY' });
  await t.rejects(openRepository(join(dir, 'missing')), { code: 'NOT_A_REPOSITORY' });
  await t.rejects(openRepository(join(sample.dir, '.git')), { code: 'NOT_A_REPOSITORY' });
  await t.rejects(openRepository(join(dir, 'bare.git')), { code: 'BARE_REPOSITORY' });
});

t.test(
  'a bare repository is found where a `.git` leads to it, as by `git clone --bare URL .bare`',
  async (t) => {
    const dir = t.testdir({ top: { '.git': 'gitdir: ./.bare\n' }, other: {} });
    const sample = makeRepository(join(dir, 'sample'));
    const commit = sample.commit({ a: 'x' });
    sample.git('clone', '-q', '--bare', '.', join(dir, 'top/.bare'));
    sample.git('clone', '-q', '--bare', '.', join(dir, 'other/.git'));
    for (const [top, gitDir] of [
      [join(dir, 'top'), join(dir, 'top/.bare')],
      [join(dir, 'other'), join(dir, 'other/.git')],
    ] as const) {
      const repo = await openRepository(top, { bare: true, onlyReads: true });
      t.match(repo, { root: gitDir, gitDir, commonDir: gitDir });
      t.equal((await resolveBase(repo, 'main')).commit, commit);
      await t.rejects(openRepository(top), { code: 'BARE_REPOSITORY' });
    }
    sample.git('config', 'core.worktree', join(dir, 'other'));
    await t.rejects(openRepository(sample.dir), {
      code: 'NOT_A_REPOSITORY',
      message: /is outside the working tree that `core\.worktree` of its repository names/,
    });
    await t.rejects(openRepository(join(sample.dir, '.git')), { message: /is inside the git directory/ });
  },
);

t.test('without git on PATH opening a repository fails with GIT_MISSING', async (t) => {
  const path = process.env.PATH;
  t.teardown(() => {
    process.env.PATH = path;
  });
  process.env.PATH = t.testdir();
  await t.rejects(openRepository('.'), { code: 'GIT_MISSING' });
});

t.test('an unborn HEAD resolves to the empty tree without a commit, in either object format', async (t) => {
  for (const format of ['sha1', 'sha256']) {
    const sample = makeRepository(t.testdir(), `--object-format=${format}`);
    const repo = await openRepository(sample.dir);
    t.equal(repo.objectFormat, format);
    t.same(await readHead(repo), { branch: 'refs/heads/main', commit: undefined });
    for (const ref of ['HEAD', 'main', 'refs/heads/main'])
      t.same(await resolveBase(repo, ref), { commit: undefined, tree: emptyTreeOf(repo) });
    await t.rejects(resolveBase(repo, 'other'), { code: 'REF_NOT_FOUND' });
    t.equal(sample.gitInput('', 'hash-object', '-t', 'tree', '--stdin').trim(), emptyTreeOf(repo));
    const commit = sample.commit({ a: 'x' });
    t.equal(zeroIdOf(repo).length, commit.length);
    sample.git('checkout', '-q', '--detach');
    t.same(await readHead(repo), { branch: undefined, commit });
  }
});

t.test("the caller's GIT_ variables do not lead git elsewhere", async (t) => {
  const dir = t.testdir();
  const sample = makeRepository(join(dir, 'one'));
  sample.commit({ a: 'x' });
  makeRepository(join(dir, 'two'));
  const tricks = {
    GIT_DIR: join(dir, 'two/.git'),
    GIT_WORK_TREE: join(dir, 'two'),
    GIT_INDEX_FILE: '/nowhere',
    GIT_OBJECT_DIRECTORY: '/nowhere',
  };
  Object.assign(process.env, tricks, {
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'core.bare',
    GIT_CONFIG_VALUE_0: 'true',
  });
  t.teardown(() => {
    for (const name of [...Object.keys(tricks), 'GIT_CONFIG_COUNT', 'GIT_CONFIG_KEY_0', 'GIT_CONFIG_VALUE_0'])
      delete process.env[name];
  });
  const repo = await openRepository(join(dir, 'one'));
  t.equal(repo.root, join(dir, 'one'));
  t.equal((await runGit(repo, ['ls-files'])).toString(), 'a\n');
});

t.test('no program that the repository names is started', async (t) => {
  const dir = t.testdir();
  const sample = makeRepository(join(dir, 'repo'));
  const trap = join(dir, 'trap');
  writeFileSync(trap, `#!/bin/sh\ntouch "${dir}/sprung"\nexit 1\n`);
  chmodSync(trap, 0o755);
  sample.commit({ 'a.txt': 'one\n', '.gitattributes': '* filter=tr=ap diff=trap\n' });
  const commit = sample.git('rev-parse', 'HEAD').trim();
  for (const name of [
    'post-checkout',
    'reference-transaction',
    'post-index-change',
    'fsmonitor-watchman',
    'pre-auto-gc',
  ]) {
    mkdirSync(join(sample.dir, '.git/hooks'), { recursive: true });
    writeFileSync(join(sample.dir, '.git/hooks', name), `#!/bin/sh\ntouch "${dir}/sprung"\n`);
    chmodSync(join(sample.dir, '.git/hooks', name), 0o755);
  }
  for (const key of [
    'core.fsmonitor',
    'core.pager',
    'diff.external',
    'diff.trap.textconv',
    'diff.trap.command',
    'gpg.program',
    'core.sshCommand',
  ])
    sample.git('config', key, trap);
  for (const verb of ['clean', 'smudge', 'process']) sample.git('config', `filter.tr=ap.${verb}`, trap);
  sample.git('config', 'filter.tr=ap.required', 'true');
  sample.git('config', 'log.showSignature', 'true');
  const repo = await openRepository(sample.dir);
  sample.write({ 'a.txt': 'two\n' });
  const status = await runGit(repo, ['status', '--porcelain']);
  t.match(status.toString(), / M a\.txt/);
  await runGit(repo, ['diff-index', '--no-ext-diff', '--no-textconv', '-p', 'HEAD']);
  await runGit(repo, ['log', '-1']);
  await runGit(repo, ['update-ref', 'refs/heads/x', commit]);
  await runGit(repo, ['checkout-index', '-a', '-f']);
  t.equal(existsSync(join(dir, 'sprung')), false);
  t.equal(existsSync(join(dir, 'repo/a.txt')), true);
});

t.test('a failing git is GIT_FAILED with its exit code and bounded error text', async (t) => {
  const repo = await openRepository(makeRepository(t.testdir()).dir);
  await t.rejects(runGit(repo, ['rev-parse', '--verify', 'x'.repeat(9000)]), {
    code: 'GIT_FAILED',
    detail: { command: 'rev-parse', exitCode: 128 },
  });
  const answer = await askGit(repo, ['log', '-1', 'y'.repeat(9000)]);
  t.equal(answer.code, 128);
  t.ok(answer.stderr.length <= 2001);
});

t.test('output beyond the limit is an error and not a partial answer', async (t) => {
  const sample = makeRepository(t.testdir());
  sample.commit({ a: 'x'.repeat(10_000) });
  const repo = await openRepository(sample.dir);
  await t.rejects(runGit(repo, ['cat-file', 'blob', 'HEAD:a'], { maxBytes: 100 }), {
    code: 'OUTPUT_TOO_LARGE',
  });
});
