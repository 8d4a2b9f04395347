import t from 'tap';
import { braveSearch, duckDuckGoSearch } from '../../../plugins/web-search/plugin.ts';
import { htmlText } from '../../../readers/documents/html/html-text.ts';

t.test('extracts the visible text of a page', async (t) => {
  const page = `<!DOCTYPE html><head><title>No</title><STYLE>p{}</STYLE></head><!-- <p>no --><script>if (a < b) "</p>"</script>
    <h1>One &amp; two</h1><p>three<br>four <b>five</b>&nbsp;six &lt;b&gt; 3 < 4<noscript>no</noscript><p title="a > b">seven`;
  t.equal(htmlText(page, 1000), 'One & two\nthree\nfour five six <b> 3 < 4\nseven');
  t.equal(htmlText('<p>abc</p><p>def', 5), 'abc\nd');
  t.equal(htmlText('&#x41;&#66;&hellip;&unknown;&#0;&', 100), 'AB…&unknown;\uFFFD&');
  t.equal(htmlText(`a${'<div>'.repeat(100_000)}b`, 100), 'a');
});

t.test('a search reply gives results or a reason for failure', async (t) => {
  const brave = braveSearch('k');
  for (const body of [
    '',
    '[]',
    'null',
    '{"web":{"results":7}}',
    '{"web":{"results":[7,{"title":1},null]}}',
    '{"type":"search"}',
  ])
    for (const backend of [brave, duckDuckGoSearch])
      for (const status of [200, 202, 302, 401, 429, 500]) {
        const reading = backend.read({ status, body: Buffer.from(body) });
        t.ok(
          reading.kind === 'failed' ? reading.found !== '' : reading.results.length === 0,
          `${backend.name} ${status} ${body}`,
        );
      }
  t.match(brave.read({ status: 429, body: Buffer.from('') }), { kind: 'failed', restSeconds: 60 });
  t.match(duckDuckGoSearch.read({ status: 202, body: Buffer.from('<p>') }), {
    kind: 'failed',
    restSeconds: 60,
  });
});
