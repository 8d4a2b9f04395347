import t from 'tap';
import { searchWeb } from '../../../../../engine/run/work/web/search-web.ts';
import type { WebVerdict } from '../../../../../engine/run/work/web/web-verdict.ts';

import type { SearchBackend, SearchReading } from '../../../../../engine/tool/search-backend.ts';
import { accepted, sample } from '../../../spec/sample.ts';

const { evidence } = accepted(sample('minimal')).effective;

/** A service that answers one after the other. */
function service(name: string, ...answers: readonly SearchReading[]): SearchBackend & { asked: string[] } {
  const asked: string[] = [];
  return {
    name,
    asked,
    toQuestion: (query) => ({ url: `https://${name}.example/?q=${query}`, headers: {} }),
    read({ body }) {
      asked.push(Buffer.from(body).toString());
      return answers[asked.length - 1] ?? { kind: 'failed', found: 'nothing is left' };
    },
  };
}

const results = (...urls: readonly string[]): SearchReading => ({
  kind: 'results',
  results: urls.map((url) => ({ title: 'A\u0000 title', url, snippet: 's'.repeat(600) })),
});
const judge = (given: string): WebVerdict =>
  given.includes('evil')
    ? { ok: false, reason: 'domain', why: 'no' }
    : { ok: true, url: new URL(given), trustTier: 'web' };

function opened(backends: readonly SearchBackend[]) {
  let now = 1_000_000;
  const rests = new Map<string, number>();
  const access = { backends, secrets: [], notices: ['a notice'] };
  return {
    pass: (ms: number) => {
      now += ms;
    },
    search: (query: string) =>
      searchWeb(
        {
          evidence,
          access,
          judge,
          rests,
          nowMs: () => now,
          ask: async () => ({ ok: true, status: 200, headers: {}, body: Buffer.from(query), isCut: false }),
        },
        query,
      ),
  };
}

t.test('a search skips a service that requested a pause until the pause is over', async (t) => {
  const busy = service(
    'busy',
    { kind: 'failed', found: 'too many', restSeconds: 60 },
    results('https://a.example/'),
  );
  const other = service('other', ...Array(3).fill(results('https://b.example/')));
  const { pass, search } = opened([busy, other]);
  t.match(await search('one'), {
    outcome: 'done',
    shown: ['https://b.example/'],
    text: '[busy: too many]\n[other]',
  });
  pass(59_999);
  const second = await search('two');
  t.match(second.text, '[a notice]\n[busy: is left alone for a while]\n[other]');
  t.strictSame(busy.asked, ['one'], 'it was asked once');
  pass(1);
  t.match(await search('three'), { outcome: 'done', shown: ['https://a.example/'] });
  t.strictSame(busy.asked, ['one', 'three']);
});

t.test('a search fails and gives the reasons when every service pauses or fails', async (t) => {
  const { search } = opened([service('busy', { kind: 'failed', found: 'too many', restSeconds: 60 })]);
  t.match(await search('one'), { outcome: 'failed', text: 'failed: a notice; busy: too many', shown: [] });
  const again = await search('two');
  t.match(again, { outcome: 'failed', text: 'failed: a notice; busy: is left alone for a while', shown: [] });
  t.match(await opened([]).search('x'), { outcome: 'failed', shown: [] });
});

t.test('a search counts the results it may not show and shows each other result once', async (t) => {
  const urls = ['https://evil.example/', 'https://a.example/', 'https://a.example/'];
  const many = Array.from({ length: 12 }, (_, index) => `https://n.example/${index}`);
  const { search } = opened([service('one', results(...urls), results(...many))]);
  const { text, shown } = await search('x');
  t.match(text, '1 results; left out: 1 by domain');
  t.strictSame(shown, ['https://a.example/']);
  t.match(text, `[web] A title\n   https://a.example/\n   ${'s'.repeat(500)}…`);
  t.equal((await search('y')).shown.length, 10);
});
