import t from 'tap';
import type { DiffFile, DiffLine } from '../../../../session/screen/diff/diff-file.ts';
import { maxWordComparisons, readDiff } from '../../../../session/screen/diff/diff-lines.ts';
import { long } from '../../../rooms/long.ts';

const told = ({ kind, text, oldNumber, newNumber }: DiffLine): string =>
  `${oldNumber ?? ''}:${newNumber ?? ''} ${{ added: '+', removed: '-', context: ' ' }[kind]}${text}`;
const linesOf = (file: DiffFile | undefined): readonly string[] =>
  file?.hunks.flatMap(({ lines }) => lines.map(told)) ?? [];
const headOf = ({ path, from, change, added, removed, notes }: DiffFile) => ({
  ...{ path, change, counts: `+${added} -${removed}`, notes },
  ...(from === undefined ? {} : { from }),
});

t.test('reads a git diff by the counts of its hunks', async (t) => {
  const files = readDiff(
    [
      'diff --git a/src/a.ts b/src/a.ts',
      'index 1111111..2222222 100644',
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
      'diff --git a/old name b/new name',
      'similarity index 100%',
      'rename from old name',
      'rename to new name',
      'diff --git a/gone b/gone',
      'deleted file mode 100644',
      '--- a/gone',
      '+++ /dev/null',
      '@@ -1 +0,0 @@',
      '-x',
      'diff --git "a/\\303\\244\\"b" "b/\\303\\244\\"b"',
      'old mode 100644',
      'new mode 100755',
      'Binary files a/x and b/x differ',
      '',
    ].join('\n'),
  );
  t.strictSame(files.map(headOf), [
    { path: 'src/a.ts', change: 'modify', counts: '+2 -1', notes: [] },
    { path: 'new name', from: 'old name', change: 'rename', counts: '+0 -0', notes: [] },
    { path: 'gone', change: 'delete', counts: '+0 -1', notes: [] },
    {
      path: 'ä"b',
      change: 'modify',
      counts: '+0 -0',
      notes: ['old mode 100644', 'new mode 100755', 'Binary files a/x and b/x differ'],
    },
  ]);
  t.strictSame(linesOf(files[0]), [
    '10:10  same',
    '11: --- looks like a head',
    ':11 +++ looks like a head',
    '12:12  end',
    '20:20  same',
    ':21 +more',
  ]);
  t.equal(files[0]?.hunks[0]?.title, 'function f() {');
  t.equal(files[0]?.hunks[1]?.lines[1]?.isUnended, true);
});

t.test('reads a plain diff, a patch envelope and hunks without a header', async (t) => {
  const plain = readDiff(
    '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+c\n',
  );
  t.strictSame(plain.map(headOf), [
    { path: 'x', change: 'modify', counts: '+1 -1', notes: [] },
    { path: 'new', change: 'add', counts: '+1 -0', notes: [] },
  ]);
  const envelope = readDiff(
    '*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n*** Move to: c\n@@ fn\n-- y\n+z\n@@\n end\n*** Delete File: d\n*** End Patch',
  );
  t.strictSame(envelope.map(headOf), [
    { path: 'a', change: 'add', counts: '+1 -0', notes: [] },
    { path: 'c', from: 'b', change: 'rename', counts: '+1 -1', notes: [] },
    { path: 'd', change: 'delete', counts: '+0 -0', notes: [] },
  ]);
  t.strictSame(linesOf(envelope[1]), [': -- y', ': +z', ':  end']);
  const [bare] = readDiff('@@ fn\n-x\n+y', 'src/x.ts');
  t.strictSame([bare?.path, bare?.hunks[0]?.title, linesOf(bare)], ['src/x.ts', 'fn', [': -x', ': +y']]);
  t.strictSame(linesOf(readDiff('+one\n+two', 'new')[0]), [': +one', ': +two']);
  t.strictSame(readDiff(''), []);
});

