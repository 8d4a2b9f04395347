import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { type CaseFile, toPatchSet } from '../../../testing.ts';

const env = {
  PATH: process.env.PATH,
  HOME: '/nonexistent',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
};

function write(root: string, path: string, content: string | Uint8Array, mode = '100644'): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
  chmodSync(join(root, path), Number.parseInt(mode.slice(3), 8));
}

const cases: Record<string, Record<string, CaseFile>> = {
  'a change in the middle': {
    'a.ts': { base: '1\n2\n3\n4\n5\n6\n7\n8\n9\n', candidate: '1\n2\n3\n4\nfive\n6\n7\n8\n9\n' },
  },
  'lines before, lines after': {
    a: { base: 'x\n', candidate: 'a\nx\nb\n' },
    b: { base: 'a\nx\nb\n', candidate: 'x\n' },
  },
  'two changes far apart': { a: { base: '1\n2\n3\n4\n5\n6\n', candidate: 'one\n2\n3\n4\n5\nsix\n' } },
  'a new file, an empty one, a deleted one': {
    'd/a': { candidate: 'x\n' },
    e: { candidate: '' },
    f: { base: 'x\ny\n' },
  },
  'no line feed at the end': {
    a: { base: 'x', candidate: 'x\n' },
    b: { base: 'x\n', candidate: 'x' },
    c: { base: 'x', candidate: 'y' },
    d: { candidate: 'x' },
    e: { base: 'a\nx', candidate: 'b\nx' },
  },
  'repeated lines': {
    a: { base: 'x\nx\nx\n', candidate: 'x\nx\n' },
    b: { base: 'x\nx\n', candidate: 'x\nx\nx\nx\n' },
  },
  'carriage returns': { a: { base: '1\r\n2\r\n', candidate: '1\r\n3\r\n' } },
  'odd names': {
    'with blank.ts': { base: 'x\n', candidate: 'y\n' },
    'ümläut.ts': { base: 'x\n', candidate: 'y\n' },
    'quote"and\\slash': { base: 'x\n', candidate: 'y\n' },
    'tab\tand\nfeed': { candidate: 'y\n' },
  },
  'a rename with a change': { new: { base: 'x\ny\n', candidate: 'x\nz\n', oldPath: 'old' } },
  'a pure rename': { new: { base: 'x\ny\n', candidate: 'x\ny\n', oldPath: 'old name' } },
  modes: {
    a: { base: 'x\n', candidate: 'x\n', newMode: '100755' },
    b: { candidate: 'x\n', newMode: '100755' },
    c: { base: 'x\n', candidate: 'y\n', oldMode: '100755', newMode: '100644' },
  },
};

for (const [name, files] of Object.entries(cases)) {
  t.test(`git applies a diff with ${name}`, async (t) => {
    const root = t.testdir({});
    for (const [path, { base, oldPath, oldMode }] of Object.entries(files)) {
      if (base !== undefined) write(root, oldPath ?? path, base, oldMode);
    }
    const patch = toPatchSet(files);
    // Outside of any repository, or `git apply` would skip what does not lie under its root.
    const outside = { ...env, GIT_CEILING_DIRECTORIES: dirname(root) };
    const run = spawnSync('git', ['apply', '-'], {
      cwd: root,
      input: patch.diff,
      env: outside,
      encoding: 'utf8',
    });
    t.equal(run.status, 0, run.stderr);
    for (const [path, { base, candidate, oldMode, newMode }] of Object.entries(files)) {
      if (candidate === undefined) t.notOk(existsSync(join(root, path)));
      else {
        t.equal(readFileSync(join(root, path), 'utf8'), candidate);
        const executable = (newMode ?? (base === undefined ? undefined : oldMode)) === '100755';
        t.equal((statSync(join(root, path)).mode & 0o100) !== 0, executable);
      }
    }
    t.equal(readdirSync(root).includes('old'), false);
  });
}

t.test('describes files as git does', async (t) => {
  const { files, diff } = toPatchSet({
    same: { base: 'x\n', candidate: 'x\n' },
    b: { base: '1\n2\n', candidate: '1\ntwo\nthree\n' },
    a: { candidate: 'x\n' },
    c: { base: 'x\0y', candidate: 'x\0z' },
    moved: { base: 'x\n', candidate: 'x\n', oldPath: 'here' },
    d: { base: 'x\n', candidate: 'x\n', newMode: '100755' },
    e: { base: 'x\n' },
  });
  t.match(files, [
    { path: 'a', changeType: 'add', newMode: '100644', linesAdded: 1, linesDeleted: 0, binary: false },
    { path: 'b', changeType: 'modify', linesAdded: 2, linesDeleted: 1 },
    { path: 'c', changeType: 'modify', binary: true, linesAdded: 0, linesDeleted: 0 },
    { path: 'd', changeType: 'mode', oldMode: '100644', newMode: '100755' },
    { path: 'e', changeType: 'delete', oldMode: '100644' },
    { path: 'moved', oldPath: 'here', changeType: 'rename' },
  ]);
  t.equal(files.length, 6, 'an unchanged file is not in the patch');
  for (const { start, end } of files) {
    t.match(Buffer.from(diff.subarray(start, end)).toString(), /^diff --git a\/[\s\S]*\n$/);
  }
  t.equal(files[0]?.newBlob, '587be6b4c3f93f93c489c0111bba5596147a26cb', 'as git hash-object says');
  t.ok(diff.buffer instanceof SharedArrayBuffer);
});
