import t from 'tap';
import { type DomainPolicy, type DomainRefusal, refuseUrl } from '../../../spec/evidence-domains.ts';

type Row = readonly [url: string, allowed: string, blocked: string, DomainRefusal | undefined];

const list = (words: string): readonly string[] => words.split(' ').filter((word) => word !== '');

function judge(mode: DomainPolicy['domainAllowlistMode'], [url, allowed, blocked]: Row) {
  return refuseUrl(
    { domainAllowlistMode: mode, allowedDomains: list(allowed), blockedDomains: list(blocked) },
    url,
  );
}

const always: readonly Row[] = [
  // exact
  ['https://docs.example.com/a', 'docs.example.com', '', undefined],
  ['https://DOCS.Example.COM/a', 'docs.example.com', '', undefined],
  ['https://docs.example.com/a', 'Docs.EXAMPLE.com', '', undefined],
  ['https://docs.example.com:8443/a', 'docs.example.com', '*', undefined],
  ['https://docs.example.com./a', 'docs.example.com', '*', undefined],
  // wildcard: any depth below, never the apex, never a longer name
  ['https://a.example.com/', '*.example.com', '*', undefined],
  ['https://a.b.example.com/', '*.example.com', '*', undefined],
  ['https://example.com/', '*.example.com', '*', 'blocked-domain'],
  ['https://notexample.com/', '*.example.com', '*', 'blocked-domain'],
  ['https://example.com.attacker.org/', '*.example.com example.com', '*', 'blocked-domain'],
  ['https://example.com@attacker.org/', 'example.com', '*', 'no-host'],
  ['https://attacker.org/#example.com', 'example.com', '*', 'blocked-domain'],
  // IDN
  ['https://bücher.example/', 'xn--bcher-kva.example', '*', undefined],
  ['https://xn--bcher-kva.example/', 'BÜCHER.example', '*', undefined],
  ['https://www.bücher.example/', '*.bücher.example', '*', undefined],
  // IP literals: exact only, in every spelling of the same address
  ['http://192.0.2.7/', '192.0.2.7', '*', undefined],
  ['http://0xc0.0.2.7/', '192.0.2.7', '*', undefined],
  ['http://192.0.2.8/', '192.0.2.7', '*', 'blocked-domain'],
  ['http://192.0.2.7/', '*.0.2.7', '*', 'blocked-domain'],
  ['http://192.0.2.7/', '*.7', '*', 'blocked-domain'],
  ['http://[2001:db8::1]/', '*.1', '*', 'blocked-domain'],
  ['http://[2001:db8::1]/', '2001:DB8:0::1', '*', undefined],
  ['http://[2001:db8::1]/', '[2001:db8::1]', '*', undefined],
  ['http://[2001:db8::2]/', '2001:db8::1', '*', 'blocked-domain'],
  // allowed first: what is listed stays, whatever is blocked
  ['https://a.example.com/', 'a.example.com', 'a.example.com', undefined],
  ['https://a.example.com/', 'a.example.com', '*.example.com', undefined],
  ['https://b.example.com/', 'a.example.com', '*.example.com', 'blocked-domain'],
  ['https://evil.example./', '', 'evil.example', 'blocked-domain'],
  ['http://127.0.0.1/', '', '127.0.0.1', 'blocked-domain'],
  ['http://2130706433/', '', '127.0.0.1', 'blocked-domain'],
  ['http://[::1]/', '', '::1', 'blocked-domain'],
  // no host of ours
  ['ftp://docs.example.com/', 'docs.example.com', '', 'no-host'],
  ['file:///etc/passwd', '', '', 'no-host'],
  ['javascript:alert(1)', '', '', 'no-host'],
  ['docs.example.com', 'docs.example.com', '', 'no-host'],
  ['https://user:secret@docs.example.com/', 'docs.example.com', '', 'no-host'],
  ['', '', '', 'no-host'],
];

t.test('the allow list and the block list work the same in both modes', async (t) => {
  for (const row of always)
    for (const mode of ['allowlist-only', 'disabled'] as const)
      t.equal(judge(mode, row), row[3], `${mode}: ${row.join(' | ')}`);
});

t.test('`allowlist-only` refuses an unlisted domain, and `disabled` allows it', async (t) => {
  for (const row of [
    ['https://elsewhere.example/', '', '', undefined],
    ['https://elsewhere.example/', 'a.example', 'b.example', undefined],
    ['http://198.51.100.1/', 'a.example', '*.198.51.100.1', undefined],
  ] satisfies Row[]) {
    t.equal(judge('allowlist-only', row), 'not-allowed-domain', row[0]);
    t.equal(judge('disabled', row), undefined, row[0]);
  }
});
