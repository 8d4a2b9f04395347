import t from 'tap';
import { compileGlob } from '../../../core/base/glob.ts';

const rows: readonly (readonly [pattern: string, matching: readonly string[], other: readonly string[]])[] = [
  ['src/a.ts', ['src/a.ts'], ['src/a.tsx', 'xsrc/a.ts', 'src/a-ts', 'src/A.ts']],
  ['src/*.ts', ['src/a.ts', 'src/.ts', 'src/.hidden.ts'], ['src/b/a.ts', 'src/a.js']],
  ['src/**', ['src/a', 'src/a/b', 'src/.env'], ['src', 'srcs/a']],
  ['**', ['a', 'a/b/c'], []],
  ['**/*.ts', ['a.ts', 'x/y/a.ts'], ['a.js', 'a.ts/x']],
  ['src/**/test/*.js', ['src/test/a.js', 'src/x/y/test/a.js'], ['src/xtest/a.js', 'test/a.js']],
  ['a**b', ['ab', 'axxb'], ['a/b', 'a/xb']],
  ['a/**b', ['a/b', 'a/xb'], ['a/x/b']],
  ['file?.c', ['file1.c', 'fileé.c', 'file😀.c'], ['file.c', 'file/.c', 'file12.c']],
  ['[a-c]x', ['ax', 'cx'], ['dx', '-x']],
  ['[!a-c]x', ['dx', 'éx'], ['ax', '/x']],
  ['[]a]', [']', 'a'], ['b']],
  ['[^/]', ['a'], ['/']],
  ['a[b', ['a[b'], ['ab']],
  ['{a,b}/c', ['a/c', 'b/c'], ['c', '{a,b}/c']],
  ['src/{a,b{c,d}}.ts', ['src/a.ts', 'src/bc.ts', 'src/bd.ts'], ['src/b.ts']],
  ['{src/**,docs/*.md}', ['src/x/y', 'docs/a.md'], ['docs/x/a.md', 'src']],
  ['{,x/}**/a', ['a', 'x/a', 'y/a'], ['b']],
  ['a{b', ['a{b'], ['ab']],
  ['\\*.ts', ['*.ts'], ['a.ts']],
  ['\\{a\\}', ['{a}'], ['a']],
];

for (const [pattern, matching, other] of rows) {
  t.test(`the pattern ${pattern} matches whole paths only`, async (t) => {
    const glob = compileGlob(pattern);
    for (const path of matching) t.equal(glob.matches(path), true, path);
    for (const path of other) t.equal(glob.matches(path), false, path);
  });
}

t.test('a pattern that would explode in a backtracking matcher still returns', async (t) => {
  const stars = compileGlob(`${'*a'.repeat(200)}b`);
  const directories = compileGlob(`${'**/'.repeat(100)}x`);
  const braces = compileGlob(`${'{a,aa}'.repeat(80)}b`);
  t.equal(stars.matches('a'.repeat(2000)), false);
  t.equal(directories.matches('a/'.repeat(1000)), false);
  t.equal(braces.matches('a'.repeat(400)), false);
});
