import t from 'tap';
import { loadHighlighting } from '../../../../session/screen/highlighter.ts';
import type { Line } from '../../../../session/screen/line.ts';
import { openBlocks, readBlocks } from '../../../../session/screen/markdown-blocks.ts';
import { markdownLines, openMarkdown } from '../../../../session/screen/markdown-lines.ts';
import { seededRandom } from '../../../chance/seeded-random.ts';
import { isLong, long } from '../../../rooms/long.ts';
import { sample } from './sample.ts';

t.before(loadHighlighting);

/** Pieces of Markdown in an order that nobody would write. */
const odds: readonly string[] = [
  ...[
    '# ',
    '\n',
    '\n\n',
    '- ',
    '  - ',
    '1. ',
    '> ',
    '```',
    '```ts\n',
    '~~~\n',
    '**',
    '*',
    '_',
    '`',
    '[a](',
    'x)',
  ],
  ...[
    '| a | b |\n|---|---|\n',
    '| c |',
    'words and words ',
    '    ',
    '\t',
    '---\n',
    '===\n',
    '\r\n',
    '\x1b[31m',
    '你',
  ],
  ...[
    '👨‍👩‍👧‍👦',
    '/* ',
    ' */',
    '"""',
    '<div>\n',
    'x'.repeat(5000),
    'word '.repeat(1000),
    '\\',
    '&amp;',
    'https://a.example ',
  ],
];

function madeUp(seed: number): string {
  const random = seededRandom(seed);
  const pieces = Array.from(
    { length: 1 + Math.floor(random() * 60) },
    () => odds[Math.floor(random() * odds.length)],
  );
  return pieces.join('');
}

/** The text in pieces of some characters, one at a time; what stands open is looked at between them. */
function streamed(text: string, seed: number, columns: number): readonly Line[] {
  const random = seededRandom(seed);
  const stream = openMarkdown(() => columns);
  const lines: Line[] = [];
  for (let at = 0; at < text.length; ) {
    const next = at + 1 + Math.floor(random() * random() * 40);
    lines.push(...stream.push(text.slice(at, next)));
    if (random() < 0.1) stream.live();
    at = next;
  }
  return [...lines, ...stream.end()];
}

long('streamed Markdown gives the same lines however the text is split', async (t) => {
  const broken: number[] = [];
  const texts = isLong ? 100 : 30;
  for (let seed = 1; seed <= texts; seed += 1) {
    const text = seed % 5 === 0 ? sample.repeat(1 + (seed % 3)) : madeUp(seed);
    const columns = 20 + (seed % 70);
    const whole = markdownLines(text, { columns });
    if (JSON.stringify(whole) !== JSON.stringify(streamed(text, seed, columns))) broken.push(seed);
  }
  t.strictSame(broken, [], 'seeds');
});

t.test('finished and live lines together equal the lines of the whole text at every point', async (t) => {
  const stream = openMarkdown(() => 60);
  const finished: Line[] = [];
  for (let at = 0; at < sample.length; at += 1) {
    finished.push(...stream.push(sample.slice(at, at + 1)));
    const now = [...finished, ...stream.live()];
    const whole = markdownLines(sample.slice(0, at + 1), { columns: 60 });
    if (JSON.stringify(now) !== JSON.stringify(whole)) t.strictSame(now, whole, `after ${at + 1} characters`);
  }
  t.ok(finished.length > 30, 'most of it is finished before its end');
});

t.test('a block is finished as soon as later text cannot change it', async (t) => {
  const blocks = openBlocks();
  const pushed = (text: string) => blocks.push(text).map(({ type }) => type);
  t.strictSame(pushed('# Title\nwords'), []);
  t.strictSame(pushed('\n\n- a\n- b\n\n'), ['heading', 'paragraph']);
  t.strictSame(
    blocks.live().map(({ type }) => type),
    ['list'],
  );
  t.strictSame(pushed('- c\n```ts\nconst a'), ['list'], 'a list, by what is no item of it');
  t.strictSame(pushed(' = 1;\nlet b'), ['code'], 'a line of code, by its end');
  t.strictSame(
    blocks.end().map(({ type }) => type),
    ['code'],
  );
});

t.test('`readBlocks` joins the parts of a block', async (t) => {
  const read = readBlocks(`- a\n- b\n\n\`\`\`ts\nx\ny\n\`\`\`\n| a |\n|---|\n${'| row |\n'.repeat(3000)}`);
  t.strictSame(
    read.map(({ type }) => type),
    ['list', 'code', 'table'],
  );
  const [list, code, table] = read;
  t.equal(list?.type === 'list' && list.items.length, 2);
  t.equal(code?.type === 'code' && code.lines.length, 2);
  t.equal(table?.type === 'table' && table.rows.length, 3000);
});
