import { mock } from 'node:test';
import t from 'tap';
import { toSnapshot } from '../../../session/state/snapshot.ts';
import { openClient } from '../../http/broadcast/start-stream-server.ts';
import { long } from '../../rooms/long.ts';
import { lookOn } from '../../waiting/look-on.ts';
import { until } from '../../waiting/until.ts';
import { type Heard, listen } from './listen.ts';
import { type ServedSession, serveSession } from './serve-session.ts';

const local = { from: 'local' } as const;
const isType = (type: string) => (one: Heard) => one.event === type;

/** A session that a screen controls: it is spoken to without a lease. */
const screen = { ground: { local: 'tui' } } as const;

/** Begins a turn, and answers how to report of it. */
async function begin({ channel }: ServedSession) {
  await channel.send({ type: 'submit', text: 'go on', proof: local });
  const turn = channel.state.turn ?? '';
  return {
    say: (text: string, id = 'r') => channel.send({ turn, type: 'replying', id, text }),
    tool: (id: string, status: 'running' | 'completed', summary = '') =>
      channel.send({ turn, type: 'tool', id, toolName: 'x', status, summary }),
    end: () => channel.send({ turn, type: 'end', end: 'done' }),
  };
}

t.test('a reader gets the snapshot and then each change of status and controller', async (t) => {
  const served = await serveSession(t, screen);
  const { channel, port } = served;
  const reader = listen(port);
  const first = await reader.hears(() => true);
  t.match(reader.text(), /^HTTP\/1\.1 200 OK\r\n[^\0]*content-type: text\/event-stream\r\n/);
  t.strictSame(
    [first.event, first.id, Object.keys(first.data)],
    ['session_updated', String(first.data.seq), ['seq', 'type', 'at', 'data']],
  );
  t.strictSame(first.data.data, toSnapshot(channel.state));
  const turn = await begin(served);
  await turn.tool('a', 'running');
  await turn.tool('a', 'completed');
  await turn.end();
  await channel.send({
    type: 'attach',
    clientId: 'page',
    kind: 'browser',
    tokenDigest: 'd',
    controlToken: 'missing',
  });
  await reader.hears(isType('controller_changed'));
  const [, ...changes] = reader.heard();
  t.strictSame(
    changes.map(({ event, data }) => [event, data.type, data.data.status, data.data.controller.kind]),
    [
      ['status_changed', 'status_changed', 'thinking', 'tui'],
      ['status_changed', 'status_changed', 'executing_tool', 'tui'],
      ['status_changed', 'status_changed', 'thinking', 'tui'],
      ['status_changed', 'status_changed', 'idle', 'tui'],
      ['controller_changed', 'controller_changed', 'idle', 'browser'],
    ],
  );
  t.strictSame(changes.at(-1)?.data.data, toSnapshot(channel.state), 'each with a whole snapshot');
  t.strictSame(
    changes.map(({ id, data }) => [Number(id), data.seq]),
    changes.map((_, at) => [first.data.seq + 1 + at, first.data.seq + 1 + at]),
  );
  served.pass(121_000);
  await channel.send({ type: 'tick' });
  const { data } = await reader.hears(isType('controller_changed'), 6);
  t.equal(data.data.controller.kind, 'tui', 'the end of a lease is told, too');
  t.strictSame(served.faults, []);
});

t.test('groups text deltas into few snapshots and sends all text before a status change', async (t) => {
  const served = await serveSession(t, screen);
  const reader = listen(served.port);
  await reader.hears(() => true);
  const turn = await begin(served);
  let said = 0;
  for (let round = 0; round < 150; round += 1) {
    for (let n = 0; n < 10; n += 1) {
      said += 1;
      await turn.say(`${said} `);
    }
    await lookOn(1);
  }
  await turn.tool('a', 'running');
  const { data } = await reader.hears(({ data }) => data.data.status === 'executing_tool');
  t.match(data.data.transcript.at(-2).content, new RegExp(` ${said} $`), 'with all that was said before it');
  const shown = reader
    .heard()
    .map(
      ({ data }) => data.data.transcript.find(({ id }: { id: string }) => id === 'r')?.content.length ?? 0,
    );
  t.ok(
    shown.every((length, at) => at === 0 || length >= (shown[at - 1] ?? 0)),
    'nothing goes back',
  );
  const deltas = reader.heard().filter(isType('session_updated')).length - 1;
  t.ok(deltas >= 1 && deltas < said / 10, `${said} deltas, ${deltas} snapshots`);
  await turn.say('last', 'q');
  await reader.hears(({ data }) => data.data.transcript.at(-1).content === 'last', 3);
});

