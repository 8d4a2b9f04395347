import t from 'tap';
import { hunksOf, readHunks } from '../../../session/screen/hunks.ts';

const diff = `--- a/x.txt
+++ b/x.txt
@@ -3,3 +3,4 @@ about
 same
--- a/y
+++ b/y
+++ c
 end
@@ -20 +21 @@
-old
\\ No newline at end of file
+new
\\ No newline at end of file
`;

t.test('`readHunks` reads lines by the hunk counts, with line numbers of both sides', async (t) => {
  t.strictSame(readHunks(diff), [
    {
      header: '@@ -3,3 +3,4 @@ about',
      lines: [
        { kind: 'same', text: 'same', oldLine: 3, newLine: 3 },
        { kind: 'removed', text: '-- a/y', oldLine: 4 },
        { kind: 'added', text: '++ b/y', newLine: 4 },
        { kind: 'added', text: '++ c', newLine: 5 },
        { kind: 'same', text: 'end', oldLine: 5, newLine: 6 },
      ],
    },
    {
      header: '@@ -20 +21 @@',
      lines: [
        { kind: 'removed', text: 'old', oldLine: 20 },
        { kind: 'note', text: 'No newline at end of file' },
        { kind: 'added', text: 'new', newLine: 21 },
        { kind: 'note', text: 'No newline at end of file' },
      ],
    },
  ]);
});

t.test('`readHunks` reads hunks without line numbers, and finds none in plain text', async (t) => {
  t.strictSame(readHunks('@@\n a\n-b\n@@ function x\n+c\n'), [
    {
      header: '@@',
      lines: [
        { kind: 'same', text: 'a' },
        { kind: 'removed', text: 'b' },
      ],
    },
    { header: '@@ function x', lines: [{ kind: 'added', text: 'c' }] },
  ]);
  t.strictSame(readHunks(''), []);
  t.strictSame(readHunks('words\n+more\n'), []);
});

t.test('`hunksOf` returns each hunk with its id and its review in this patchset', async (t) => {
  const patchset = {
    id: 'p',
    status: 'proposed',
    updatedAt: '',
    changes: [
      { path: 'logo.png', changeType: 'add', hunks: [{ id: 'b', header: 'whole file' }] },
      {
        path: 'x.txt',
        changeType: 'modify',
        diff,
        hunks: [
          { id: 'one', header: '@@ -3,3 +3,4 @@ about' },
          { id: 'two', header: '@@ -20 +21 @@' },
        ],
      },
      { path: 'long', changeType: 'modify', unshown: 3 },
    ],
  } as const;
  const said = { path: 'x.txt', verdict: 'reject', comment: 'no' } as const;
  const found = hunksOf(patchset, [
    { patchset: 'p', hunk: 'two', ...said },
    { patchset: 'another', hunk: 'one', ...said },
  ]);
  t.match(found, [
    { patchset: 'p', path: 'logo.png', id: 'b', header: 'whole file', lines: [] },
    { path: 'x.txt', id: 'one', lines: { length: 5 }, verdict: undefined },
    { path: 'x.txt', id: 'two', lines: { length: 4 }, verdict: 'reject', comment: 'no' },
  ]);
  t.equal(found.length, 3);
});
