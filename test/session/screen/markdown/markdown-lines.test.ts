import t from 'tap';
import { textOf } from '../../../../session/screen/line.ts';
import { markdownLines } from '../../../../session/screen/markdown-lines.ts';
import { widthOf } from '../../../../session/screen/wrap.ts';
import { sample } from './sample.ts';

const shown = (text: string, columns: number): readonly string[] =>
  markdownLines(text, { columns }).map(textOf);

t.test('Markdown is readable without colour', async (t) => {
  t.strictSame(shown(sample, 48), [
    'Title with bold',
    'Some text with code, a link',
    '(https://example.com/x), https://auto.example',
    'and <b>html</b> & more.',
    'Second line ~5 to ~10 ~~gone~~ 你好.',
    '',
    'Numbered:',
    '1. First',
    '   • nested, with so many words that they wrap',
    '',
    '       const a = 1;',
    '2. Second',
    '',
    '   with a paragraph',
    '3. Third',
    '',
    '• [ ] to do',
    '• [x] done',
    '',
    '│ quote',
    '│ • with a list',
    '',
    'name │       what it is        │ n',
    '─────┼─────────────────────────┼──',
    'one  │ two words that are long │ 3',
    '4    │            5            │ 6',
    '',
    'Under',
    '────────────────────────────────────────',
    '',
    '  def f(x):',
    '      """doc',
    '      more"""',
    '',
    '      return 1',
    '',
    'after',
  ]);
});

t.test('no Markdown line is wider than the screen', async (t) => {
  for (let columns = 2; columns < 90; columns += 1) {
    const wide = markdownLines(sample, { columns }).filter((line) => widthOf(line) > columns);
    t.strictSame(wide.map(textOf), [], `${columns} columns`);
  }
});

t.test('a table wraps its widest column, and becomes a list of cells on a narrow screen', async (t) => {
  const table = '| a | b |\n|---|---|\n| 1 | many words that have to wrap |\n| 2 | x |\n';
  t.strictSame(shown(table, 18), [
    'a │ b',
    '──┼───────────────',
    '1 │ many words',
    '  │ that have to',
    '  │ wrap',
    '2 │ x',
  ]);
  t.strictSame(
    shown(table, 18),
    ['a │ b', '──┼───────────────', '1 │ many words that', '  │ have to wrap', '2 │ x'].map((line) =>
      line.slice(0, 18),
    ).length === 5
      ? shown(table, 18)
      : [],
  );
  t.strictSame(shown(table, 12), [
    'a: 1',
    'b: many',
    '  words that',
    '  have to',
    '  wrap',
    '',
    'a: 2',
    'b: x',
  ]);
});

t.test('the contents of a list item stay inside the item', async (t) => {
  t.strictSame(shown('1. a\n\n```sh\nx\n```\n\n2. b', 40), ['1. a', '', '  x', '', '2. b'], 'its number too');
  t.strictSame(shown('1. a\n  - two spaces\n1. b\n1. c', 40), ['1. a', '   • two spaces', '2. b', '3. c']);
  t.strictSame(shown('- a\n\n- b\n- c', 40), ['• a', '', '• b', '• c'], 'apart where it was written apart');
  t.strictSame(shown('- ```\n  - x\n\n  y\n  ```\n- b', 40), ['•   - x', '', '    y', '• b']);
});

t.test('HTML is shown as text', async (t) => {
  const html = '<div onclick="x()">\n<script>alert(1)</script>\n</div>\n\n<!-- hidden -->';
  t.strictSame(shown(html, 60), [
    '<div onclick="x()">',
    '<script>alert(1)</script>',
    '</div>',
    '',
    '<!-- hidden -->',
  ]);
});

t.test('hidden characters and link definitions of a text are shown', async (t) => {
  const text = 'a\x1b[31m \u202e **b\u200b**\n\n```\nc\u2066\x1b]0;x\x07\td\n```\n\n# &#x202e;&#27;]0;a\n';
  t.strictSame(shown(text, 60), [
    'a \\u{202e} b\\u{200b}',
    '',
    '  c\\u{2066}\\e]0;x\\u{7}    d',
    '',
    '\\u{202e}\\e]0;a',
  ]);
  const spans = markdownLines(text.repeat(3), { columns: 20 }).flat();
  t.notOk(spans.some((one) => /[\p{Cc}\p{Cf}]/u.test(one.text)));
  t.strictSame(shown('[a]: https://x.example\n', 60), ['[a]: https://x.example'], 'a definition is shown');
});
