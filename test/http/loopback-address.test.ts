import t from 'tap';
import { isLoopbackHost, isLoopbackPeer, parseLoopbackAddress, toUrlHost } from '../../http/guard-request.ts';

t.test('`parseLoopbackAddress` returns a literal loopback address in its shortest form', async (t) => {
  const taken = {
    '127.0.0.1': '127.0.0.1',
    '127.255.255.254': '127.255.255.254',
    '127.0.0.0': '127.0.0.0',
    '::1': '::1',
    '0:0:0:0:0:0:0:1': '::1',
    '0::0001': '::1',
  };
  for (const [text, address] of Object.entries(taken)) t.equal(parseLoopbackAddress(text), address, text);
});

t.test('`parseLoopbackAddress` refuses names, shorthands, other networks and IPv4 in IPv6', async (t) => {
  const refused = [
    '',
    'localhost',
    'LOCALHOST',
    'localhost.',
    '127.1',
    '127.0.0.1.',
    '127.0.0.01',
    '0127.0.0.1',
    '0x7f.0.0.1',
    '2130706433',
    '127.0.0.256',
    '128.0.0.1',
    '126.255.255.255',
    '0.0.0.0',
    '10.127.0.1',
    '127.0.0.1:80',
    '127.0.0.1 ',
    ' 127.0.0.1',
    '127.0.0.1\n',
    '127.0.0.1/8',
    '::',
    '::2',
    '1::',
    '::1%lo',
    '[::1]',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::127.0.0.1',
    '::0.0.0.1',
    'fe80::1',
    '127.0.0.1.evil.example',
  ];
  for (const text of refused) t.equal(parseLoopbackAddress(text), undefined, JSON.stringify(text));
});

t.test('recognises a loopback peer by its address, also as IPv4 in IPv6', async (t) => {
  for (const address of ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1', '::FFFF:127.0.0.1'])
    t.ok(isLoopbackPeer(address), address);
  for (const address of [undefined, '', '10.0.0.1', '::ffff:10.0.0.1', '::ffff:', 'fe80::1', '::ffff:::1x'])
    t.notOk(isLoopbackPeer(address), String(address));
});

t.test('accepts a Host only if it is localhost or a literal loopback address', async (t) => {
  for (const host of [
    'localhost',
    'LOCALHOST:1',
    '127.0.0.1',
    '127.9.9.9:65535',
    '[::1]',
    '[::1]:8080',
    '[0::1]',
  ])
    t.ok(isLoopbackHost(host), host);
  const foreign = [
    '',
    'evil.example',
    'localhost.',
    'localhost.evil',
    'evil.localhost',
    '127.0.0.1.evil.example',
    '127.1',
    '2130706433',
    '0.0.0.0',
    '::1',
    '[::1',
    '::1]',
    '[::ffff:127.0.0.1]',
    '[127.0.0.1]',
    '[localhost]',
    'a@127.0.0.1',
    '127.0.0.1:',
    '127.0.0.1:x',
    '127.0.0.1:123456',
    '127.0.0.1:1:1',
    '127.0.0.1\n',
    ' 127.0.0.1',
    'x'.repeat(100_000),
  ];
  for (const host of foreign) t.notOk(isLoopbackHost(host), JSON.stringify(host.slice(0, 40)));
});

t.test('writes an address in a URL as RFC 3986 requires', async (t) => {
  t.equal(toUrlHost('127.0.0.1'), '127.0.0.1');
  t.equal(toUrlHost('::1'), '[::1]');
});
