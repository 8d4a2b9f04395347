import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { copyWorkTree } from '../../../engine/vcs/copy-work-tree.ts';
import { openRepository } from '../../../engine/vcs/repository.ts';
import { makeRepository } from './sample-repository.ts';

async function copyOf(dir: string) {
  const to = join(dir, '..', 'deeper', 'copy');
  mkdirSync(to, { recursive: true });
  return { to, copied: await copyWorkTree(await openRepository(dir), to, new AbortController().signal) };
}

function listed(dir: string): readonly string[] {
  return readdirSync(dir, { recursive: true }).map(String).sort();
}

t.test('a copy holds what is on disk and belongs to the work tree, and nothing else', async (t) => {
  const dir = join(t.testdir(), 'repository');
  const sample = makeRepository(dir);
  sample.commit({
    'a.txt': 'first',
    'gone.txt': 'x',
    'bin/run': { exec: '#!/bin/sh\n' },
    link: { link: '/etc/hostname' },
    '.gitignore': 'ignored\nnode_modules/\n',
    'below/in.txt': 'in',
    '.writ/config.toml': '',
    '.writ/code/control-token': 'tracked by mistake',
  });
  sample.write({
    'a.txt': 'second',
    ignored: 'x',
    'node_modules/x': 'x',
    'näw file\n.txt': 'odd',
    '.writ/allowed_signers': 's',
    '.writ/agents/me.md': 'm',
    '.writ/code/mcp-token': 'token',
    '.WRIT/code/other': 'token',
    '.writ/state.db': 'x',
  });
  rmSync(join(dir, 'gone.txt'));
  // What git knows as a directory leads out of the work tree now.
  mkdirSync(join(dir, '..', 'outside'));
  writeFileSync(join(dir, '..', 'outside', 'in.txt'), 'of somebody else');
  rmSync(join(dir, 'below'), { recursive: true });
  symlinkSync('../outside', join(dir, 'below'));
  makeRepository(join(dir, 'nested')).commit({ inside: 'x' });
  const { to } = await copyOf(dir);
  t.strictSame(listed(to), [
    '.gitignore',
    '.writ',
    '.writ/agents',
    '.writ/agents/me.md',
    '.writ/allowed_signers',
    '.writ/config.toml',
    'a.txt',
    'below',
    'bin',
    'bin/run',
    'link',
    'nested',
    'näw file\n.txt',
  ]);
  t.equal(readFileSync(join(to, 'a.txt'), 'utf8'), 'second');
  t.equal(readlinkSync(join(to, 'link')), '/etc/hostname');
  t.equal(readlinkSync(join(to, 'below')), '../outside');
  t.equal(lstatSync(join(to, 'bin/run')).mode & 0o777, 0o755);
  t.equal(lstatSync(join(dir, 'a.txt')).nlink, 1, 'no file is shared with it');
});

t.test('what becomes of a copy is told, also where a time was set back', async (t) => {
  const dir = join(t.testdir(), 'repository');
  makeRepository(dir).commit({ a: '1', b: '2', 'c/d': '3', e: '4' });
  const { to, copied } = await copyOf(dir);
  t.strictSame(await copied.changed(), []);
  const { atime, mtime } = lstatSync(join(to, 'a'));
  writeFileSync(join(to, 'a'), '9');
  utimesSync(join(to, 'a'), atime, mtime);
  rmSync(join(to, 'b'));
  renameSync(join(to, 'c'), join(to, 'f'));
  t.strictSame(await copied.changed(), [
    { path: 'a', was: 'changed' },
    { path: 'b', was: 'deleted' },
    { path: 'c/d', was: 'deleted' },
    { path: 'f/d', was: 'added' },
  ]);
  t.strictSame(readFileSync(join(dir, 'a'), 'utf8'), '1');
});

t.test('who stops it gets no half a copy', async (t) => {
  const dir = join(t.testdir(), 'repository');
  makeRepository(dir).commit({ a: '1' });
  const to = join(dir, '..', 'deeper', 'copy');
  await t.rejects(copyWorkTree(await openRepository(dir), to, AbortSignal.abort(new Error('stopped'))), {
    message: 'stopped',
  });
});
