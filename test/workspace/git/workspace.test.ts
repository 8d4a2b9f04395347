import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openRepository } from '../../../workspace/git/repository.ts';
import { createScratch } from '../../../workspace/git/scratch.ts';
import { exportTree, removeWorkspace } from '../../../workspace/git/workspace.ts';
import { makeRepository } from './sample-repository.ts';
import { snapshot } from './snapshot.ts';

t.test('a workspace contains the exact bytes of the tree, whatever attributes and config say', async (t) => {
  const dir = t.testdir();
  const sample = makeRepository(join(dir, 're:po "x"'));
  const trap = join(dir, 'sprung');
  const attributes =
    '* text=auto eol=crlf ident filter=trap\n*.u16 working-tree-encoding=UTF-16\n[attr]loud text eol=crlf\n*.loud loud\n';
  sample.commit({
    'lf.txt': 'a\n$Id$\nb\n',
    'x.loud': 'a\nb\n',
    'sub/tool': { exec: '#!/bin/sh\necho hi\n' },
    link: { link: '../../outside' },
    'x.u16': 'plain\n',
  });
  sample.git('config', 'core.autocrlf', 'true');
  sample.git('config', 'core.symlinks', 'false');
  const blob = sample.gitInput('dos\r\n', 'hash-object', '-w', '--no-filters', '--stdin').trim();
  const rules = sample.gitInput(attributes, 'hash-object', '-w', '--no-filters', '--stdin').trim();
  sample.git(
    'update-index',
    '--add',
    '--cacheinfo',
    `100644,${blob},dos.txt`,
    '--cacheinfo',
    `100644,${rules},.gitattributes`,
    '--cacheinfo',
    `160000,${'1'.repeat(40)},module`,
  );
  const commit = sample.git('commit-tree', '-m', 'x', sample.git('write-tree').trim()).trim();
  for (const verb of ['clean', 'smudge'])
    sample.git('config', `filter.trap.${verb}`, `touch '${trap}' && cat`);
  const before = snapshot(sample.dir);
  const repo = await openRepository(sample.dir);
  const work = join(dir, 'work');
  await exportTree(repo, commit, work, commit);
  t.equal(readFileSync(join(work, 'lf.txt'), 'utf8'), 'a\n$Id$\nb\n');
  t.equal(readFileSync(join(work, 'x.loud'), 'utf8'), 'a\nb\n');
  t.equal(readFileSync(join(work, 'dos.txt'), 'utf8'), 'dos\r\n');
  t.equal(readFileSync(join(work, 'x.u16'), 'utf8'), 'plain\n');
  t.equal(readFileSync(join(work, '.gitattributes'), 'utf8'), attributes);
  t.equal(readlinkSync(join(work, 'link')), '../../outside');
  t.equal(statSync(join(work, 'sub/tool')).mode & 0o111, 0o111);
  t.equal(lstatSync(join(work, 'module')).isDirectory(), true);
  t.equal(existsSync(trap), false);
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: work, encoding: 'utf8' });
  t.equal(git('rev-parse', 'HEAD').trim(), commit);
  t.equal(git('status', '--porcelain'), '');
  t.equal(git('remote'), '');
  t.equal(existsSync(join(work, '.git/hooks')), false);
  t.equal(git('rev-parse', '--show-toplevel').trim(), work);
  t.equal(snapshot(sample.dir), before, 'the repository is as before, bit for bit');
  t.equal(sample.git('worktree', 'list').trim().split('\n').length, 1);
});

t.test('commits in a workspace that was exported from a scratch do not reach the repository', async (t) => {
  const dir = t.testdir();
  const sample = makeRepository(join(dir, 'repo'), '--object-format=sha256');
  const commit = sample.commit({ a: 'x\n' });
  const repo = await openRepository(sample.dir);
  const scratch = await createScratch(join(dir, 'scratch'), repo);
  const before = snapshot(sample.dir);
  const work = join(dir, 'work');
  await exportTree(scratch, `${commit}^{tree}`, work, commit);
  writeFileSync(join(work, 'b'), 'new\n');
  execFileSync('git', ['add', '-A'], { cwd: work });
  execFileSync('git', ['commit', '-qm', 'x'], { cwd: work });
  t.equal(snapshot(sample.dir), before);
  const unborn = join(dir, 'empty');
  await exportTree(repo, sample.gitInput('', 'mktree').trim(), unborn);
  t.equal(
    execFileSync('git', ['status', '--porcelain', '-b'], { cwd: unborn, encoding: 'utf8' }),
    '## No commits yet on main\n',
  );
});

t.test('a workspace is removed even if a check removed its own permissions', async (t) => {
  const dir = join(t.testdir(), 'work');
  mkdirSync(join(dir, 'a/b/c'), { recursive: true });
  writeFileSync(join(dir, 'a/b/c/f'), 'x');
  for (const path of ['a/b/c', 'a/b', 'a']) chmodSync(join(dir, path), 0o000);
  await removeWorkspace(dir);
  t.equal(existsSync(dir), false);
  await removeWorkspace(dir);
});