t.test('escapes hidden characters of a diff and keeps lines outside hunks', async (t) => {
  const [file] = readDiff(
    'diff --git a/x\u202e b/x\u202e\nodd \x1b]0;t\x07\n@@ -1 +1 @@ f\u200b\n-a\x1b[2K\n+\u2066b\n',
  );
  t.equal(file?.path, 'x\\u{202e}');
  t.strictSame(file?.notes, ['odd \\e]0;t\\u{7}']);
  t.equal(file?.hunks[0]?.title, 'f\\u{200b}');
  t.strictSame(linesOf(file), ['1: -a', ':1 +\\u{2066}b']);
  const all = readDiff('@@ -1,9 +1,9 @@\n a\nstray\n+b\n').flatMap((one) => [...one.notes, ...linesOf(one)]);
  t.strictSame(all, ['stray', '1:1  a', ': +b']);
  const ends = (body: string) => linesOf(readDiff(`@@ -1 +1 @@\n${body}`)[0]);
  t.strictSame(ends('-a\r\n+b\r\n'), ['1: -a', ':1 +b']);
  t.strictSame(ends('-a\r\n+a\n'), ['1: -a\\r', ':1 +a'], 'a line end that is changed is seen');
});

t.test('marks the changed words of a replaced line', async (t) => {
  const marks = (before: string, after: string) =>
    readDiff(`@@ -1 +1 @@\n-${before}\n+${after}`)[0]?.hunks[0]?.lines.map((line) =>
      line.marks.map(({ from, to }) => line.text.slice(from, to)),
    );
  t.strictSame(marks('const a = one(two, three);', 'const a = one(2, three, 4);'), [['two'], ['2', ', 4']]);
  t.strictSame(marks('const a = 1;', 'while (true) run();'), [[], []], 'nothing in common: another line');
  t.strictSame(marks('x'.repeat(700), `${'x'.repeat(700)}y`), [[], []], 'too long to be compared');
});

long('the search for changed words', async (t) => {
  /** Lines without a common word cost the most: 158 words each, about 12,000 comparisons. */
  const pair = `-${'a '.repeat(79)}\n+${'b '.repeat(79)}\n`;
  const changed = '-one two three four\n+one two 3 four\n';
  const marksOf = (files: readonly DiffFile[]): number =>
    files.flatMap(({ hunks }) => hunks.flatMap(({ lines }) => lines)).filter(({ marks }) => marks.length > 0)
      .length;

  t.test('compares a bounded number of words, however large the diff is', async (t) => {
    for (const [name, text] of Object.entries({
      'one file': pair.repeat(3000),
      'many files': `--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n${pair.repeat(9)}`.repeat(333),
    })) {
      const budget = { comparisons: maxWordComparisons };
      const lines = readDiff(text, '', budget).reduce((sum, { added }) => sum + added, 0);
      t.ok(lines >= 2997, `${name}: every line is shown`);
      t.ok(budget.comparisons <= 0, `${name}: uses its budget up`);
      t.ok(budget.comparisons > -26_000, `${name}: exceeds it by less than one pair of lines`);
    }
  });

  t.test('marks no words after the budget is used up, and still shows the lines', async (t) => {
    t.equal(marksOf(readDiff(changed.repeat(3000))), 6000, 'ordinary lines stay far below the budget');
    const late = readDiff(`${pair.repeat(400)}@@ x\n${changed}`);
    t.equal(marksOf(late), 0);
    t.strictSame(linesOf(late[0]).slice(-2), [': -one two three four', ': +one two 3 four']);
  });
});

t.test('reads every line of a large diff', async (t) => {
  const linesIn = (text: string): number => readDiff(text).reduce((sum, one) => sum + linesOf(one).length, 0);
  t.equal(readDiff('@@ -1,1 +1,1 @@\n'.repeat(6000))[0]?.hunks.length, 6000);
  t.equal(linesIn(`@@ -1,99999999 +1,99999999 @@\n${'-a b c d e f\n+a b c d e g\n'.repeat(4000)}`), 8000);
  t.equal(linesIn(`@@ x\n${'-a b c d e f\n'.repeat(4000)}${'+a b c d e g\n'.repeat(4000)}`), 8000);
  t.equal(linesIn('--- a\n'.repeat(15_000)), 15_000);
  t.equal(readDiff(`diff --git "${'\\'.repeat(1_000_000)}\n`).length, 1);
  t.equal(readDiff('note\n'.repeat(20_000))[0]?.notes.length, 20_000);
});
