import t from 'tap';
import { loadHighlighting } from '../../../../session/screen/highlight/open-highlighter.ts';
import { markdownLines } from '../../../../session/screen/markdown/open-markdown.ts';
import { everyThird, long } from '../../../rooms/long.ts';
import { cpuTime } from '../../../waiting/cpu-time.ts';

t.before(loadHighlighting);

/** What a grammar of Markdown goes through again and again, and text that is only long. */
const pieces: readonly string[] = [
  ...[
    '*',
    '*a ',
    '_',
    'a_',
    '`',
    '`a``',
    '~',
    '~a ',
    '***a** ',
    '**a _b ',
    '[',
    '![',
    '[a](',
    '[a][',
    '[a]: b\n',
  ],
  ...[
    '>',
    '> ',
    '> - ',
    '- ',
    '1. ',
    '- a\n',
    '- a\n\n',
    '- a\n  - b\n    - c\n',
    '>>>>>>> a\n',
    '# ',
    'a\n=',
    '    a\n',
  ],
  ...[
    '<',
    '<a@',
    '<!--',
    '<![CDATA[',
    'http://a',
    'www.',
    'a@',
    'a.b.c@',
    '|',
    '|a|b\n',
    '|a|\n|-|\n|b|\n',
    'a | ',
    '&',
  ],
  ...[
    '\\',
    '\\\n',
    '(',
    ' ',
    '\t',
    '\n',
    '\r',
    '   a\n',
    'x',
    '你',
    '👨‍👩‍👧‍👦',
    '\x1b[',
    '\u200b',
    '\u0301',
    '```ts\n',
    '~~~\na\n',
  ],
];

long('256 KiB of anything is read in time that grows with it', async (t) => {
  for (const piece of everyThird(pieces)) {
    const took = cpuTime();
    markdownLines(piece.repeat(Math.ceil((256 * 1024) / piece.length)), { columns: 80 });
    const spent = took();
    t.ok(spent < 4000, `${JSON.stringify(piece)}: ${spent.toFixed(0)} ms`);
  }
});

t.test('deep nesting ends', async (t) => {
  const quotes = `${'>'.repeat(5000)} a`;
  t.equal(
    markdownLines(quotes, { columns: 80 })
      .flat()
      .map(({ text }) => text)
      .join(''),
    quotes,
    'as it is written',
  );
  const nested = Array.from({ length: 60 }, (_, at) => `${' '.repeat(2 * at)}- a`).join('\n');
  t.ok(markdownLines(nested, { columns: 80 }).length >= 60);
});