t.test('limits the rate of a storm of status changes and sends the final status', async (t) => {
  const served = await serveSession(t, screen);
  const reader = listen(served.port);
  await reader.hears(() => true);
  const turn = await begin(served);
  for (let n = 0; n < 500; n += 1) await turn.tool(`t${n}`, n % 2 === 0 ? 'running' : 'completed');
  await turn.end();
  await reader.hears(({ data }) => data.data.status === 'idle', 1);
  t.ok(reader.heard().length < 60, `${reader.heard().length} events`);
});

t.test('serializes a snapshot once for all readers and not without readers', async (t) => {
  let made = 0;
  const provider = {
    provider: 'none',
    managed: false,
    toJSON: () => {
      made += 1;
      return {};
    },
  };
  const served = await serveSession(t, { ground: { local: 'tui', provider } });
  const readers = Array.from({ length: 10 }, () => listen(served.port));
  await Promise.all(readers.map((reader) => reader.hears(() => true)));
  t.equal(made, 1, 'all of them began with the same');
  const turn = await begin(served);
  await turn.tool('a', 'running');
  await Promise.all(readers.map((reader) => reader.hears(({ data }) => data.data.toolCalls.length > 0)));
  readers.push(listen(served.port));
  await readers.at(-1)?.hears(() => true);
  t.equal(made, 3, 'and who comes now begins with what the others have');
  const [one] = readers;
  const last = one?.heard().at(-1)?.id ?? '';
  for (const { socket } of readers) socket.destroy();
  const events = listen(served.port, '?wire=2');
  await events.hears(() => true);
  await until(async () => {
    const before = made;
    await turn.tool('a', made % 2 === 0 ? 'completed' : 'running');
    return made === before;
  });
  made = 0;
  await turn.tool('b', 'running');
  await turn.tool('b', 'completed');
  await turn.say('x');
  t.equal(made, 0);
  const back = listen(served.port, '', { 'last-event-id': last });
  await back.hears(({ data }) => data.data.transcript.some(({ id }: { id: string }) => id === 'r'));
  t.ok(made >= 3, 'what has followed is made when somebody comes back for it');
});

t.test('a returning reader gets what it missed, and an unknown id starts over', async (t) => {
  const served = await serveSession(t, screen);
  const { port } = served;
  const reader = listen(port);
  const first = await reader.hears(() => true);
  const turn = await begin(served);
  await turn.tool('a', 'running');
  await reader.hears(({ data }) => data.data.status === 'executing_tool');
  reader.socket.destroy();
  await turn.tool('a', 'completed');
  await turn.end();
  const all = listen(port, '', { 'last-event-id': first.id });
  await all.hears(({ data }) => data.data.status === 'idle');
  t.strictSame(
    all.heard().map(({ event, data }) => [event, data.seq - first.data.seq, data.data.status]),
    [
      ['status_changed', 1, 'thinking'],
      ['status_changed', 2, 'executing_tool'],
      ['status_changed', 3, 'thinking'],
      ['status_changed', 4, 'idle'],
    ],
  );
  const none = listen(port, '', { 'last-event-id': all.heard().at(-1)?.id ?? '' });
  await until(() => none.text().includes(': open'));
  await lookOn(20);
  t.strictSame(none.heard(), [], 'nothing has followed');
  const other = await serveSession(t, screen);
  const foreign = await listen(other.port).hears(() => true);
  for (const id of [
    foreign.id,
    '0',
    '1',
    String(first.data.seq - 1),
    String(first.data.seq + 5),
    '-1',
    '1e3',
    'x',
    '9'.repeat(40),
    `${first.id}, ${first.id}`,
  ]) {
    const anew = listen(port, '', { 'last-event-id': id });
    const { event, data } = await anew.hears(() => true);
    t.strictSame([event, data.seq - first.data.seq, data.data.status], ['session_updated', 4, 'idle'], id);
    anew.socket.destroy();
  }
});

