import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { createFootprintReader } from '../../../readers/trace/read-trace.ts';

const options = [
  ...['-f', '--seccomp-bpf', '-qq', '-y', '-e', 'trace=%file,%process,fchdir,getdents64'],
  ...['-e', 'signal=none'],
];
const skip = spawnSync('strace', [...options, 'true']).status === 0 ? false : 'strace cannot trace here';

/** The footprint of a shell script, by paths below its directory. */
function trace(t: { teardown(act: () => void): void }, script: string) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'writ-trace-')));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  const dir = join(root, 'work');
  mkdirSync(join(dir, 'src', 'deep'), { recursive: true });
  writeFileSync(join(dir, 'src', 'a.txt'), 'a');
  writeFileSync(join(dir, 'tool'), '#!/bin/sh\necho hi\n');
  chmodSync(join(dir, 'tool'), 0o755);
  symlinkSync('src', join(dir, 'link'));
  const output = join(root, 'trace');
  spawnSync('strace', [...options, '-o', output, 'sh', '-c', script], { cwd: dir });
  const reader = createFootprintReader(dir);
  for (const line of readFileSync(output, 'utf8').split('\n')) reader.read(line);
  const below = (paths: readonly string[]) =>
    paths.filter((path) => path.startsWith(`${dir}/`)).map((path) => path.slice(dir.length + 1));
  const { missing, read, opened, listed, executed, named, aliased, unread } = reader.footprint();
  return {
    missing: below(missing),
    read: below(read),
    opened: below(opened),
    listed: below(listed),
    executed: below(executed),
    named: below(named),
    aliased: aliased.map((path) => (path.startsWith(`${dir}/`) ? path.slice(dir.length + 1) : path)),
    unread,
    dir,
  };
}

t.test('what a process looks for, reads, lists and executes is told apart', { skip }, (t) => {
  const found = trace(t, '[ -f ci/env.sh ]; cat src/a.txt; ls src; ./tool; ./gone');
  t.strictSame(found.missing, ['ci/env.sh', 'gone']);
  t.ok(found.read.includes('src/a.txt'));
  t.strictSame(found.listed, ['src']);
  t.strictSame(found.executed, ['tool']);
  t.end();
});

t.test('a file that is looked up alone, or that git reads, was not opened', { skip }, (t) => {
  const { read, opened } = trace(t, 'git hash-object tool; cat src/a.txt');
  t.ok(read.includes('tool'));
  t.notOk(opened.includes('tool'));
  t.ok(opened.includes('src/a.txt'));
  t.end();
});

t.test('relative paths follow the directory of their process', { skip }, (t) => {
  const { missing } = trace(t, '(cd src && (cd deep; cat ../b.txt; cat c.txt) ; cat d.txt); cat e.txt');
  t.strictSame(missing, ['e.txt', 'src/b.txt', 'src/d.txt', 'src/deep/c.txt']);
  t.end();
});

t.test('what the processes made themselves was not missing', { skip }, (t) => {
  const { missing, read } = trace(
    t,
    'echo x > new; cat new; mkdir made; ls made; mv new moved; cat moved; rm moved; cat moved',
  );
  t.strictSame(missing, []);
  t.notOk(read.includes('moved'));
  t.end();
});

t.test('names with quotes, brackets, line breaks and other scripts are read', { skip }, (t) => {
  const { missing } = trace(t, `cat 'a"b'; cat 'c>d<e'; cat 'f\ng'; cat 'é日'; cat 'a, b) = 3'`);
  t.strictSame(missing, ['a"b', 'a, b) = 3', 'c>d<e', 'f\ng', 'é日'].sort());
  t.end();
});

t.test('calls that other processes interrupt are joined', { skip }, (t) => {
  const wait = Array.from({ length: 20 }, (_, n) => `(cat "gone-${n}" & )`).join('; ');
  const { missing } = trace(t, `${wait}; wait; sleep 0.2`);
  t.equal(missing.length, 20);
  t.end();
});

