import t, { type Test } from 'tap';
import type { NetworkUse } from '../../../core/interfaces/scanner.ts';
import type { EgressPolicy } from '../../../workspace/egress/openings.ts';
import type { EgressLimits } from '../../../workspace/egress/passage.ts';
import { instant } from '../../waiting/instant.ts';
import { clientHello, FakeOutside, openProxy, origin, publicAddress, rawOrigin } from './client.ts';

const policy: EgressPolicy = {
  all: false,
  openings: [
    [{ hosts: ['registry.example', '*.sub.example', publicAddress, 'odd.example:8443'], reason: 'packages' }],
  ],
};
const closing = 'Connection: close\r\n\r\n';

/** A proxy before a network in which every name of the policy means a public address. */
async function scene(
  t: Test,
  given: { policy?: EgressPolicy; limits?: Partial<EgressLimits>; leaving?: () => Promise<void> } = {},
) {
  const outside = new FakeOutside();
  for (const name of ['registry.example', 'a.sub.example', 'odd.example', 'other.example'])
    outside.names.set(name, [publicAddress]);
  const { limits = {}, leaving } = given;
  const proxy = await openProxy(t, { policy: given.policy ?? policy, outside, limits, leaving });
  return { ...proxy, outside };
}

const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
const endings = (uses: readonly NetworkUse[]) =>
  uses.map(({ host, port, via, outcome, why }) => `${via} ${host}:${port} ${outcome} ${why ?? ''}`.trim());

t.test('the proxy records a connection before it resolves or connects to anything', async (t) => {
  const written: string[][] = [];
  const { say, outside } = await scene(t, {
    async leaving() {
      written.push([...outside.asked, ...outside.connected]);
    },
  });
  const { port } = await origin(t, (_request, response) => response.end('fine'));
  outside.ports.set(80, port);
  const get = (host: string) => say(`GET http://${host}/ HTTP/1.1\r\nHost: ${host}\r\n${closing}`);
  t.equal(statusOf(await get('evil.example')), 403);
  t.strictSame(written, [], 'what is refused does not leave');
  t.equal(statusOf(await get('registry.example')), 200);
  t.strictSame(written, [[]]);
});

t.test('a connection that cannot be recorded is not made', async (t) => {
  const { say, close, outside } = await scene(t, { leaving: () => Promise.reject(new Error('disk full')) });
  t.notSame(
    statusOf(await say(`GET http://registry.example/ HTTP/1.1\r\nHost: registry.example\r\n${closing}`)),
    200,
  );
  t.strictSame([...outside.asked, ...outside.connected], []);
  t.match(await close(), [{ outcome: 'failed', why: 'unreachable' }]);
});

t.test('plain HTTP to an open host is forwarded, and recorded with its reason', async (t) => {
  const { say, close, outside } = await scene(t);
  const { port, seen } = await origin(t, (request, response) => {
    response.writeHead(201, {
      'X-End': 'kept',
      'Keep-Alive': 'x',
      Connection: 'X-Hop',
      'X-Hop': 'gone',
      'Proxy-Authenticate': 'Basic',
    });
    response.end(`${request.method} body`);
  });
  outside.ports.set(80, port);
  const answer = await say(
    `POST http://registry.example/a?b=c HTTP/1.1\r\nHost: Registry.EXAMPLE\r\nContent-Length: 4\r\nProxy-Authorization: Basic c2VjcmV0\r\nCookie: k=v\r\nX-Hop: 1\r\nConnection: close, X-Hop\r\n\r\nbody`,
  );
  t.equal(statusOf(answer), 201);
  t.match(answer, /\r\nX-End: kept\r\n/);
  t.match(answer, /POST body/);
  t.notMatch(answer, /X-Hop|Proxy-Auth/i);
  const [{ request, body } = t.fail('nothing arrived') as never] = seen;
  t.strictSame(
    [request.method, request.url, body, request.headers.host, request.headers.cookie],
    ['POST', '/a?b=c', 'body', 'registry.example', 'k=v'],
  );
  t.notMatch(request.rawHeaders.join(' '), /secret|proxy|x-hop/i);
  t.strictSame(outside.connected, [`${publicAddress} 80`]);
  t.strictSame(await close(), [
    {
      ...{ host: 'registry.example', port: 80, via: 'http', outcome: 'allowed', address: publicAddress },
      ...{ reasons: ['packages'], connections: 1, sentBytes: 4, receivedBytes: 9 },
    },
  ]);
});

