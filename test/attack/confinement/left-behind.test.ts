import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { removeTree } from '../../../workspace/git/torn-paths.ts';

const seed = (directory: string, count: number): void => {
  for (let index = 0; index < count; index += 1) writeFileSync(join(directory, `file-${index}`), '');
};

t.test('removing a tree deletes everything in it and keeps the targets of its symlinks', async (t) => {
  const dir = t.testdir({ kept: { file: 'kept' }, left: { a: { b: { c: { d: 'x' } } }, '.removed-1': {} } });
  const left = join(dir, 'left');
  seed(join(left, 'a'), 300);
  symlinkSync(join(dir, 'kept'), join(left, 'link'));
  symlinkSync(join(dir, 'kept'), join(left, 'a/b/link'));
  symlinkSync('nowhere', join(left, 'a/dangling'));
  writeFileSync(Buffer.concat([Buffer.from(`${left}/a/`), Buffer.from([0xff, 0xfe])]), '');
  await removeTree(left);
  t.notOk(existsSync(left));
  t.equal(readFileSync(join(dir, 'kept/file'), 'utf8'), 'kept');
});

t.test('removing a tree also deletes directories without read or write permission', async (t) => {
  const dir = t.testdir({ left: { a: { b: { c: 'x' } } } });
  for (const name of ['left/a/b', 'left/a', 'left']) chmodSync(join(dir, name), 0);
  await removeTree(join(dir, 'left'));
  t.notOk(existsSync(join(dir, 'left')));
});

t.test('a tree deeper than the maximum path length is removed', async (t) => {
  const dir = t.testdir({});
  const name = 'n'.repeat(200);
  const before = process.cwd();
  t.teardown(() => process.chdir(before));
  mkdirSync(join(dir, 'left'));
  process.chdir(join(dir, 'left'));
  for (let depth = 0; depth < 60; depth += 1) {
    mkdirSync(name);
    writeFileSync('file', '');
    process.chdir(name);
  }
  process.chdir(before);
  await removeTree(join(dir, 'left'));
  t.notOk(existsSync(join(dir, 'left')));
});

t.test('removing a file works, a missing path is ignored, and an impossible removal rejects', async (t) => {
  const dir = t.testdir({ file: 'x' });
  await removeTree(join(dir, 'file'));
  t.notOk(existsSync(join(dir, 'file')));
  await removeTree(join(dir, 'file'));
  await t.rejects(removeTree('/proc/self/task'));
});

t.test('removing 20,000 files needs little memory and lets the event loop turn', async (t) => {
  const dir = t.testdir({ left: {} });
  seed(join(dir, 'left'), 20_000);
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  let most = 0;
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
    most = Math.max(most, process.memoryUsage().rss);
  });
  await removeTree(join(dir, 'left'));
  clearInterval(timer);
  t.notOk(existsSync(join(dir, 'left')));
  t.ok(most - before < 64 * 1024 * 1024, `${Math.round((most - before) / 1e6)} MB`);
  t.ok(turns >= 5, `${turns} turns of the event loop meanwhile`);
});
