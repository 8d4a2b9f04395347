import t from 'tap';
import { type Line, span, textOf } from '../../../session/screen/line.ts';
import { cellsOf, clipLine, clipText, widthOf, wrapLine } from '../../../session/screen/wrap.ts';
import { seededRandom } from '../../chance/seeded-random.ts';

const family = '👨‍👩‍👧‍👦';
const texts = (lines: readonly Line[]): readonly string[] => lines.map(textOf);

t.test('a line wraps between words, and inside a word that is too long', async (t) => {
  const line = [span('Hello wonderful '), span('world', 'strong'), span(', averyveryverylongword')];
  t.strictSame(texts(wrapLine(line, { columns: 12 })), [
    'Hello',
    'wonderful',
    'world,',
    'averyveryver',
    'ylongword',
  ]);
  const [, , third] = wrapLine(line, { columns: 12 });
  t.strictSame(third, [span('world', 'strong'), span(',')], 'each word keeps its tone, and its neighbour');
});

t.test('wrapped lines have a hanging indent where there is room for it', async (t) => {
  const hang = [span('  | ', 'dim')];
  t.strictSame(texts(wrapLine([span('one two three')], { columns: 9, hang })), ['one two', '  | three']);
  t.strictSame(texts(wrapLine([span('one two three')], { columns: 7, hang })), ['one two', 'three']);
});

t.test('wrapping splits no wide character, emoji sequence or combining mark', async (t) => {
  t.strictSame(texts(wrapLine([span('你好世界')], { columns: 5 })), ['你好', '世界']);
  t.strictSame(texts(wrapLine([span(family.repeat(3))], { columns: 5 })), [family.repeat(2), family]);
  const marked = 'e\u0301';
  t.strictSame(texts(wrapLine([span(marked.repeat(5))], { columns: 2 })), [
    marked.repeat(2),
    marked.repeat(2),
    marked,
  ]);
});

t.test('code wraps at the last column and keeps its spaces', async (t) => {
  t.strictSame(texts(wrapLine([span('if (a)    b()')], { columns: 8, anywhere: true })), [
    'if (a)  ',
    '  b()',
  ]);
});

t.test('wrapped lines fit the columns and lose only spaces', async (t) => {
  const pieces = ['a', 'word', ' ', '  ', '你', family, 'e\u0301', 'averylongwordwithoutanend', '-', '🇩🇪'];
  const broken: string[] = [];
  for (let seed = 1; seed <= 300; seed += 1) {
    const random = seededRandom(seed);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
    const line = Array.from({ length: 1 + Math.floor(random() * 30) }, () =>
      span(pick(pieces), pick(['plain', 'strong'])),
    );
    const columns = 2 + Math.floor(random() * 20);
    const anywhere = random() < 0.3;
    const lines = wrapLine(line, { columns, anywhere });
    const bare = (text: string) => (anywhere ? text : text.replaceAll(' ', ''));
    const held =
      lines.every((one) => widthOf(one) <= columns) &&
      bare(texts(lines).join('')) === bare(textOf(line)) &&
      lines.every((one) => one.every(({ text }) => text !== ''));
    if (!held) broken.push(`seed ${seed}, ${columns} columns: ${JSON.stringify(texts(lines))}`);
  }
  t.strictSame(broken, []);
});

t.test('a line of a megabyte is wrapped completely', async (t) => {
  t.equal(wrapLine([span('x'.repeat(1_000_000))], { columns: 80 }).length, 12_500);
  t.equal(wrapLine([span('word '.repeat(200_000))], { columns: 80 }).length, 12_500);
});

t.test('clipped text ends in an ellipsis', async (t) => {
  t.equal(clipText('hello', 5), 'hello');
  t.equal(clipText('hello', 4), 'hel…');
  t.equal(clipText('hello', 0), '');
  t.equal(clipText('你好世界', 6), '你好…');
  t.equal(clipText(family.repeat(4), 6), `${family.repeat(2)}…`);
  t.strictSame(clipLine([span('one '), span('two', 'strong')], 6), [
    span('one '),
    span('t', 'strong'),
    span('…', 'strong'),
  ]);
  t.strictSame(clipLine([span('one '), span('two', 'strong')], 7), [span('one '), span('two', 'strong')]);
  t.equal(cellsOf('ab你'), 4);
});