t.test('hostile lines are passed over in linear time', (t) => {
  const reader = createFootprintReader('/w');
  const long = 39_000;
  const lines = [
    `1 openat(AT_FDCWD</w>, "${') = 3<'.repeat(long / 6)}`,
    `1 openat(AT_FDCWD</w>, ${'1<'.repeat(long)}`,
    `1 openat(${'AT_FDCWD<'.repeat(long / 9)}) = 0`,
    `1 openat(${'('.repeat(long)}`,
    `1 openat(AT_FDCWD</w>, "${'x'.repeat(200_000)}", O_RDONLY) = -1 ENOENT (No such file or directory)`,
    '1 openat(AT_FDCWD</w>, "a) = 0", O_RDONLY) = -1 ENOENT (No such file or directory)',
    '1 <... openat resumed>) = 3',
    '99999999999999999999 openat("b", O_RDONLY) = -1 ENOENT (No such file or directory)',
    '\u0000\u0001 = -1',
  ];
  for (const line of lines) reader.read(line);
  t.strictSame(reader.footprint().missing, ['/w/a) = 0']);
  t.end();
});

t.test('paths below the alias are paths of the workspace', (t) => {
  const reader = createFootprintReader('/w', { alias: '/elsewhere/project' });
  for (const path of ['/elsewhere/project/a', '/elsewhere/projects/b', '/elsewhere/project'])
    reader.read(`1 openat(AT_FDCWD</w>, "${path}", O_RDONLY) = -1 ENOENT (No such file or directory)`);
  t.strictSame(reader.footprint().missing, ['/elsewhere/projects/b', '/w', '/w/a']);
  t.end();
});

t.test('a reader says when there are more paths than a footprint holds', (t) => {
  const reader = createFootprintReader('/w', { maxPaths: 3 });
  const ask = (name: string) =>
    reader.read(`1 stat("${name}", 0x7f) = -1 ENOENT (No such file or directory)`);
  t.strictSame(['a', 'b', 'a', 'c', 'd'].map(ask), [true, true, true, true, false]);
  t.end();
});

t.test('every path that is used has a name, whatever way leads to it', { skip }, (t) => {
  const ways: Readonly<Record<string, string>> = {
    'a working directory': 'cd src; cat a.txt',
    'a link of the tree': 'cat link/a.txt',
    'a descriptor': 'cd src; cat /proc/self/cwd/a.txt',
    'a file that is appended to': 'echo b >> src/a.txt; cat src/a.txt',
    'a link that the command makes': 'ln -s "$PWD/src" ../other; cat ../other/a.txt',
    'a call that fails': 'set -C; : > src/a.txt',
    'a move': 'mv src/a.txt src/b.txt; cat src/b.txt',
  };
  for (const [way, script] of Object.entries(ways)) {
    const { named, unread } = trace(t, script);
    t.ok(named.includes('src/a.txt'), way);
    t.equal(unread, 0, way);
  }
  t.notOk(trace(t, 'echo a > src/new; cat src/new; rm src/a.txt').named.includes('src/deep'), 'and no other');
  t.end();
});

t.test('directories that have another name since are known', { skip }, (t) => {
  const aliased = (script: string) => trace(t, script).aliased;
  t.ok(aliased('mv src other; cat other/a.txt').includes('src'));
  t.ok(aliased('ln -s src other; cat other/a.txt').includes('src'));
  t.ok(aliased('[ -e /proc/self/cwd/src ]').includes('/'));
  const up = trace(t, 'ln -s .. up; cat up/work/src/a.txt');
  t.ok(
    up.aliased.some((path) => `${up.dir}/`.startsWith(`${path}/`)),
    'a directory above',
  );
  t.strictSame(aliased('mkdir own; echo a > own/a; mv own other; ln -s other own; cat own/a'), []);
  t.end();
});

t.test('lines that are cut or of another form are counted', (t) => {
  const reader = createFootprintReader('/here');
  for (const line of [
    '7 openat(AT_FDCWD</here>, "a", O_RDONLY) = 3</here/a>',
    '7 +++ exited with 0 +++',
    '7 openat(AT_FDCWD</here>, "b", O_RDO',
    'something else',
  ])
    reader.read(line);
  t.match(reader.footprint(), { unread: 2, named: ['/here/a'] });
  t.end();
});