t.test('chunked bodies pass both ways, even with methods that usually have none', async (t) => {
  const { say, outside } = await scene(t);
  const { port, seen } = await origin(t, (_, response) => {
    response.write('one ');
    response.end('two');
  });
  outside.ports.set(80, port);
  const answer = await say(
    `GET http://registry.example/ HTTP/1.1\r\nHost: registry.example\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n4\r\nGET \r\n0\r\n\r\n`,
  );
  t.match(answer, /one .*two/s);
  t.strictSame(
    seen.map(({ body }) => body),
    ['GET '],
  );
  t.equal(seen[0]?.request.headers['transfer-encoding'], 'chunked');
});

t.test('every request of a connection is authorized, also after a redirect', async (t) => {
  const { say, close, outside } = await scene(t);
  const { port, seen } = await origin(t, (_, response) => {
    response.writeHead(302, { Location: 'http://127.0.0.1/latest/meta-data' });
    response.end();
  });
  outside.ports.set(80, port);
  const answers = await say(
    `GET http://registry.example/ HTTP/1.1\r\nHost: registry.example\r\n\r\nGET http://127.0.0.1/latest/meta-data HTTP/1.1\r\nHost: 127.0.0.1\r\n${closing}`,
  );
  t.match(answers, /^HTTP\/1\.1 302.*HTTP\/1\.1 403/s);
  t.equal(seen.length, 1);
  t.strictSame(endings(await close()).sort(), [
    'http 127.0.0.1:80 refused not-listed',
    'http registry.example:80 allowed',
  ]);
});

t.test('the proxy refuses hosts, ports and malformed requests before any name lookup', async (t) => {
  const { say, tunnel, close, outside } = await scene(t);
  const get = (url: string, host: string, more = '') =>
    say(`GET ${url} HTTP/1.1\r\nHost: ${host}\r\n${more}${closing}`);
  const plain: readonly (readonly [status: number, answer: Promise<string>])[] = [
    [403, get('http://other.example/', 'other.example')],
    [403, get('http://registry.example:22/', 'registry.example:22')],
    [403, get('http://registry.example.other.example/', 'registry.example.other.example')],
    [400, get('http://registry.example/', 'other.example')],
    [400, get('http://registry.example/', 'registry.example:443')],
    [400, get('http://registry.example/', 'registry.example\r\nHost: other.example')],
    [400, get('http://registry.example@other.example/', 'registry.example')],
    [400, get('http://0x7f.1/', '0x7f.1')],
    [400, get('http://2130706433/', '2130706433')],
    [400, get('https://registry.example/', 'registry.example')],
    [400, get('ftp://registry.example/', 'registry.example')],
    [400, get('/path', 'registry.example')],
    [400, get('http://registry.example/', 'registry.example', 'Transfer-Encoding: gzip, chunked\r\n')],
    [
      400,
      get(
        'http://registry.example/',
        'registry.example',
        'Content-Length: 1\r\nTransfer-Encoding: chunked\r\n',
      ),
    ],
    [400, say(`GET http://registry.example/ HTTP/1.1\r\n${closing}`)],
    [400, say('nonsense\r\n\r\n')],
    [431, get('http://registry.example/', 'registry.example', `X: ${'x'.repeat(20_000)}\r\n`)],
  ];
  for (const [index, [status, answer]] of plain.entries())
    t.equal(statusOf(await answer), status, String(index));
  for (const [authority, status] of [
    ['other.example:443', 403],
    ['registry.example:22', 403],
    ['odd.example:443', 403],
    ['127.0.0.1:443', 403],
    ['registry.example', 400],
    ['0x7f000001:443', 400],
    ['registry.example.:443', 400],
    ['http://registry.example:443', 400],
  ] as const) {
    const { head } = await tunnel(authority, '');
    t.equal(statusOf(head), status, authority);
  }
  t.strictSame(outside.asked, []);
  t.strictSame(outside.connected, []);
  const uses = await close();
  t.ok(uses.every(({ outcome }) => outcome === 'refused'));
  t.notMatch(JSON.stringify(uses), /allowed/);
});

