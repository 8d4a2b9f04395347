import { createServer } from 'node:net';
import { connect as connectTls } from 'node:tls';
import t from 'tap';
import { maxHelloBytes, readClientHello } from '../../../workspace/egress/egress-proxy.ts';
import { clientHello, listening, records, vector } from './client.ts';

t.test('the server name in a ClientHello is read in lower case', async (t) => {
  t.strictSame(readClientHello(clientHello('A.Example')), {
    kind: 'hello',
    serverName: 'a.example',
    isEncrypted: false,
  });
  t.strictSame(readClientHello(clientHello(undefined)), {
    kind: 'hello',
    serverName: undefined,
    isEncrypted: false,
  });
  t.match(readClientHello(clientHello('a.example', [[0xfe0d, Buffer.alloc(3)]])), { isEncrypted: true });
  t.match(readClientHello(clientHello('a.example', [[0xffce, Buffer.alloc(3)]])), { isEncrypted: true });
  t.match(readClientHello(Buffer.concat([clientHello('a.example'), Buffer.from('more')])), {
    serverName: 'a.example',
  });
});

t.test('a ClientHello that Node sends is read', async (t) => {
  const hello = new Promise<Buffer>((resolve) => {
    void listening(
      t,
      createServer((socket) => socket.on('error', () => {}).once('data', resolve)),
    ).then((port) => {
      const client = connectTls({ port, host: '127.0.0.1', servername: 'real.example' });
      client.on('error', () => {});
      t.teardown(() => client.destroy());
    });
  });
  t.match(readClientHello(await hello), { kind: 'hello', serverName: 'real.example', isEncrypted: false });
});

t.test('any prefix of a ClientHello is incomplete, even in records of one octet', async (t) => {
  const whole = clientHello('a.example');
  for (let length = 0; length < whole.length; length += 1)
    if (readClientHello(whole.subarray(0, length)).kind !== 'more') t.fail(`${length} octets`);
  const message = whole.subarray(5);
  const split = records(Array.from(message, (_, at) => message.subarray(at, at + 1)));
  t.match(readClientHello(split), { kind: 'hello', serverName: 'a.example' });
  t.strictSame(readClientHello(split.subarray(0, -1)), { kind: 'more' });
});

t.test('anything but a well-formed ClientHello is not TLS', async (t) => {
  const good = clientHello('a.example');
  const entry = (text: string) => Buffer.concat([Buffer.from([0]), vector(2, Buffer.from(text))]);
  const name = (text: string) => vector(2, entry(text));
  const changed = (at: number, octet: number) => {
    const copy = Buffer.from(good);
    copy[at] = octet;
    return copy;
  };
  const bad: Readonly<Record<string, Buffer>> = {
    http: Buffer.from('GET / HTTP/1.1\r\n\r\n'),
    ssh: Buffer.from('SSH-2.0-x\r\n'),
    'an alert record': changed(0, 21),
    'an old version': changed(1, 2),
    'another handshake message': changed(5, 2),
    'an empty record': Buffer.from([22, 3, 1, 0, 0]),
    'a huge record': Buffer.from([22, 3, 1, 0xff, 0xff]),
    'a huge message': Buffer.from([22, 3, 1, 0, 4, 1, 0xff, 0xff, 0xff]),
    'a session id that is too long': changed(5 + 4 + 34, 255),
    'two names': clientHello(undefined, [
      [0, vector(2, Buffer.concat([entry('a.example'), entry('b.example')]))],
    ]),
    'server_name twice': clientHello('a.example', [[0, name('b.example')]]),
    'an empty list of names': clientHello(undefined, [[0, vector(2, Buffer.alloc(0))]]),
    'a name of another kind': clientHello(undefined, [
      [0, vector(2, Buffer.concat([Buffer.from([1]), vector(2, Buffer.from('a'))]))],
    ]),
    'octets after the list': clientHello(undefined, [
      [0, Buffer.concat([name('a.example'), Buffer.from([0])])],
    ]),
  };
  for (const [about, bytes] of Object.entries(bad)) t.equal(readClientHello(bytes).kind, 'not-tls', about);
  const octets = Array.from({ length: maxHelloBytes / 6 }, () => Buffer.from([1]));
  const endless = records([Buffer.from([1, 0, 0x3e, 0x80]), ...octets]);
  t.equal(readClientHello(endless).kind, 'not-tls');
});

t.test('corrupted bytes never make the reader throw', async (t) => {
  const good = clientHello('a.example', [[0xfe0d, Buffer.alloc(30)]]);
  for (let at = 0; at < good.length; at += 1)
    for (const octet of [0, 1, 127, 255]) {
      const copy = Buffer.from(good);
      copy[at] = octet;
      readClientHello(copy);
    }
  t.pass();
});
