import t from 'tap';
import { authorizeUrl, searchWeb, type WebVerdict } from '../../../agent/web/search-web.ts';
import type { SearchBackend, SearchReading } from '../../../workspace/process/workspace-file.ts';
import { accepted, sample } from '../../spec/sample.ts';

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
  t.match(text, '1 result; left out: 1 by domain');
  t.strictSame(shown, ['https://a.example/']);
  t.match(text, `[web] A title\n   https://a.example/\n   ${'s'.repeat(500)}…`);
  t.equal((await search('y')).shown.length, 10);
});

t.test(
  'a search whose results are all outside the allow list says why, and how to allow a domain',
  async (t) => {
    const found = async (allowed: Partial<typeof evidence>, ...urls: readonly string[]) => {
      const rules = { ...evidence, domainAllowlistMode: 'allowlist-only', ...allowed } as typeof evidence;
      const { text } = await searchWeb(
        {
          evidence: rules,
          access: { backends: [service('one', results(...urls))], secrets: [], notices: [] },
          judge: (url) => authorizeUrl(rules, { refuse: async () => undefined } as never, url),
          rests: new Map(),
          nowMs: () => 0,
          ask: async () => ({ ok: true, status: 200, headers: {}, body: Buffer.from(''), isCut: false }),
        },
        'price',
      );
      return text;
    };
    const urls = ['https://a.example.com/', 'https://b.example.com/'];
    const none = await found({ allowedDomains: [] }, ...urls);
    t.match(
      none,
      /^\[one\] 0 results; left out: 2 by domain\n\[2 results are not shown: `domainAllowlistMode`/,
    );
    t.match(
      none,
      /`evidence\.allowedDomains` of the spec are let in, which is empty\. To allow a domain, a person adds it/,
    );
    t.match(await found({ allowedDomains: ['docs.example.org'] }, ...urls), /which does not list them/);
    t.notMatch(await found({ allowedDomains: [], domainAllowlistMode: 'disabled' }, ...urls), /not shown/);
    const blocked = { allowedDomains: [], domainAllowlistMode: 'disabled', blockedDomains: ['*'] } as const;
    t.notMatch(await found(blocked, ...urls), /not shown/, 'a blocked host is not for this rule to allow');
  },
);
