import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import {
  type WrittenLimits,
  writtenLimits,
  writtenOutside,
} from '../../../engine/evaluate/written-outside.ts';
import { redactOutcome } from '../../../engine/state/outcome.ts';

const scope = { write: ['src/'], forbidden: ['src/secret/'], wholeRepository: false };

function place(t: Test, written: readonly string[], laid: readonly string[] = []) {
  const directory = t.testdir({});
  const tracked = new Set(['src/a.js', 'docs/b.md']);
  for (const path of ['.git/index', ...tracked, ...written]) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), '');
  }
  return { directory, tracked, laid };
}

t.test('reports files outside the write scope that a check added or changed', async (t) => {
  const at = place(
    t,
    ['src/new.js', 'src/secret/key', 'dist/out.js', 'node_modules/x/y.js', 'cache/old'],
    ['node_modules', 'cache'],
  );
  mkdirSync(join(at.directory, 'empty/deep'), { recursive: true });
  t.strictSame(await writtenOutside(at, ['docs/b.md', 'src/a.js'], scope), {
    count: 3,
    paths: [
      { path: 'dist/out.js', was: 'added' },
      { path: 'docs/b.md', was: 'changed' },
      { path: 'src/secret/key', was: 'added' },
    ],
  });
  t.equal(await writtenOutside(place(t, ['src/new.js']), [], scope), undefined);
  t.equal(await writtenOutside(at, [], { write: [], forbidden: [], wholeRepository: true }), undefined);
});

t.test(
  'reports a symlink without following it, and an unreadable directory makes the count a minimum',
  async (t) => {
    const at = place(t, ['shut/in']);
    symlinkSync('/', join(at.directory, 'root'));
    t.strictSame(await writtenOutside(at, [], scope), {
      count: 2,
      paths: [
        { path: 'root', was: 'added' },
        { path: 'shut/in', was: 'added' },
      ],
    });
    mkdirSync(Buffer.concat([Buffer.from(`${at.directory}/shut-`), Buffer.from([0xff])]));
    t.match(await writtenOutside(at, [], scope), { count: 2, atLeast: true });
  },
);

t.test('keeps control characters in names and truncates long names', async (t) => {
  const long = Array.from({ length: 5 }, () => 'd'.repeat(250)).join('/');
  const found = await writtenOutside(place(t, [`${long}/x`, 'a\u001b[31m\n\u202e']), [], scope);
  t.match(found, { count: 2, paths: [{ path: 'a\u001b[31m\n\u202e' }, { path: /^d{250}\/.*…$/ }] });
  t.equal(found?.paths[1]?.path.length, writtenLimits.pathCharacters + 1);
});

t.test('redacts a token in a file name', (t) => {
  const token = `ghp_${'A1b2'.repeat(9)}`;
  const wroteOutside = { count: 1, paths: [{ path: `out/${token}`, was: 'added' as const }] };
  t.notMatch(JSON.stringify(redactOutcome({ wroteOutside }, { remove: [], words: {} })), token);
  t.end();
});

t.test('counts many files, names the first twenty in order and stops at the entry limit', async (t) => {
  const at = place(t, []);
  mkdirSync(join(at.directory, 'out'));
  const name = (index: number): string => `out/${String(index).padStart(6, '0')}`;
  for (let index = 4999; index >= 0; index -= 1) symlinkSync('x', join(at.directory, name(index)));
  const found = await writtenOutside(at, [], scope);
  t.equal(found?.count, 5000);
  t.notOk(found?.atLeast);
  t.strictSame(
    found?.paths.map(({ path }) => path),
    Array.from({ length: 20 }, (_, index) => name(index)),
  );
  const limits: WrittenLimits = { ...writtenLimits, entries: 1000 };
  const bounded = await writtenOutside(at, [], scope, limits);
  t.match(bounded, { count: 997, atLeast: true }, 'the three directories are entries, too');
});
