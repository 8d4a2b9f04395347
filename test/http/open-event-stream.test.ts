import { once } from 'node:events';
import t from 'tap';
import { lookOn } from '../waiting/look-on.ts';
import { until } from '../waiting/until.ts';
import { openClient, startStreamServer } from './broadcast/start-stream-server.ts';
import { tickFrame } from './broadcast/tick-frame.ts';

t.test('opens a stream at once with its headers and first frames, unchunked', async (t) => {
  const first = [tickFrame(1, 100), tickFrame(2, 100)];
  const { broadcast, port } = await startStreamServer(t, {}, (_, response, all) =>
    all.add(response, () => first),
  );
  for (const version of ['1.0', '1.1']) {
    const client = openClient(port, `GET / HTTP/${version}\r\nhost: 127.0.0.1\r\n\r\n`);
    await client.sees('id: 2\n');
    broadcast.publish(3, tickFrame(3, 100));
    await client.sees('id: 3\n');
    await lookOn(10);
    const [head = '', body] = client.text().split('\r\n\r\n');
    t.match(head, /^HTTP\/1\.1 200 OK\r\n/);
    t.match(head, /\r\ncontent-type: text\/event-stream\r\n/i);
    t.match(head, /\r\ncache-control: no-store\r\n/i);
    t.match(head, /\r\nx-content-type-options: nosniff\r\n/i);
    t.match(head, /\r\nconnection: close/i);
    t.notMatch(head, /transfer-encoding|content-length/i);
    t.equal(body, `: open\n\n${Buffer.concat([...first, tickFrame(3, 100)])}`);
    client.socket.destroy();
  }
  await until(() => broadcast.size === 0);
});

t.test('ignores what a subscriber sends and closes a stream that sends too much', async (t) => {
  let requests = 0;
  const limits = {
    headersTimeout: 50,
    requestTimeout: 50,
    connectionsCheckingInterval: 20,
    keepAliveTimeout: 20,
  };
  const { broadcast, port } = await startStreamServer(
    t,
    {},
    (_, response, all) => {
      requests += 1;
      all.add(response);
    },
    limits,
  );
  const client = openClient(port);
  await client.sees(': open');
  client.socket.write('GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
  client.socket.write(`no request\n${'x'.repeat(20_000)}`);
  // Three times what a server gives a request.
  await lookOn(150);
  broadcast.publish(1, tickFrame(1, 100));
  await client.sees('id: 1\n');
  t.equal(requests, 1);
  t.equal(broadcast.size, 1);
  client.socket.write('x'.repeat(50_000));
  await client.closed;
  await until(() => broadcast.size === 0);
});

t.test('answers HEAD without a stream and a pipelined request after the earlier answer', async (t) => {
  let openBefore = -1;
  let asked = 0;
  const { broadcast, port } = await startStreamServer(t, {}, (request, response, all) => {
    if (request.url !== '/slow')
      return all.add(response, () => {
        asked += 1;
        return [Buffer.from(`: ${openBefore}\n\n`)];
      });
    void lookOn(50).then(() => {
      openBefore = all.size;
      response.end('slow');
    });
  });
  const head = openClient(port, 'HEAD / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
  await head.closed;
  t.match(head.text(), /^HTTP\/1\.1 200 OK\r\n[^\0]*\r\n\r\n$/);
  t.strictSame([broadcast.size, asked], [0, 0]);
  const client = openClient(
    port,
    'GET /slow HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\nGET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n',
  );
  await client.sees(': open');
  t.equal(openBefore, 0);
  await client.sees(': 0\n');
  t.equal(asked, 1, 'and begins with what is first by then');
  t.match(client.text(), /slowHTTP\/1\.1 200 OK\r\n/);
  broadcast.publish(1, tickFrame(1, 100));
  await client.sees('id: 1\n');
  const gone = once(client.socket, 'close');
  client.socket.destroy();
  await gone;
  await until(() => broadcast.size === 0);
});
