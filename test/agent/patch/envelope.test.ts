import t from 'tap';
import { applyHunks, type EnvelopeSection, readEnvelope } from '../../../agent/patch/apply-hunks.ts';

const wrap = (...lines: string[]) => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');
const hunksOf = (...lines: string[]) => {
  const [section] = readEnvelope(wrap('*** Update File: a', ...lines)) as [
    EnvelopeSection & { kind: 'update' },
  ];
  return section.hunks;
};

t.test('sections add, delete, change and move files', async (t) => {
  const sections = readEnvelope(
    wrap(
      '*** Add File: a b.ts',
      '+one',
      '+',
      '*** Delete File: c',
      '*** Update File: d',
      '*** Move to: e',
      '@@',
      '-x',
      '+y',
    ),
  );
  t.strictSame(sections, [
    { kind: 'add', path: 'a b.ts', lines: ['one', ''] },
    { kind: 'delete', path: 'c' },
    { kind: 'update', path: 'd', moveTo: 'e', hunks: [{ from: ['x'], to: ['y'], kept: [-1], atEnd: false }] },
  ]);
});

t.test('a malformed patch is refused with its line', async (t) => {
  for (const [text, why] of [
    ['', /begin with/],
    ['*** Begin Patch\n', /end with/],
    [wrap(), /changes nothing/],
    [wrap('--- a/b'), /line 2/],
    [wrap('*** Add File: a', 'no plus'), /line 3/],
    [wrap('*** Update File: a'), /changes nothing/],
    [wrap('*** Update File: a', '@@', '*x'), /line 4/],
    [wrap('*** Delete File: a', 'x'), /nothing follows/],
  ] as const)
    t.throws(() => readEnvelope(text), { message: why }, text);
});

t.test('hunks are found in order, ignoring trailing blanks', async (t) => {
  const text = 'a\nb  \nc\nd\n';
  t.equal(applyHunks(text, hunksOf('@@', ' b', '-c', '+C')), 'a\nb  \nC\nd\n');
  t.equal(applyHunks(text, hunksOf('@@', '-a', '+A', '@@', '-d', '+D')), 'A\nb  \nc\nD\n');
  t.equal(applyHunks('a\r\nb\r\n', hunksOf('@@', '-b', '+B')), 'a\r\nB\r\n', 'line ends stay');
  t.equal(applyHunks('a\nb', hunksOf('@@', '-b', '+B')), 'a\nB', 'no line end is added');
  t.equal(applyHunks('a\n', hunksOf('@@', '+z')), 'a\nz\n', 'at the end');
  t.equal(applyHunks('a\nb\n', hunksOf('@@ a', '+z')), 'a\nz\nb\n', 'below its anchor');
});

t.test('a byte order mark stays, and the first line can be changed', async (t) => {
  const text = '\ufeffone\ntwo\n';
  t.equal(applyHunks(text, hunksOf('@@', '-one', '+ONE', ' two')), '\ufeffONE\ntwo\n');
  t.equal(
    applyHunks(text, hunksOf('@@', '-\ufeffone', '+\ufeffONE')),
    '\ufeffONE\ntwo\n',
    'a model that writes it',
  );
  t.equal(applyHunks(text, hunksOf('@@', '+zero', ' one')), '\ufeffzero\none\ntwo\n');
  t.equal(applyHunks(text, hunksOf('@@', '-two', '+TWO')), '\ufeffone\nTWO\n');
});

t.test('each line keeps its own line end', async (t) => {
  const text = 'a\nb\r\nc\nd\n';
  t.equal(applyHunks(text, hunksOf('@@', ' c', '-d', '+D')), 'a\nb\r\nc\nD\n');
  t.equal(
    applyHunks(text, hunksOf('@@', ' a', '-b', '+B', ' c')),
    'a\nB\r\nc\nd\n',
    'as the line that it replaces',
  );
  t.equal(applyHunks(text, hunksOf('@@', ' b', '+x', ' c')), 'a\nb\r\nx\r\nc\nd\n', 'as the line above');
  t.equal(applyHunks('a\r\nb', hunksOf('@@', ' b', '+c')), 'a\r\nb\r\nc', 'behind a last line without one');
  t.equal(applyHunks('a\r\nb\r\nc\n', hunksOf('@@', '+z', ' a')), 'z\r\na\r\nb\r\nc\n', 'as most lines');
  t.equal(applyHunks('a\nb\r\nc\n', hunksOf('@@', '-a', '-b', '+A', ' c')), 'A\nc\n');
  t.equal(applyHunks('', hunksOf('@@', '+z')), 'z\n', 'an empty file');
});

t.test('lines that a patch leaves keep their trailing blanks', async (t) => {
  t.equal(applyHunks('a  \nb\t\nc\n', hunksOf('@@', ' a', '-b', '+B', ' c')), 'a  \nB\nc\n');
  t.equal(applyHunks('a\nb\nc\n', hunksOf('@@', ' a  ', '-b', '+B', ' c\t')), 'a\nB\nc\n');
});

t.test('a missing or ambiguous hunk is refused, unless an anchor resolves it', async (t) => {
  const twice = 'f\nx\ng\nx\n';
  t.throws(() => applyHunks(twice, hunksOf('@@', '-x', '+y')), { message: /several places/ });
  t.throws(() => applyHunks(twice, hunksOf('@@', '-nope', '+y')), { message: /not in the file/ });
  t.throws(() => applyHunks(twice, hunksOf('@@ nope', '-x', '+y')), { message: /after `@@`/ });
  t.throws(() => applyHunks(twice, hunksOf('@@', '-g', '+G', '@@', '-f', '+F')), { message: /hunk 2/ });
  t.equal(applyHunks(twice, hunksOf('@@ g', '-x', '+y')), 'f\nx\ng\ny\n');
  t.equal(applyHunks(twice, hunksOf('@@', '-x', '+y', '*** End of File')), 'f\nx\ng\ny\n');
});
