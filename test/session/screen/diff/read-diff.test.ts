import t from 'tap';
import { patchLines } from '../../../../session/screen/diff.ts';
import { readDiff } from '../../../../session/screen/hunks.ts';
import { textOf } from '../../../../session/screen/line.ts';

const shown = (text: string): readonly string[] => patchLines(text, { columns: 80 }).map(textOf);

t.test('hunks are read by the counts of their headers', async (t) => {
  const diff = [
    '--- a/src/a.ts',
    '+++ b/src/a.ts',
    '@@ -10,3 +10,3 @@ function f() {',
    ' same',
    '--- looks like a head',
    '+++ looks like a head',
    ' end',
    '@@ -20 +20,2 @@',
    ' same',
    '+more',
    '\\ No newline at end of file',
    '--- a/gone',
    '+++ /dev/null',
    '@@ -1 +0,0 @@',
    '-x',
    '--- modify image.png',
    '--- "a/\\303\\244\\"b"',
    '+++ "b/\\303\\244\\"c"',
    '@@ -1 +1 @@',
    '-x',
    '+y',
    '',
  ];
  t.strictSame(shown(diff.join('\n')), [
    'modify src/a.ts +2 -1',
    '@@ -10 +10 function f() {',
    '10   same',
    '11 - -- looks like a head',
    '11 + ++ looks like a head',
    '12   end',
    '@@ -20 +20',
    '20   same',
    '21 + more (no line end)',
    '',
    'delete gone +0 -1',
    '--- modify image.png',
    '@@ -1 +0',
    '1 - x',
    '',
    'rename ä"b → ä"c +1 -1',
    '@@ -1 +1',
    '1 - x',
    '1 + y',
  ]);
});

t.test('hunks without numbers end at the next header or file', async (t) => {
  t.strictSame(shown('--- /dev/null\n+++ b/a\n@@ fn\n-- y\n+z\n@@\n end\n--- a/b\n+++ b/b\n@@\n+c\n'), [
    'add a +1 -1',
    '@@ fn',
    '- - y',
    '+ z',
    '@@',
    '  end',
    '',
    'modify b +1 -0',
    '+ c',
  ]);
  t.strictSame(shown(''), []);
});

t.test('hidden characters are escaped and lines outside hunks are kept', async (t) => {
  t.strictSame(
    shown('--- a/x\u202e\n+++ b/x\u202e\nodd \x1b]0;t\x07\n@@ -1 +1 @@ f\u200b\n-a\x1b[2K\n+\u2066b\n'),
    ['modify x\\u{202e} +1 -1', 'odd \\e]0;t\\u{7}', '@@ -1 +1 f\\u{200b}', '1 - a', '1 + \\u{2066}b'],
  );
  t.strictSame(shown('@@ -1,9 +1,9 @@\n a\nstray\n+b\n'), ['stray', '@@ -1 +1', '1   a', '2 + b']);
  const ends = (body: string) => shown(`@@ -1 +1 @@\n${body}`).slice(1);
  t.strictSame(ends('-a\r\n+b\r\n'), ['1 - a', '1 + b']);
  t.strictSame(ends('-a\r\n+a\n'), ['1 - a\\r', '1 + a'], 'a line end that is changed is seen');
});

t.test('the changed words of a replaced line are marked', async (t) => {
  const marks = (before: string, after: string) =>
    patchLines(`@@ -1 +1 @@\n-${before}\n+${after}`, { columns: 2000 })
      .slice(1)
      .map((line) => line.flatMap(({ text, tone }) => (tone.endsWith('-word') ? [text] : [])));
  t.strictSame(marks('const a = one(two, three);', 'const a = one(2, three, 4);'), [['two'], ['2', ', 4']]);
  t.strictSame(marks('const a = 1;', 'while (true) run();'), [[], []], 'nothing in common: another line');
  t.strictSame(marks('x'.repeat(700), `${'x'.repeat(700)}y`), [[], []], 'too long to be compared');
});

t.test('lines with many changed words are shown without marks', async (t) => {
  const pair = `-${'a '.repeat(79)}\n+${'b '.repeat(79)}\n`;
  const lines = patchLines(`@@\n${pair.repeat(1000)}`, { columns: 400 });
  t.equal(lines.length, 2000);
  t.notOk(lines.some((line) => line.some(({ tone }) => tone.endsWith('-word'))));
});

t.test('every line of a large diff is read', async (t) => {
  const linesIn = (text: string): number =>
    readDiff(text).reduce(
      (sum, { hunks }) => sum + hunks.reduce((all, { lines }) => all + lines.length, 0),
      0,
    );
  t.equal(readDiff('@@ -1,1 +1,1 @@\n'.repeat(6000))[0]?.hunks.length, 1);
  t.equal(readDiff('@@\n'.repeat(6000))[0]?.hunks.length, 6000);
  t.equal(linesIn(`@@ -1,99999999 +1,99999999 @@\n${'-a b c d e f\n+a b c d e g\n'.repeat(4000)}`), 8000);
  t.equal(readDiff('note\n'.repeat(20_000))[0]?.notes.length, 20_000);
});
