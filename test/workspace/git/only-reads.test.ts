import { appendFileSync, existsSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { listPeopleHere } from '../../../workspace/git/commit-log.ts';
import { isIgnoredPath } from '../../../workspace/git/dirty-paths.ts';
import { askGit, startGatedGit, startGit } from '../../../workspace/git/git.ts';
import { readBlob } from '../../../workspace/git/read-objects.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { planTarget } from '../../../workspace/git/target.ts';
import { long } from '../../rooms/long.ts';
import { makeRepository } from './sample-repository.ts';

t.test('a read-only repository is the same but skips the search for filter drivers', async (t) => {
  const dir = t.testdir();
  const sample = makeRepository(join(dir, 'main'));
  sample.commit({ 'a.txt': 'one\n', '.gitattributes': '* filter=trap\n' });
  sample.git('config', 'filter.trap.smudge', `touch ${join(dir, 'sprung')}`);
  sample.git('worktree', 'add', '-q', '-b', 'side', join(dir, 'side'));
  for (const path of ['main', 'side']) {
    const { settings, isWhole, hasSigning, hasHooksPath, origin, ...whole } = await openRepository(
      join(dir, path),
    );
    const { onlyReads, ...rest } = await openRepository(join(dir, path), { onlyReads: true });
    t.strictSame(rest, { ...whole, settings: [] }, path);
    t.equal(onlyReads, true);
    t.strictSame(settings, [['filter.trap.smudge', '']]);
    t.equal(isWhole, true);
    t.equal(hasSigning, false);
  }
  const repo = await openRepository(join(dir, 'main'), { onlyReads: true });
  t.equal(String(await readBlob(repo, 'main', 'a.txt')), 'one\n');
});

t.test('a read-only repository says what is ignored and starts no program for it', async (t) => {
  const dir = t.testdir();
  const sample = makeRepository(join(dir, 'main'));
  sample.commit({ kept: '1' });
  sample.commit({ '.gitignore': '.venv\nkept\n' });
  const trap = join(dir, 'trap');
  writeFileSync(trap, `#!/bin/sh\ntouch ${join(dir, 'sprung')}\n`, { mode: 0o755 });
  sample.git('config', 'core.fsmonitor', trap);
  const repo = await openRepository(sample.dir, { onlyReads: true });
  t.equal(await isIgnoredPath(repo, '.venv/bin/python'), true);
  t.equal(await isIgnoredPath(repo, 'src/a.js'), false);
  t.equal(await isIgnoredPath(repo, 'kept'), false, 'git tracks it');
  t.notOk(existsSync(join(dir, 'sprung')));
});

t.test('a read-only repository names the people of a range', async (t) => {
  const sample = makeRepository(t.testdir());
  sample.git('config', 'log.showSignature', 'true');
  const [from, to] = [sample.commit({ a: '1' }), sample.commit({ a: '2' })];
  const repo = await openRepository(sample.dir, { onlyReads: true });
  const { authors } = await listPeopleHere(repo, from, to);
  t.equal(authors.length, 1);
});

t.test('a read-only repository refuses git commands that could start a program', async (t) => {
  const sample = makeRepository(t.testdir());
  sample.commit({ a: '1' });
  const repo = await openRepository(sample.dir, { onlyReads: true });
  for (const command of ['hash-object', 'status', 'update-ref', 'checkout-index', 'log', 'diff-tree', 'diff'])
    await t.rejects(askGit(repo, [command]), { code: 'INTERNAL' }, command);
  t.throws(() => startGit(repo, ['fast-import']).kill(), { code: 'INTERNAL' });
  t.throws(() => startGatedGit(repo, ['update-ref', '--stdin']).kill(), { code: 'INTERNAL' });
  t.throws(() => startGatedGit(repo, ['read-tree']).kill(), { code: 'INTERNAL' });
});

t.test('a read-only repository reads ref files only if the config allows it', async (t) => {
  const sample = makeRepository(t.testdir());
  sample.commit({ a: '1' });
  const config = join(sample.dir, '.git', 'config');
  const refsIn = async () => (await openRepository(sample.dir, { onlyReads: true })).refsIn;
  t.equal(await refsIn(), join(sample.dir, '.git'));
  appendFileSync(config, '[Extensions] RefStorage = reftable\n');
  t.equal(await refsIn(), undefined, 'in any spelling');
  t.equal((await openRepository(sample.dir)).refsIn, undefined);

  const other = makeRepository(join(sample.dir, 'other'));
  rmSync(config);
  symlinkSync(join(other.dir, '.git', 'config'), config);
  t.equal(await refsIn(), undefined, 'a config that is no file here');
});

long('branches read from files equal those that git lists', async (t) => {
  const dir = t.testdir();
  const sample = makeRepository(join(dir, 'main'));
  const base = sample.commit({ a: '1' });
  for (const name of ['packed', 'team/one', 'both']) sample.git('branch', name);
  sample.git('pack-refs', '--all');
  sample.commit({ a: '2' });
  for (const name of ['loose', 'team/two']) sample.git('branch', name);
  sample.git('branch', '-f', 'both');
  const targets = async () => {
    const repo = await openRepository(sample.dir);
    const { refsIn: _, ...asking } = repo;
    const question = { baseCommit: base, runId: 'one' };
    const of = async (place: typeof repo, onto: string) =>
      planTarget(place, { ...question, baseRef: 'main', onto }).catch(({ code, detail }) => ({
        code,
        detail,
      }));
    for (const onto of [
      'main',
      'packed',
      'team/one',
      'both',
      'loose',
      'team/two',
      'team',
      'new',
      'loose/x',
      'side',
    ])
      t.strictSame(await of(repo, onto), await of(asking, onto), onto);
    for (const baseRef of ['main', 'HEAD', 'packed', base])
      t.strictSame(
        await planTarget(repo, { ...question, baseRef }),
        await planTarget(asking, { ...question, baseRef }),
        baseRef,
      );
  };
  await targets();
  sample.git('checkout', '-q', '--detach');
  await targets();
  sample.git('worktree', 'add', '-q', '-b', 'side', join(dir, 'side'));
  await targets();
  sample.git('symbolic-ref', 'refs/heads/alias', 'refs/heads/loose');
  await targets();
});
