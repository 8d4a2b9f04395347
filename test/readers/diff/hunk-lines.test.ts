import t from 'tap';
import { hunkLines, readSections } from '../../../readers/diff/read-sections.ts';
import { toRuleInput } from '../../../testing.ts';

function linesOf(base: string, candidate: string) {
  const { patch } = toRuleInput({ name: 'x', files: { 'a/b.txt': { base, candidate } } });
  const diff = Buffer.from(patch.diff);
  const [file] = patch.files;
  if (!file) throw new Error('nothing changed');
  return [...hunkLines(patch.diff, file)].map(({ kind, line, start, end }) => [
    kind,
    line,
    diff.toString('utf8', start, end),
  ]);
}

t.test('lines of a hunk carry their number on their own side', async (t) => {
  t.same(linesOf('a\nb\nc\n', 'a\nB\nB2\nc\n'), [
    ['context', 1, 'a'],
    ['removed', 2, 'b'],
    ['added', 2, 'B'],
    ['added', 3, 'B2'],
    ['context', 4, 'c'],
  ]);
});

t.test('skips the file header but keeps content that looks like one', async (t) => {
  t.same(linesOf('', '++ b/x\n@@ -1 +1 @@\n-- a/x\n'), [
    ['added', 1, '++ b/x'],
    ['added', 2, '@@ -1 +1 @@'],
    ['added', 3, '-- a/x'],
  ]);
  t.same(linesOf('-- a/x\n', ''), [['removed', 1, '-- a/x']]);
});

t.test('a missing final newline does not add a line', async (t) => {
  t.same(linesOf('a', 'b'), [
    ['removed', 1, 'a'],
    ['added', 1, 'b'],
  ]);
});

t.test('both hunk readers accept a header with leading zeros', async (t) => {
  const zeros = '0'.repeat(20);
  const diff = Buffer.from(
    [
      'diff --git a/x b/x',
      '--- a/x',
      '+++ b/x',
      `@@ -${zeros}1,${zeros}1 +${zeros}1,${zeros}2 @@`,
      ' a',
      '+b',
      '',
    ].join('\n'),
  );
  const [section] = readSections(diff);
  t.equal(section?.hunks.length, 1);
  t.strictSame(
    [...hunkLines(diff, { start: 0, end: diff.length })].map(({ kind }) => kind),
    ['context', 'added'],
  );
});
