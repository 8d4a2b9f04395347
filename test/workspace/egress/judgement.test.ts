import t from 'tap';
import { readNetworkHost } from '../../../spec/checks-of.ts';
import { endToEndHeaders } from '../../../workspace/egress/egress-proxy.ts';
import {
  addressProblem,
  authorityOf,
  authorizeTarget,
  type EgressPolicy,
  readTarget,
  UseList,
} from '../../../workspace/egress/openings.ts';

t.test('addresses in ranges that are not public are refused, including both ends', async (t) => {
  const refused: Readonly<Record<string, readonly string[]>> = {
    'this network': ['0.0.0.0', '0.0.0.1', '0.255.255.255'],
    private: [
      ...['10.0.0.0', '10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.0.0', '192.168.255.255'],
      ...['fc00::', 'fd00:ec2::254', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ],
    'carrier-grade NAT': ['100.64.0.0', '100.100.100.200', '100.127.255.255'],
    loopback: ['127.0.0.0', '127.0.0.1', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1'],
    'link-local': ['169.254.0.0', '169.254.169.254', '169.254.255.255', 'fe80::1', 'febf::1'],
    'a cloud metadata service': ['168.63.129.16'],
    reserved: [
      ...['192.0.0.0', '192.0.0.192', '192.0.0.255', '240.0.0.0', '255.255.255.255'],
      ...['2001::1', '2001:1ff:ffff::1', '100::1', '5f00::1', '4000::1', '1fff::1', '200::1'],
    ],
    documentation: [
      ...['192.0.2.0', '192.0.2.255', '198.51.100.7', '203.0.113.255'],
      ...['2001:db8::1', '2001:db8:ffff::', '3fff::1', '3fff:fff::1'],
    ],
    'a 6to4 relay': ['192.88.99.1'],
    benchmarking: ['198.18.0.0', '198.19.255.255'],
    multicast: ['224.0.0.0', '239.255.255.255', 'ff02::1', 'ffff::1'],
    unspecified: ['::'],
    'an IPv4-mapped address': ['::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:7f00:1'],
    'an IPv4-compatible address': ['::127.0.0.1', '::8.8.8.8'],
    'local NAT64': ['64:ff9b:1::1'],
    'site-local': ['fec0::1'],
    'loopback, embedded by NAT64': ['64:ff9b::127.0.0.1'],
    'link-local, embedded by NAT64': ['64:ff9b::a9fe:a9fe'],
    'private, embedded by 6to4': ['2002:a00:1::1', '2002:c0a8:101::'],
    'loopback, embedded by 6to4': ['2002:7f00:1::1'],
    'not an address': [
      '',
      'localhost',
      '127.1',
      '0177.0.0.1',
      '0x7f.0.0.1',
      '2130706433',
      '1.2.3.4.5',
      'fe80::1%eth0',
      '::g',
    ],
  };
  for (const [about, addresses] of Object.entries(refused))
    for (const address of addresses) t.equal(addressProblem(address), about, address);
});

t.test('addresses next to the refused ranges are accepted as public', async (t) => {
  for (const address of [
    ...[
      '1.0.0.0',
      '8.8.8.8',
      '9.255.255.255',
      '11.0.0.0',
      '100.63.255.255',
      '100.128.0.0',
      '126.255.255.255',
    ],
    ...['128.0.0.0', '168.63.129.15', '168.63.129.17', '169.253.255.255', '169.255.0.0', '172.15.255.255'],
    ...[
      '172.32.0.0',
      '192.0.1.0',
      '192.0.3.0',
      '192.167.255.255',
      '192.169.0.0',
      '198.17.255.255',
      '198.20.0.0',
    ],
    ...['198.51.99.255', '198.51.101.0', '203.0.112.255', '203.0.114.0', '223.255.255.255'],
    ...['2000::1', '2001:200::1', '2001:4860:4860::8888', '2001:db7::1', '2001:db9::1', '2606:4700::1111'],
    ...['3ffe::1', '3fff:1000::1', '64:ff9b::8.8.8.8', '2002:808:808::1'],
  ])
    t.equal(addressProblem(address), undefined, address);
});

t.test('a target has exactly one reading or is rejected', async (t) => {
  const read: readonly (readonly [text: string, host: string, port: number, kind: 'name' | 'address'])[] = [
    ['Example.COM', 'example.com', 80, 'name'],
    ['example.com:443', 'example.com', 443, 'name'],
    ['bücher.example', 'xn--bcher-kva.example', 80, 'name'],
    ['BÜCHER.example:8080', 'xn--bcher-kva.example', 8080, 'name'],
    ['a_b.example', 'a_b.example', 80, 'name'],
    ['localhost', 'localhost', 80, 'name'],
    ['8.8.8.8:443', '8.8.8.8', 443, 'address'],
    ['[2606:4700:0::1111]:443', '2606:4700::1111', 443, 'address'],
    ['[::ffff:127.0.0.1]', '::ffff:7f00:1', 80, 'address'],
  ];
  for (const [text, host, port, kind] of read) t.strictSame(readTarget(text, 80), { host, port, kind }, text);
  for (const text of [
    ...[
      '',
      ':80',
      'a:',
      'a:0',
      'a:65536',
      'a:080',
      'a:-1',
      'a:80:80',
      'a b',
      'a/b',
      'a@b',
      'user:pw@a.example',
    ],
    ...[
      '0177.0.0.1',
      '0x7f.0.0.1',
      '0x7f000001',
      '2130706433',
      '127.1',
      '127.0.1',
      '1.2.3.4.5',
      '1.2.3.256',
      '1.2.3.04',
    ],
    ...[
      '①②⑦.0.0.1',
      '127。0。0。1',
      '127.0.0.1.',
      'foo.0x7f',
      'foo.09',
      'foo.1',
      'example.com.',
      '.example.com',
      'a..b',
    ],
    ...[
      '%6c%6f',
      'a%2eb',
      '*.example.com',
      '[::1',
      '::1',
      '[fe80::1%25eth0]',
      '[fe80::1%eth0]',
      '[1.2.3.4]',
      '[]',
      'a\\b',
      'a#b',
      'a?b',
    ],
    ...['-a.example', `${'a'.repeat(64)}.example`, `${'a.'.repeat(130)}example`, 'a\u0000b', 'a\tb'],
  ])
    t.equal(readTarget(text, 80), undefined, JSON.stringify(text));
  t.equal(readTarget('a.example'), undefined, 'without a port where none is usual');
  t.equal(authorityOf({ host: '::1', kind: 'address', port: 81 }, 80), '[::1]:81');
  t.equal(authorityOf({ host: 'a.example', kind: 'name', port: 80 }, 80), 'a.example');
});

t.test('entries of networkHosts are parsed and malformed ones are rejected', async (t) => {
  const entries: Readonly<Record<string, readonly [string, number?]>> = {
    'Registry.EXAMPLE': ['registry.example'],
    '*.Bücher.example': ['*.xn--bcher-kva.example'],
    'a.example:8443': ['a.example', 8443],
    '*.a.example:1': ['*.a.example', 1],
    '1.2.3.4': ['1.2.3.4'],
    '2001:DB8::0:1': ['2001:db8::1'],
    '[2001:db8::1]': ['2001:db8::1'],
    '[2001:db8::1]:65535': ['2001:db8::1', 65_535],
  };
  for (const [entry, [pattern, port]] of Object.entries(entries))
    t.strictSame(readNetworkHost(entry), { pattern, ...(port === undefined ? {} : { port }) }, entry);
  for (const entry of [
    '',
    '*',
    '*.1.2.3.4',
    'a:0',
    'a:65536',
    'a:08',
    'a:b',
    'http://a',
    'a/b',
    'u@a',
    '[a]:1',
    '[1.2.3.4]:5',
  ])
    t.equal(readNetworkHost(entry), undefined, entry);
});

t.test('openings allow exact names, names below a wildcard, and the usual or named ports', async (t) => {
  const verdict = (policy: EgressPolicy, text: string): string => {
    const target = readTarget(text, 443);
    if (!target) return 'malformed';
    const judged = authorizeTarget(policy, target);
    return judged.open ? judged.reasons.join('+') : judged.why;
  };
  const one = (hosts: readonly string[]): EgressPolicy => ({
    all: false,
    openings: [[{ hosts, reason: 'r' }]],
  });
  const table: readonly (readonly [policy: EgressPolicy, text: string, expected: string])[] = [
    [one(['a.example']), 'A.example', 'r'],
    [one(['A.example']), 'a.example:80', 'r'],
    [one(['a.example']), 'a.example:8080', 'port'],
    [one(['a.example']), 'b.a.example', 'not-listed'],
    [one(['a.example']), 'xa.example', 'not-listed'],
    [one(['*.a.example']), 'b.a.example', 'r'],
    [one(['*.a.example']), 'c.b.a.example', 'r'],
    [one(['*.a.example']), 'a.example', 'not-listed'],
    [one(['*.a.example']), 'xa.example', 'not-listed'],
    [one(['*.a.example']), 'long-a.example', 'not-listed'],
    [one(['bücher.example']), 'xn--bcher-kva.example', 'r'],
    [one(['a.example:8443']), 'a.example:8443', 'r'],
    [one(['a.example:8443']), 'a.example:443', 'port'],
    [one(['a.example', 'a.example:8443']), 'a.example:443', 'r'],
    [one(['8.8.8.8']), '8.8.8.8', 'r'],
    [one(['8.8.8.8']), '8.8.8.9', 'not-listed'],
    [one(['2606:4700::1111']), '[2606:4700:0:0::1111]', 'r'],
    [one([]), 'a.example', 'not-listed'],
    [one(['http://a.example']), 'a.example', 'not-listed'],
    [{ all: false, openings: [] }, 'a.example', 'not-listed'],
    [{ all: true, openings: [] }, 'a.example', 'networkPolicy: allow'],
    [{ all: true, openings: [] }, 'a.example:22', 'port'],
    [{ ...one(['a.example:22']), all: true }, 'a.example:22', 'r'],
    [{ ...one(['a.example:22']), all: true }, 'a.example:443', 'networkPolicy: allow'],
  ];
  for (const [policy, text, expected] of table)
    t.equal(verdict(policy, text), expected, `${JSON.stringify(policy)} ${text}`);
  const both: EgressPolicy = {
    all: false,
    openings: [
      [{ hosts: ['a.example', 'both.example'], reason: 'first' }],
      [
        { hosts: ['b.example'], reason: 'second' },
        { hosts: ['both.example'], reason: 'third' },
      ],
    ],
  };
  t.equal(verdict(both, 'both.example'), 'first+third');
  t.equal(verdict(both, 'a.example'), 'not-listed', 'the other command may not');
  t.equal(verdict(both, 'b.example'), 'not-listed');
});

t.test('hop-by-hop headers are not forwarded', async (t) => {
  const raw = [
    ...[
      'Host',
      'a',
      'Connection',
      'close, X-Hop',
      'connection',
      'x-other',
      'X-Hop',
      '1',
      'X-Other',
      '2',
      'Keep-Alive',
      '3',
    ],
    ...[
      'Proxy-Authorization',
      'Basic c2VjcmV0',
      'Proxy-Connection',
      'keep-alive',
      'TE',
      'trailers',
      'Trailer',
      'X',
      'Upgrade',
      'h2c',
    ],
    ...[
      'Transfer-Encoding',
      'chunked',
      'Expect',
      '100-continue',
      'HTTP2-Settings',
      'AA',
      'Cookie',
      'a=b',
      'Cookie',
      'c=d',
    ],
  ];
  t.strictSame(endToEndHeaders(raw, ['host']), [
    ['Cookie', 'a=b'],
    ['Cookie', 'c=d'],
  ]);
});

t.test('the record of a check is bounded, however many hosts it tries', async (t) => {
  const uses = new UseList();
  for (let n = 0; n < 5000; n += 1)
    uses.add({
      ...{ host: `h${n}.example`, port: 443, via: 'connect', outcome: 'refused', why: 'not-listed' },
      ...{ reasons: [], sentBytes: 1, receivedBytes: 2 },
    });
  const list = uses.list();
  t.equal(list.length, 101);
  t.match(list.at(-1), {
    host: '(others)',
    why: 'not-listed',
    connections: 4900,
    sentBytes: 4900,
    receivedBytes: 9800,
  });
});