t.test('answers HEAD without a stream and refuses an invalid query', async (t) => {
  const { port, channel } = await serveSession(t, screen);
  const ask = async (line: string): Promise<string> => {
    const client = openClient(
      port,
      `${line} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: close\r\n\r\n`,
    );
    await client.closed;
    return client.text();
  };
  t.match(await ask('HEAD /api/code/events'), /^HTTP\/1\.1 200 OK\r\n[^\0]*\r\n\r\n$/);
  t.match(await ask('HEAD /api/code/events?wire=3'), /^HTTP\/1\.1 400 [^\0]*\r\n\r\n$/);
  for (const query of [
    'wire=3',
    'wire=',
    'wire',
    'wire=02',
    'wire=1.0',
    'wire=2&wire=2',
    'wire=1&wire=2',
    'wire=2?',
    'wire=%32%00',
  ])
    t.match(await ask(`GET /api/code/events?${query}`), /^HTTP\/1\.1 400 [^\0]*"INVALID_QUERY_PARAM"/, query);
  for (const query of ['', '?', '?x=1', '?wire=1', '?wire=%31']) {
    const reader = listen(port, query);
    t.equal((await reader.hears(() => true)).event, 'session_updated', query);
    reader.socket.destroy();
  }
  await channel.send({ type: 'tick' });
});

t.test('a stream ends with its session, after the last event', async (t) => {
  const served = await serveSession(t, screen);
  const readers = [listen(served.port), listen(served.port, '?wire=2')];
  await Promise.all(readers.map((reader) => reader.hears(() => true)));
  const turn = await begin(served);
  await turn.say('first');
  void turn.say(' last');
  await served.channel[Symbol.asyncDispose]();
  await Promise.all(readers.map(({ closed }) => closed));
  const late = listen(served.port);
  await until(() => late.text().includes('CODE_UI_UNAVAILABLE'));
  late.socket.destroy();
  t.equal(readers[0]?.heard().at(-1)?.data.data.transcript.at(-1).content, 'first last');
  t.match(readers[1]?.heard().at(-1)?.data, { kind: 'text_delta', payload: { id: 'r', text: ' last' } });
});

t.test('an idle stream sends a comment every 15 seconds', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] });
  t.teardown(() => mock.timers.reset());
  const { port } = await serveSession(t, screen);
  const reader = listen(port);
  await reader.hears(() => true);
  const comments = (): number => reader.text().split('\n:\n').length - 1;
  mock.timers.tick(14_999);
  await lookOn(20);
  t.equal(comments(), 0);
  mock.timers.tick(1);
  await until(() => comments() === 1);
});

long('moves a slow reader to the newest snapshot without delaying the others', async (t) => {
  const served = await serveSession(t, screen);
  const { port } = served;
  const [stalled, reading] = [listen(port), listen(port)];
  await Promise.all([stalled, reading].map((reader) => reader.hears(() => true)));
  stalled.socket.pause();
  const turn = await begin(served);
  const rounds = 24;
  for (let n = 1; n <= rounds; n += 1) {
    // Each is a snapshot of a megabyte: beyond what the system takes for a socket, and beyond 8 MiB.
    await turn.tool('a', n % 2 === 0 ? 'running' : 'completed', `${n} ${'x'.repeat(1024 * 1024)}`);
    await reading.hears(({ data }) => String(data.data.toolCalls[0]?.summary).startsWith(`${n} `), n);
    served.pass(100);
  }
  stalled.socket.resume();
  await stalled.hears(({ data }) => String(data.data.toolCalls[0]?.summary).startsWith(`${rounds} `));
  const last = stalled.heard().at(-1);
  t.equal(last?.event, 'session_updated');
  t.ok(
    stalled.heard().length < reading.heard().length - 5,
    `${stalled.heard().length} of ${reading.heard().length}`,
  );
  t.equal(last?.id, reading.heard().at(-1)?.id, 'it goes on from there');
  await turn.end();
  await stalled.hears(({ data }) => data.data.status === 'idle', stalled.heard().length - 1);
});
