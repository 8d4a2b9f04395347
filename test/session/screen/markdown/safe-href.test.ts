import t from 'tap';
import { safeHref } from '../../../../session/screen/markdown-blocks.ts';

t.test('`safeHref` accepts web, mailto and local links and rejects all others', async (t) => {
  for (const target of [
    'https://example.org/a?b=c#d',
    'HTTP://example.org',
    'mailto:a@example.org',
    'docs/reference/web.md',
    '/docs/reference/web.md',
    '#keys',
    '?page=1',
    'a/b:c',
  ])
    t.equal(safeHref(target), target);
  for (const target of [
    '',
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    'java\tscript:alert(1)',
    ' javascript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:x',
    'about:blank',
    '//evil.example',
    '\\\\evil.example',
    '/\\evil.example',
    'https://a\nb',
    'x\x00y',
    'unknown:x',
  ])
    t.equal(safeHref(target), undefined, JSON.stringify(target));
});
