import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { casesOf } from '../../rooms/long.ts';
import type { SampleFile } from '../git/sample-repository.ts';
import { makeRepository } from '../git/sample-repository.ts';
import { benchFor, freshDirectory } from './patched.ts';

interface Change {
  readonly name: string;
  readonly before: Readonly<Record<string, SampleFile>>;
  readonly after: Readonly<Record<string, SampleFile>>;
  readonly remove?: readonly string[];
  /** `git diff` arguments for the incoming patch. */
  readonly flags?: readonly string[];
  readonly files: readonly Readonly<Record<string, unknown>>[];
}

const long = Array.from({ length: 40 }, (_, index) => `line ${index}\n`).join('');
const binary = Buffer.from(Array.from({ length: 3000 }, (_, index) => (index * 7919) % 251));

const changes: readonly Change[] = [
  {
    name: 'a modified file',
    before: { 'a.txt': long },
    after: { 'a.txt': `${long}more\n` },
    files: [{ path: 'a.txt', changeType: 'modify', linesAdded: 1, linesDeleted: 0, binary: false }],
  },
  {
    name: 'prefix-less names',
    flags: ['--no-prefix'],
    before: { 'src/a.txt': long },
    after: { 'src/a.txt': `x\n${long}`, 'src/b.txt': 'n\n' },
    files: [{ path: 'src/a.txt' }, { path: 'src/b.txt', changeType: 'add' }],
  },
  {
    name: 'prefix-less names in a directory called a',
    flags: ['--no-prefix'],
    before: { 'a/x': long },
    after: { 'a/x': `x\n${long}` },
    files: [{ path: 'a/x' }],
  },
  {
    name: 'mnemonic prefixes',
    flags: ['--src-prefix=i/', '--dst-prefix=w/'],
    before: { 'src/a.txt': long },
    after: { 'src/a.txt': `x\n${long}` },
    files: [{ path: 'src/a.txt' }],
  },
  {
    name: 'new, deleted and empty files',
    before: { gone: 'x\n', keep: 'k\n', 'empty-gone': '' },
    after: { 'dir/new': 'n', empty: '' },
    remove: ['gone', 'empty-gone'],
    files: [
      { path: 'dir/new', changeType: 'add', linesAdded: 1 },
      { path: 'empty', changeType: 'add' },
      { path: 'empty-gone', changeType: 'delete' },
      { path: 'gone', changeType: 'delete', linesDeleted: 1 },
    ],
  },
  {
    name: 'a rename with an edit',
    flags: ['-M'],
    before: { 'old name.txt': long },
    after: { 'new/naïve name.txt': `${long}x\n` },
    remove: ['old name.txt'],
    files: [{ path: 'new/naïve name.txt', oldPath: 'old name.txt', changeType: 'rename', linesAdded: 1 }],
  },
  {
    name: 'a copy',
    flags: ['-C', '--find-copies-harder'],
    before: { one: long },
    after: { two: `${long}x\n` },
    files: [{ path: 'two', changeType: 'add' }],
  },
  {
    name: 'a mode change',
    before: { tool: '#!/bin/sh\n' },
    after: { tool: { exec: '#!/bin/sh\n' } },
    files: [{ path: 'tool', changeType: 'mode', oldMode: '100644', newMode: '100755' }],
  },
  {
    name: 'binary content',
    flags: ['--binary'],
    before: { 'a.bin': binary, 'gone.bin': binary.subarray(5) },
    after: { 'a.bin': binary.subarray(1), 'new.bin': Buffer.concat([binary, binary]) },
    remove: ['gone.bin'],
    files: [
      { path: 'a.bin', binary: true, linesAdded: 0 },
      { path: 'gone.bin', changeType: 'delete', binary: true },
      { path: 'new.bin', changeType: 'add', binary: true },
    ],
  },
  {
    name: 'CRLF content',
    before: { 'dos.txt': 'a\r\nb\r\nc\r\n' },
    after: { 'dos.txt': 'a\r\nB\r\nc\r\n', 'dos2.txt': 'x\r\n' },
    files: [{ path: 'dos.txt', linesAdded: 1, linesDeleted: 1 }, { path: 'dos2.txt' }],
  },
  {
    name: 'line ends changed',
    before: { f: 'a\r\nb\n' },
    after: { f: 'a\nb\r\n' },
    files: [{ path: 'f', linesAdded: 2, linesDeleted: 2 }],
  },
  {
    name: 'no final newline',
    before: { f: 'a\nb', g: 'a\n' },
    after: { f: 'a\nb\n', g: 'a\nb' },
    files: [{ path: 'f' }, { path: 'g' }],
  },
  {
    name: 'awkward names',
    before: { 'with space/a b.txt': long, 'tab\tname': 'x\n', 'quo"te': 'x\n' },
    after: {
      'with space/a b.txt': `${long}y\n`,
      'tab\tname': 'y\n',
      'quo"te': 'y\n',
      'straße/日本.txt': 'n\n',
      'b/a c': 'x\n',
      'back\\slash': 'x\n',
    },
    files: [
      { path: 'b/a c' },
      { path: 'back\\slash' },
      { path: 'quo"te' },
      { path: 'straße/日本.txt' },
      { path: 'tab\tname' },
      { path: 'with space/a b.txt' },
    ],
  },
  {
    name: 'names as raw bytes',
    flags: ['-c', 'core.quotePath=false'],
    before: { 'é.txt': 'x\n' },
    after: { 'é.txt': 'y\n' },
    files: [{ path: 'é.txt' }],
  },
  {
    name: 'a symlink that changes',
    before: { link: { link: 'one' } },
    after: { link: { link: 'two' } },
    remove: ['link'],
    files: [{ path: 'link', oldMode: '120000', newMode: '120000' }],
  },
  {
    name: 'a file that becomes a symlink',
    before: { thing: 'text\n', z: 'z\n' },
    after: { thing: { link: 'z' }, z: 'zz\n' },
    remove: ['thing'],
    files: [{ path: 'thing', changeType: 'modify', oldMode: '100644', newMode: '120000' }, { path: 'z' }],
  },
  {
    name: 'a file that becomes a directory',
    before: { x: 'text\n' },
    after: { 'x/y': 'other\n' },
    remove: ['x'],
    files: [
      { path: 'x', changeType: 'delete' },
      { path: 'x/y', changeType: 'add' },
    ],
  },
  {
    name: 'content that looks like headers',
    before: { f: '-- a/x\n++ b/x\ndiff --git a/q b/q\n@@ -1 +1 @@\nend\n' },
    after: { f: '-- a/y\n++ b/y\ndiff --git a/r b/r\n@@ -2 +2 @@\nend\nrename from x\n' },
    files: [{ path: 'f', linesAdded: 5, linesDeleted: 4 }],
  },
];

