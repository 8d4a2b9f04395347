import t from 'tap';
import { compileGlob } from '../../../core/base/glob.ts';
import { findConflicts } from '../../../engine/plan/plan-advice.ts';
import { parseWritePattern, patternsMeet, WriteIndex } from '../../../engine/plan/predicted-writes.ts';

const meet = (a: string, b: string): boolean => patternsMeet(parseWritePattern(a), parseWritePattern(b));

t.test('two patterns meet if one path can match both', async (t) => {
  const rows: readonly (readonly [string, string, boolean])[] = [
    ['src/a.ts', 'src/a.ts', true],
    ['src/a.ts', 'src/a.tsx', false],
    ['src', 'src/a.ts', true],
    ['src/a.ts/', '**/*.md', true],
    ['src/v1', '**/*.md', true],
    ['.github', '**/*.md', true],
    ['src/', 'src2/a.ts', false],
    ['src/**', 'src/a/b.ts', true],
    ['src/*.ts', 'src/a.ts', true],
    ['src/*.ts', 'src/a.md', false],
    ['src/*.ts', 'src/deep/a.ts', false],
    ['src/**/*.ts', 'src/deep/a.ts', true],
    ['src/**/*.ts', 'src/deep/', true],
    ['src/*.ts', 'src/deep/', false],
    ['**/*.test.ts', 'src/a.ts', false],
    ['**/*.test.ts', 'src', true],
    ['**', 'anything/at/all', true],
    ['src/*.ts', 'src/*.md', false],
    ['src/a*.ts', 'src/b*.ts', false],
    ['src/a*.ts', 'src/*b.ts', true],
    ['src/*/gen', 'src/x/gen/y.ts', true],
    ['{src,test}/a.ts', 'test/a.ts', true],
    ['{src,test}/a.ts', 'docs/a.ts', false],
    ['{src/a,test}/b.ts', 'docs/b.ts', true],
    ['app/[id]/page.tsx', 'app/[id]/page.tsx', true],
    ['app/[id]/page.tsx', 'app/i/page.tsx', true],
    ['app/[id]/page.tsx', 'app/x/page.tsx', false],
  ];
  for (const [a, b, expected] of rows) {
    t.equal(meet(a, b), expected, `${a} and ${b}`);
    t.equal(meet(b, a), expected, `${b} and ${a}`);
  }
});

t.test('a very deep pattern still meets patterns that overlap with it', async (t) => {
  const deep = Array.from({ length: 50 }, () => 'd').join('/');
  t.ok(meet(`${deep}/a.ts`, `${deep}/a.ts`));
  t.ok(meet(`${deep}/a.ts`, 'd/d'));
  t.notOk(meet(`${deep}/a.ts`, 'e'));
});

/** The same numbers on every machine. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    yield state >>> 8;
  }
}

t.test('conflicts connect all parts with overlapping writes and no others', async (t) => {
  const random = numbers(7);
  const pick = <T>(list: readonly T[]): T => list[random.next().value % list.length] as T;
  const directories = ['a', 'b', '*', '**', 'b*', '[ab]'];
  const names = [...directories, 'c.ts', 'd.ts', '*.ts', 'c*'];
  let overlaps = 0;
  for (let round = 0; round < 300; round += 1) {
    const parts = Array.from({ length: 14 }, () => ({
      writes: Array.from({ length: 1 + (random.next().value % 2) }, () => {
        const above = Array.from({ length: random.next().value % 3 }, () => pick(directories));
        return [...above, pick(names)].join('/');
      }),
    }));
    const conflicts = findConflicts(parts);
    const reach = parts.map((_, at) => new Set([at]));
    for (const { before, after } of conflicts) {
      if (before >= after) t.fail('an order');
      for (const earlier of reach[before] ?? []) reach[after]?.add(earlier);
      const real = parts[before]?.writes.some((a) => parts[after]?.writes.some((b) => meet(a, b)));
      if (real !== true)
        t.fail(`round ${round}: ${parts[before]?.writes} and ${parts[after]?.writes} do not meet`);
    }
    for (const [after, { writes }] of parts.entries()) {
      for (const [before, earlier] of parts.slice(0, after).entries()) {
        if (!writes.some((a) => earlier.writes.some((b) => meet(a, b)))) continue;
        overlaps += 1;
        if (reach[after]?.has(before) !== true)
          t.fail(`round ${round}: ${earlier.writes} → ${writes} is not seen`);
      }
    }
  }
  t.ok(overlaps > 1000, `${overlaps} overlaps`);
});

t.test('patterns that match a common path are reported to meet', async (t) => {
  const random = numbers(11);
  const pick = <T>(list: readonly T[]): T => list[random.next().value % list.length] as T;
  const names = ['a', 'b', '*', 'a*', '?', '{a,b}', '[ab]', '**'];
  const paths = ['a', 'b', 'a/a', 'a/b', 'b/a', 'ab', 'a/a/b', 'b/ab/a', 'ab/b'];
  const pattern = () => Array.from({ length: 1 + (random.next().value % 3) }, () => pick(names)).join('/');
  for (let round = 0; round < 2000; round += 1) {
    const [a, b] = [pattern(), pattern()];
    const [left, right] = [compileGlob(a), compileGlob(b)];
    if (paths.some((path) => left.matches(path) && right.matches(path)) && !meet(a, b))
      t.fail(`${a} and ${b}`);
  }
  t.pass();
});

t.test('a path that is both a file and a directory still gives all conflicts', async (t) => {
  const writes = [['a/x.ts/'], ['a/x.ts'], ['*/x.ts/deep.md']];
  const conflicts = findConflicts(writes.map((one) => ({ writes: one })));
  t.match(conflicts, [
    { before: 0, after: 1 },
    { before: 1, after: 2 },
  ]);
});

t.test('too many globs are compared by directory, so that no overlap is missed', async (t) => {
  const index = new WriteIndex();
  for (let owner = 0; owner < 200; owner += 1) index.claim(`src/*-${owner}.ts`, owner);
  t.ok(index.claim('src/x-7.ts', 200).length > 0);
  t.ok(index.meets('src/x-7.ts'));
  t.notOk(index.meets('docs/x-7.ts'));
  const files = new WriteIndex();
  for (let owner = 0; owner < 200; owner += 1) files.claim(`src/file-${owner}.md`, owner);
  t.equal(files.claim('src/**/*.ts', 200).length, 200, 'as the directory, whatever its ending');
  t.strictSame(files.claim('src/file-7.md', 201), [{ owner: 200, path: 'src/file-7.md' }]);
});