t.test('a tunnel carries only TLS for the host that it was opened for', async (t) => {
  const { tunnel, close, outside } = await scene(t);
  const { port, got } = await rawOrigin(t);
  for (const one of [443, 8443]) outside.ports.set(one, port);
  const hello = clientHello('registry.example');
  t.match(await tunnel('Registry.example:443', hello), { tail: 'pong' });
  t.strictSame(Buffer.concat(got.splice(0)), hello, 'not an octet more or less');
  t.match(await tunnel('a.sub.example:443', clientHello('A.SUB.example')), { tail: 'pong' });
  t.match(await tunnel('odd.example:8443', clientHello('odd.example')), { tail: 'pong' });
  t.match(
    await tunnel(`${publicAddress}:443`, clientHello(undefined)),
    { tail: 'pong' },
    'an address has no name',
  );
  got.splice(0);
  const refused = {
    'server-name': await tunnel('registry.example:443', clientHello('other.example')),
    'no-server-name': await tunnel('registry.example:443', clientHello(undefined)),
    'encrypted-hello': await tunnel(
      'registry.example:443',
      clientHello('registry.example', [[0xfe0d, Buffer.alloc(9)]]),
    ),
    'not-tls': await tunnel('registry.example:443', Buffer.from([0, 1, 2, 3])),
  };
  for (const [why, { head, tail }] of Object.entries(refused))
    t.strictSame([statusOf(head), tail], [200, ''], why);
  t.match(await tunnel(`${publicAddress}:443`, clientHello('other.example')), { tail: '' });
  t.strictSame(got, [], 'nothing of it went out');
  t.strictSame(endings(await close()), [
    'connect registry.example:443 allowed',
    'connect a.sub.example:443 allowed',
    'connect odd.example:8443 allowed',
    `connect ${publicAddress}:443 allowed`,
    'connect registry.example:443 refused server-name',
    'connect registry.example:443 refused no-server-name',
    'connect registry.example:443 refused encrypted-hello',
    'connect registry.example:443 refused not-tls',
    `connect ${publicAddress}:443 refused server-name`,
  ]);
});

t.test('each plain HTTP request in a tunnel is authorized only for the host of the tunnel', async (t) => {
  const { tunnel, close, outside } = await scene(t);
  const { port, seen } = await origin(t, (_, response) => response.end('pong'));
  outside.ports.set(80, port);
  const inside = async (text: string): Promise<number> =>
    statusOf((await tunnel('registry.example:80', text)).tail);
  t.equal(await inside(`GET /a HTTP/1.1\r\nHost: registry.example\r\n${closing}`), 200);
  t.equal(
    await inside(`GET http://registry.example/b HTTP/1.1\r\nHost: registry.example\r\n${closing}`),
    200,
  );
  t.equal(await inside(`GET /c HTTP/1.1\r\nHost: a.sub.example\r\n${closing}`), 400);
  t.equal(await inside(`GET http://a.sub.example/d HTTP/1.1\r\nHost: a.sub.example\r\n${closing}`), 400);
  t.equal(await inside('CONNECT a.sub.example:443 HTTP/1.1\r\nHost: a.sub.example\r\n\r\n'), 0);
  t.equal(await inside('SSH-2.0-client\r\n\r\n'), 400);
  t.strictSame(
    seen.map(({ request }) => request.url),
    ['/a', '/b'],
  );
  t.strictSame(endings(await close()), [
    'http registry.example:80 allowed',
    'http registry.example:80 refused host-header',
    'http a.sub.example:80 refused host-header',
    'http registry.example:80 refused malformed',
  ]);
});

