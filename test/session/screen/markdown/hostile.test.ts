import t from 'tap';
import { loadHighlighting } from '../../../../session/screen/highlighter.ts';
import { markdownLines } from '../../../../session/screen/markdown-lines.ts';

t.before(loadHighlighting);

t.test('deeply nested quotes and lists are rendered', async (t) => {
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
