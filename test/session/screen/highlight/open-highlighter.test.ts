import t from 'tap';
import {
  highlightCode,
  highlightLine,
  loadHighlighting,
  openHighlighter,
} from '../../../../session/screen/highlighter.ts';
import { type Line, textOf } from '../../../../session/screen/line.ts';

/** Each line with the beginning of the tone of what is no plain code. */
const toned = (line: Line): string =>
  line.map(({ text, tone }) => (tone === 'code' ? text : `<${tone.slice(0, 2)} ${text}>`)).join('');
const read = (code: string, language: string): readonly string[] => highlightCode(code, language).map(toned);

t.before(loadHighlighting);

t.test('code is coloured by its language', async (t) => {
  t.strictSame(read('const a = 1;', 'ts'), ['<ke const> a = <nu 1>;']);
});

t.test('a comment or string that is open at the end of a line continues in the next line', async (t) => {
  t.strictSame(read('/* a\n b */ let x = `c\nd `;', 'ts'), [
    '<co /* a>',
    '<co  b */> <ke let> x = <st `c>',
    '<st d `>;',
  ]);
  t.strictSame(read('"""a\nif b:\n"""\nif b: pass', 'py'), [
    '<st """a>',
    '<st if b:>',
    '<st """>',
    '<ke if> b: <ke pass>',
  ]);
  t.strictSame(read('<a\n b="c"\n><!-- d\ne -->', 'html').at(-1), '<co e -->>');
});

t.test('common languages are highlighted under their usual names', async (t) => {
  const samples: Readonly<Record<string, readonly [string, string]>> = {
    ts: ['type A = 1', 'keyword'],
    js: ['return "a"', 'string'],
    json: ['{"a": 1}', 'number'],
    python: ['def f(): pass # c', 'comment'],
    go: ['func main() {}', 'keyword'],
    rust: ['fn main() {}', 'keyword'],
    java: ['public class A {}', 'keyword'],
    bash: ['if true; then echo "$A"; fi', 'keyword'],
    diff: ['+a', 'added'],
    yaml: ['a: 1', 'name'],
    xml: ['<a b="c"/>', 'string'],
    css: ['.a { color: red }', 'name'],
    sql: ['SELECT 1', 'keyword'],
    markdown: ['# a', 'heading'],
  };
  for (const [language, [code, tone]] of Object.entries(samples)) {
    const spans = highlightCode(code, language).flat();
    t.ok(
      spans.some((one) => one.tone === tone),
      `${language}: ${JSON.stringify(spans)}`,
    );
    t.equal(textOf(spans), code, 'every character is there');
  }
  t.strictSame(read('let a = 1;', 'klingon'), ['let a = 1;']);
  t.strictSame(read('let a = 1;', ''), ['let a = 1;']);
});

t.test('highlighted code shows escaped control and hidden characters', async (t) => {
  t.strictSame(highlightCode('let a = "\u202e";\x1b[0m // \x07', 'ts').map(textOf), [
    'let a = "\\u{202e}"; // \\u{7}',
  ]);
});

t.test('a very long line and a line after a very large block stay plain', async (t) => {
  t.strictSame(read(`const a = "${'x'.repeat(500)}"`, 'ts'), [`const a = "${'x'.repeat(500)}"`]);
  let state = openHighlighter('ts');
  for (let at = 0; at < 6000; at += 1) state = highlightLine(state, 'const a = 1;').next;
  t.strictSame(toned(highlightLine(state, 'const a = 1;').line), 'const a = 1;');
});