/** What of a patch only git can apply is in all of them; each of these has a form of its own. */
const short = [
  'a modified file',
  'mnemonic prefixes',
  'new, deleted and empty files',
  'a rename with an edit',
  'CRLF content',
  'names as raw bytes',
  'a symlink that changes',
  'content that looks like headers',
];
for (const [, change] of casesOf(Object.fromEntries(changes.map((change) => [change.name, change])), short)) {
  t.test(`applying a patch with ${change.name} reproduces the tree that git diffed`, async (t) => {
    const sample = makeRepository(freshDirectory());
    sample.commit(change.before);
    for (const path of change.remove ?? []) rmSync(join(sample.dir, path));
    sample.write(change.after);
    sample.git('add', '-A');
    const wanted = sample.git('write-tree').trim();
    const config = change.flags?.[0] === '-c' ? (change.flags.slice(0, 2) as string[]) : [];
    const flags = config.length > 0 ? [] : (change.flags ?? []);
    const patch = execFileSync(
      'git',
      [...config, 'diff', '--cached', ...flags, ...(flags.includes('--binary') ? [] : []), 'HEAD'],
      { cwd: sample.dir },
    );
    sample.git('reset', '-q', '--hard');
    sample.git('prune', '--expire=now');
    const bench = await benchFor(sample);
    const found = await bench.apply(patch);
    t.equal(found.candidateTree, wanted);
    t.equal(found.baseTree, bench.base.tree);
    t.match(found.files, change.files);
    t.equal(found.files.length, change.files.length);
    t.equal(found.digest, createHash('sha256').update(Buffer.from(found.diff)).digest('hex'));
    t.ok(found.diff.buffer instanceof SharedArrayBuffer);
    t.equal(found.files[0]?.start, 0);
    t.equal(found.files.at(-1)?.end, found.diff.length);
    for (const [index, file] of found.files.entries()) {
      t.equal(
        Buffer.from(found.diff.subarray(file.start, file.end)).toString().startsWith('diff --git '),
        true,
      );
      if (index > 0) t.equal(file.start, found.files[index - 1]?.end);
    }

    const again = await bench.apply(found.diff);
    t.equal(again.digest, found.digest, 'the normal form is its own normal form');
    t.throws(() => sample.git('cat-file', '-e', wanted), 'nothing came into the repository');
  });
}