t.test('every address of a name is checked, and the proxy connects only to a checked one', async (t) => {
  const { tunnel, close, outside } = await scene(t, { policy: { all: true, openings: [] } });
  const { port } = await rawOrigin(t);
  outside.ports.set(443, port);
  for (const [name, addresses] of [
    ['loopback.example', ['127.0.0.1']],
    ['metadata.example', ['169.254.169.254']],
    ['mixed.example', [publicAddress, '10.0.0.1']],
    ['mapped.example', ['::ffff:127.0.0.1']],
    ['rubbish.example', ['not an address']],
  ] as const) {
    outside.names.set(name, addresses);
    t.equal(statusOf((await tunnel(`${name}:443`, '')).head), 403, name);
  }
  outside.own.push('198.20.0.7', '2606:4700::7');
  outside.names.set('own.example', ['198.20.0.7']);
  outside.names.set('own6.example', ['2606:4700:0::7']);
  for (const name of ['own.example', 'own6.example'])
    t.equal(statusOf((await tunnel(`${name}:443`, '')).head), 403, name);
  t.equal(statusOf((await tunnel('nowhere.example:443', '')).head), 502);
  outside.names.set(
    'many.example',
    Array.from({ length: 65 }, () => publicAddress),
  );
  t.equal(statusOf((await tunnel('many.example:443', '')).head), 502);
  t.strictSame(outside.connected, []);

  let asked = 0;
  outside.resolve = async () => {
    asked += 1;
    return asked === 1 ? [publicAddress] : ['127.0.0.1'];
  };
  t.match(await tunnel('rebinding.example:443', clientHello('rebinding.example')), { tail: 'pong' });
  t.equal(asked, 1, 'asked once');
  t.strictSame(outside.connected, [`${publicAddress} 443`]);
  t.equal(
    statusOf((await tunnel('rebinding.example:443', '')).head),
    403,
    'the next connection is judged anew',
  );
  const uses = await close();
  t.match(
    uses.find(({ host }) => host === 'mixed.example'),
    { why: 'address', address: '10.0.0.1' },
  );
  t.match(
    uses.find(({ host }) => host === 'nowhere.example'),
    { outcome: 'failed', why: 'unresolved' },
  );
});

t.test('a host that does not resolve or connect in time fails', async (t) => {
  const { say, tunnel, close, outside } = await scene(t, { limits: { resolveMs: 100, connectMs: 100 } });
  t.equal(statusOf((await tunnel('registry.example:443', '')).head), 502, 'nobody listens there');
  t.equal(
    statusOf(await say(`GET http://registry.example/ HTTP/1.1\r\nHost: registry.example\r\n${closing}`)),
    502,
  );
  outside.resolve = () => new Promise(() => {});
  t.equal(statusOf((await tunnel('registry.example:443', '')).head), 502);
  t.strictSame(endings(await close()), [
    'connect registry.example:443 failed unreachable',
    'http registry.example:80 failed unreachable',
    'connect registry.example:443 failed unresolved',
  ]);
});

