import t from 'tap';
import { patchLines } from '../../../../session/screen/diff.ts';
import { textOf } from '../../../../session/screen/line.ts';
import { widthOf } from '../../../../session/screen/wrap.ts';

const diff = `--- a/src/a.ts
+++ b/src/a.ts
@@ -98,3 +98,3 @@ function f() {
 const same = 1;
-const a = one(two);
+const a = one(2);
 const long = 'a text that does not fit on its line';
\\ No newline at end of file
`;

t.test('a diff is readable without colour, with line numbers, signs and continuation marks', async (t) => {
  t.strictSame(patchLines(diff, { columns: 36 }).map(textOf), [
    'modify src/a.ts +1 -1',
    '@@ -98 +98 function f() {',
    ' 98   const same = 1;',
    ' 99 - const a = one(two);',
    ' 99 + const a = one(2);',
    "100   const long = 'a text that does",
    "    »  not fit on its line'; (no lin",
    '    » e end)',
  ]);
});

t.test('changed words have their own tone', async (t) => {
  const spans = patchLines(diff, { columns: 60 }).flat();
  const words = spans.filter(({ tone }) => tone.endsWith('-word')).map(({ text, tone }) => `${tone} ${text}`);
  t.strictSame(words, ['removed-word two', 'added-word 2']);
});

t.test('no diff line is wider than the screen', async (t) => {
  for (let columns = 2; columns < 60; columns += 1)
    t.strictSame(
      patchLines(diff, { columns }).filter((line) => widthOf(line) > columns),
      [],
    );
});
