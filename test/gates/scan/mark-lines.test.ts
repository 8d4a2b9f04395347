import t from 'tap';
import { countAdded } from '../../../gates/scan/count-added.ts';
import { markLines } from '../../../gates/scan/mark-lines.ts';
import { measureFiles } from '../../../gates/scan/marked-hunks.ts';
import { readFiles } from '../../../gates/scan/read-files.ts';
import { hunkLines } from '../../../readers/diff/hunk-lines.ts';
import { randomNumbers } from '../../readers/anchors/random-numbers.ts';

const section = (hunks: string): string => `diff --git a/x b/x\n--- a/x\n+++ b/x\n${hunks}`;

t.test('counts the added lines of a hunk whatever its header says', async (t) => {
  const hunks = [
    '@@ -1,2 +1,3 @@\n a\n+++ b\n-c\n+\n\\ No newline at end of file\n',
    '@@ -1 +1 @@ f() {\n-a\n+b\n@@ -9,0 +9,2 @@\n+c\n+d\n',
    '@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+c\r\n',
    // More lines than it says, fewer, none, a header in the midst, lines without a mark, and what mail adds.
    '@@ -1 +1 @@\n-a\n+b\n+not in it\n',
    '@@ -1,5 +1,9 @@\n a\n+b\n',
    '@@ -0,0 +0,0 @@\n+a\n',
    '@@ -1,3 +1,4 @@\n a\n+b\n@@ -1,1 +1,2 @@\n+c\n d\n',
    '@@ -1,2 +1,3 @@\n a\n@@ -x\ndel\n+b\n c\n',
    '@@ -1 +1,2 @@\n a\n+b\n-- \n2.40.1\n',
    '@@ -1,9999999999999999 +1,99999999999999999999 @@\n+a\n b\n',
  ];
  const random = randomNumbers(3);
  const lines = ['+a\n', '-b\n', ' c\n', '\n', 'd\n', '@@ -1,2 +1,2 @@\n', '@@ -1 +1 @@\n', '\\\n'];
  for (let round = 0; round < 500; round += 1)
    hunks.push(Array.from({ length: 12 }, () => lines[random(lines.length)]).join(''));
  const bytes = Buffer.from(hunks.map(section).join(''));
  const marks = markLines(bytes);
  const files = readFiles(bytes, marks);
  t.equal(files.length, hunks.length);
  for (const [index, file] of files.entries()) {
    const expected = [...hunkLines(bytes, file)].filter(({ kind }) => kind === 'added').length;
    t.equal(countAdded(bytes, [file], measureFiles(bytes, [file], marks)), expected, hunks[index] ?? '');
  }
  const all = files.flatMap((file) => [...hunkLines(bytes, file)].filter(({ kind }) => kind === 'added'));
  t.equal(countAdded(bytes, files, measureFiles(bytes, files, marks)), all.length);
});

t.test('counts added lines up to the end of the given range', async (t) => {
  const bytes = Buffer.from(section('@@ -0,0 +1,4 @@\n+a\n+b\n+c\n+d\n'));
  const marks = markLines(bytes);
  const end = bytes.indexOf('+c');
  const count = (file: { readonly start: number; readonly end: number; readonly binary: boolean }): number =>
    countAdded(bytes, [file], measureFiles(bytes, [file], marks));
  t.equal(count({ start: 0, end, binary: false }), 2);
  t.equal(count({ start: 0, end: bytes.length, binary: false }), 4);
  t.equal(count({ start: 0, end: bytes.length, binary: true }), 0);
});
