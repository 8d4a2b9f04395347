import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openRepository } from '../../../workspace/git/repository.ts';
import { listTree } from '../../../workspace/git/tree.ts';
import { exportTree, readSmallTree } from '../../../workspace/git/workspace.ts';
import { makeRepository } from './sample-repository.ts';

/** Every path but those of `.git`: kind, mode and bytes. */
function written(dir: string): readonly string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((path) => path !== '.git' && !path.startsWith('.git/'))
    .sort()
    .map((path) => {
      const status = lstatSync(join(dir, path));
      const what = status.isSymbolicLink()
        ? readlinkSync(join(dir, path))
        : status.isFile()
          ? readFileSync(join(dir, path), 'hex')
          : '';
      return `${path} ${status.mode.toString(8)} ${what}`;
    });
}

for (const format of ['sha1', 'sha256']) {
  t.test(`a small tree and its index are written as git writes them (${format})`, async (t) => {
    const dir = t.testdir();
    const sample = makeRepository(join(dir, 'repo'), `--object-format=${format}`);
    const commit = sample.commit({
      'a.txt': 'a\r\n',
      'a/b/c.bin': '\u0000\u0001',
      'a/tool': { exec: '#!/bin/sh\n' },
      'a/link': { link: '../../outside' },
      '.gitattributes': '* text eol=crlf\n',
      [`long/${'n'.repeat(200)}`]: '',
    });
    const repo = await openRepository(sample.dir);
    const small = await readSmallTree(repo, await listTree(repo, commit));
    t.equal(small?.entries.length, 6);
    const [own, gits, again] = ['own', 'gits', 'again'].map((name) => join(dir, name)) as [
      string,
      string,
      string,
    ];
    await exportTree(repo, commit, own, commit, small);
    await exportTree(repo, commit, gits, commit);
    await exportTree(repo, commit, again, commit, small);
    t.same(written(own), written(gits));
    const git = (cwd: string, ...args: string[]): string =>
      execFileSync('git', args, { cwd, encoding: 'utf8' });
    const staged = ['ls-files', '--stage', '--debug'];
    const without = (text: string): string => text.replace(/^ {2}(?:[cm]time|dev|uid).*\n/gm, '');
    t.equal(without(git(own, ...staged)), without(git(gits, ...staged)));
    t.equal(git(own, 'diff-files'), '', 'what is there is known to be what was written, without a refresh');
    t.equal(git(own, 'fsck', '--strict', '--no-dangling').trim(), '');
    t.equal(git(own, 'status', '--porcelain'), '');
    // Of the two worlds none can write into the other.
    writeFileSync(join(own, 'a/tool'), 'changed\n');
    t.equal(git(own, 'status', '--porcelain').trim(), 'M a/tool');
    t.same(written(again), written(gits));
    t.not(lstatSync(join(own, 'a.txt')).ino, lstatSync(join(again, 'a.txt')).ino);
  });
}

t.test('trees that are large, malformed or not plain are left to git', async (t) => {
  const dir = t.testdir();
  const sample = makeRepository(join(dir, 'repo'));
  const repo = await openRepository(sample.dir);
  const blob = sample.gitInput('x', 'hash-object', '-w', '--stdin').trim();
  const long = sample.gitInput('y'.repeat(1001), 'hash-object', '-w', '--stdin').trim();
  const nul = sample.gitInput('y\0z', 'hash-object', '-w', '--stdin').trim();
  const big = sample.gitInput('y'.repeat(1024 * 1024), 'hash-object', '-w', '--stdin').trim();
  const tree = (...rows: string[]): string =>
    sample.gitInput(rows.map((row) => `${row}\0`).join(''), 'mktree', '-z', '--missing').trim();
  const file = (name: string, id = blob): string => `100644 blob ${id}\t${name}`;
  const link = (name: string, id = blob): string => `120000 blob ${id}\t${name}`;
  const inner = tree(file('f'));
  const kept: Record<string, string> = {
    plain: tree(file('.github'), file('.gitignore'), file('a b'), link('l'), file('x'.repeat(255))),
    empty: tree(),
  };
  const left: Record<string, string> = {
    '`.git`': tree(file('.GIT')),
    'a name that NTFS takes for it': tree(file('git~1')),
    'a name with a dot at its end': tree(file('.git.')),
    'a name with a blank at its end': tree(file('.git ')),
    'a way up': tree(`040000 tree ${inner}\t..`),
    'a stream': tree(file('.git::$INDEX_ALLOCATION')),
    'a backslash': tree(file('a\\b')),
    'a name that is not ASCII': tree(file('.g\u200cit')),
    'a name too long for a file': tree(file('x'.repeat(256))),
    'names that differ in case': tree(file('A'), file('a')),
    'directories that differ in case': tree(`040000 tree ${inner}\tA`, `040000 tree ${inner}\ta`),
    'a file and a directory that differ in case': tree(file('A'), `040000 tree ${inner}\ta`),
    'a submodule': tree(`160000 commit ${'1'.repeat(40)}\tmodule`),
    'a link with a name of git': tree(link('.gitmodules')),
    'a link too long': tree(link('l', long)),
    'a link with a NUL': tree(link('l', nul)),
    'too many bytes': tree(file('a', big), file('b')),
    'too many paths': tree(...Array.from({ length: 257 }, (_, index) => file(`f${index}`))),
    'an object that is not there': tree(file('f', '2'.repeat(40))),
  };
  for (const [what, id] of Object.entries(kept))
    t.ok(await readSmallTree(repo, await listTree(repo, id)), what);
  for (const [what, id] of Object.entries(left))
    t.equal(await readSmallTree(repo, await listTree(repo, id)), undefined, what);
  const raw = (bytes: Buffer): string =>
    execFileSync('git', ['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'], {
      cwd: sample.dir,
      input: bytes,
      encoding: 'utf8',
    }).trim();
  const entry = (mode: string, name: string, id: string): Buffer =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')]);
  const twice = raw(Buffer.concat([entry('100644', 'a', blob), entry('100644', 'a', blob)]));
  const both = raw(Buffer.concat([entry('120000', 'a', blob), entry('40000', 'a', inner)]));
  const unsorted = raw(Buffer.concat([entry('100644', 'b', blob), entry('100644', 'a', blob)]));
  for (const id of [twice, both, unsorted])
    t.equal(await readSmallTree(repo, await listTree(repo, id)), undefined, 'malformed');
});

t.test('a tree that cannot be written directly is written by git', async (t) => {
  const dir = t.testdir();
  const sample = makeRepository(join(dir, 'repo'));
  const commit = sample.commit({ 'a/b': 'x\n' });
  const repo = await openRepository(sample.dir);
  const small = await readSmallTree(repo, await listTree(repo, commit));
  const work = join(dir, 'work');
  mkdirSync(work);
  writeFileSync(join(work, 'a'), 'in the way');
  await exportTree(repo, commit, work, commit, small);
  t.equal(readFileSync(join(work, 'a/b'), 'utf8'), 'x\n');
});