t.test('slow clients, many connections and large transfers are limited', async (t) => {
  t.test('a head that never ends is closed after a timeout', async (t) => {
    const { open, close } = await scene(t, { limits: { headMs: 300 } });
    const client = open();
    client.write('GET http://registry.example/ HTTP/1.1\r\n');
    await new Promise((resolve) =>
      client
        .on('error', () => {})
        .on('data', () => {})
        .once('close', resolve),
    );
    t.match(endings(await close()), ['http :0 refused time']);
  });
  t.test('a ClientHello that never ends is refused after a timeout', async (t) => {
    const { tunnel, close, outside } = await scene(t, { limits: { headMs: 200 } });
    const { port, got } = await rawOrigin(t);
    outside.ports.set(443, port);
    t.match(await tunnel('registry.example:443', clientHello('registry.example').subarray(0, 20)), {
      tail: '',
    });
    t.strictSame(got, []);
    t.strictSame(endings(await close()), ['connect registry.example:443 refused not-tls']);
  });
  t.test('a silent connection is closed after a timeout', async (t) => {
    const { tunnel, outside, open } = await scene(t, { limits: { idleMs: 200 } });
    const { port } = await rawOrigin(t);
    outside.ports.set(443, port);
    t.match(await tunnel('registry.example:443', clientHello('registry.example')), { tail: 'pong' });
    const silent = open();
    await new Promise((resolve) =>
      silent
        .on('error', () => {})
        .on('data', () => {})
        .once('close', resolve),
    );
  });
  t.test('a connection that stays busy is closed at its maximum duration', async (t) => {
    const { open, close, outside } = await scene(t, { limits: { connectionMs: 500, headMs: 400 } });
    const { port } = await rawOrigin(t);
    outside.ports.set(443, port);
    const client = open();
    client.write('CONNECT registry.example:443 HTTP/1.1\r\nHost: registry.example:443\r\n\r\n');
    await new Promise((resolve) => client.once('data', resolve));
    client.write(clientHello('registry.example'));
    const talking = setInterval(() => client.write('ping'), 50);
    const isCut = await new Promise((resolve) => {
      setTimeout(resolve, 60_000, false).unref();
      client.on('error', () => {}).once('close', () => resolve(true));
      client.resume();
    });
    clearInterval(talking);
    t.ok(isCut);
    t.strictSame(endings(await close()), ['connect registry.example:443 refused time']);
  });
  t.test('a transfer is cut at the byte limit', async (t) => {
    const { say, close, outside } = await scene(t, { limits: { bytes: 10_000 } });
    const { port } = await origin(t, (_, response) => response.end(Buffer.alloc(1_000_000, 'x')));
    outside.ports.set(80, port);
    const answer = await say(`GET http://registry.example/ HTTP/1.1\r\nHost: registry.example\r\n${closing}`);
    t.ok(answer.length < 20_000, String(answer.length));
    t.strictSame(endings(await close()), ['http registry.example:80 refused limit']);
  });
  t.test('requests beyond the total connection limit are refused', async (t) => {
    const { say, close, outside } = await scene(t, { limits: { connections: 2 } });
    const { port, seen } = await origin(t);
    outside.ports.set(80, port);
    const get = () => say(`GET http://registry.example/ HTTP/1.1\r\nHost: registry.example\r\n${closing}`);
    t.strictSame([statusOf(await get()), statusOf(await get()), statusOf(await get())], [200, 200, 403]);
    t.equal(seen.length, 2);
    t.match(endings(await close()), [
      'http registry.example:80 allowed',
      'http registry.example:80 refused limit',
    ]);
  });
  t.test('connections beyond the limit of open connections are refused', async (t) => {
    const { open, close } = await scene(t, { limits: { openConnections: 2 } });
    const clients = [open(), open(), open()];
    await new Promise((resolve) => clients[2]?.on('error', () => {}).once('close', resolve));
    for (const client of clients) client.destroy();
    t.match(endings(await close()), ['http :0 refused limit']);
  });
});

t.test('the end of a check closes open connections and records them', async (t) => {
  const { open, close, outside } = await scene(t);
  const { port } = await rawOrigin(t);
  outside.ports.set(443, port);
  const client = open();
  client.on('error', () => {});
  client.write('CONNECT registry.example:443 HTTP/1.1\r\nHost: registry.example:443\r\n\r\n');
  await new Promise((resolve) => client.once('data', resolve));
  client.write(clientHello('registry.example'));
  await new Promise((resolve) => client.once('data', resolve));
  const unfinished = open();
  unfinished.on('error', () => {});
  outside.resolve = () => new Promise(() => {});
  unfinished.write('CONNECT a.sub.example:443 HTTP/1.1\r\nHost: a.sub.example:443\r\n\r\n');
  await instant(100);
  const half = open();
  half.on('error', () => {});
  half.write('GET http://registry.example/ HTTP/1.1\r\n');
  await instant(100);
  const cut = new Promise((resolve) => client.once('close', resolve));
  const uses = await close();
  t.strictSame(endings(uses), [
    'connect registry.example:443 allowed',
    'connect a.sub.example:443 failed unreachable',
  ]);
  await cut;
});
