import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { binarySides, toBinaryPatch } from '../../../readers/diff/binary-sides.ts';

const env = {
  ...process.env,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.com',
};

function diffOf(directory: string, base: Buffer, candidate: Buffer): Buffer {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: directory, env });
  git('init', '-q');
  writeFileSync(join(directory, 'a'), base);
  git('add', 'a');
  writeFileSync(join(directory, 'a'), candidate);
  return git('diff', '--binary', '--full-index');
}

const noise = (length: number, seed: number): Buffer => {
  let state = seed;
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at += 1) {
    state = (state * 48271) % 2147483647;
    bytes[at] = state & 255;
  }
  return bytes;
};

t.test('reads binary patches from git, both literals and deltas', async (t) => {
  const base = Buffer.concat([noise(5000, 3), Buffer.from('\0tail\n')]);
  const inserted = Buffer.concat([base.subarray(0, 2000), Buffer.from('NEW\0LINE'), base.subarray(2000)]);
  const cases: readonly (readonly [Buffer, Buffer])[] = [
    [Buffer.from('a\0b\n'), Buffer.from('a\0c\n')],
    [base, inserted],
    [inserted, base],
    [base, Buffer.from('\0short')],
    [Buffer.from('\0short'), base],
  ];
  for (const [before, after] of cases) {
    const diff = diffOf(t.testdir(), before, after);
    const sides = binarySides(diff, { start: 0, end: diff.length, changeType: 'modify' });
    if (sides?.inserted) t.equal(sides.inserted.includes('NEW\0LINE'), after === inserted);
    else {
      t.ok(sides?.candidate?.equals(after), `${before.length} to ${after.length}`);
      t.ok(sides?.base === undefined || sides.base.equals(before));
    }
  }
});

t.test('reads back a binary patch that it wrote', async (t) => {
  for (const length of [0, 1, 3, 4, 51, 52, 53, 10_000]) {
    const bytes = noise(length, 5);
    const diff = Buffer.concat([Buffer.from('diff --git a/a b/a\n'), toBinaryPatch(bytes)]);
    t.ok(binarySides(diff, { start: 0, end: diff.length, changeType: 'add' })?.candidate?.equals(bytes));
  }
});

t.test('returns nothing for a malformed patch or one without content', async (t) => {
  const good = `diff --git a/a b/a\n${toBinaryPatch(Buffer.from('some \0 content'))}`;
  for (const text of [
    'diff --git a/a b/a\nBinary files a/a and b/a differ\n',
    good.replace('literal 14', 'literal 15'),
    good.replace('literal 14', 'literal 99999999'),
    good.replace(/\n[A-Za-z](.{5})/, '\nz$1'),
    good.slice(0, good.indexOf('literal 14') + 20),
    good.replace('literal', 'delta'),
  ]) {
    const diff = Buffer.from(text);
    t.equal(
      binarySides(diff, { start: 0, end: diff.length, changeType: 'add' }),
      undefined,
      text.slice(19, 60),
    );
  }
});

t.test('does not unpack a side beyond 8 MiB', async (t) => {
  const diff = Buffer.from(`diff --git a/a b/a\n${toBinaryPatch(Buffer.alloc(8 * 1024 * 1024 + 1))}`);
  t.equal(binarySides(diff, { start: 0, end: diff.length, changeType: 'add' }), undefined);
});
