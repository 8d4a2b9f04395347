import t from 'tap';
import { openClient } from '../../http/broadcast/start-stream-server.ts';
import { exchange } from '../../service/hostile/exchange.ts';
import type { HostileRow } from '../../service/hostile/hostile-row.ts';
import { judgeAnswer } from '../../service/hostile/judge-answer.ts';
import { soundRequest } from '../../service/hostile/sound-request.ts';
import { controlToken, serveSession } from './serve-session.ts';

const withinMs = 400;
const target = '/api/code/controller/attach';
const body = '{"clientId":"c","kind":"browser"}';

interface Place {
  readonly port: number;
  readonly host: string;
  readonly token: string;
}

const asks =
  (headers: Readonly<Record<string, string | undefined>>, text = body) =>
  (place: Place) =>
    soundRequest(place, { target, headers: { 'x-svc-service-token': undefined, ...headers }, body: text });

const rows: readonly HostileRow<Place>[] = [
  {
    says: 'headers that never end',
    send: ({ host }) => Buffer.from(`GET /api/code/session HTTP/1.1\r\nhost: ${host}\r\nx: `),
    answers: [{ status: 408, code: 'REQUEST_TIMEOUT' }],
    drips: 'y',
  },
  {
    says: 'a body one octet short',
    send: asks({ 'content-length': String(body.length + 1) }),
    answers: [{ status: 408, code: 'REQUEST_TIMEOUT' }],
  },
  {
    says: 'an expectation that nobody knows',
    send: asks({ expect: 'a-miracle' }),
    answers: [{ status: 417, code: 'EXPECTATION_FAILED' }],
  },
  {
    says: 'more headers than anybody reads',
    send: asks({ x: 'y'.repeat(17 * 1024) }),
    answers: [{ status: 431, code: 'HEADERS_TOO_LARGE' }],
  },
];

t.test('a session refuses late, oversized or unsupported requests without changing state', async (t) => {
  const { port, channel, faults } = await serveSession(t, { withinMs });
  const place = { port, host: `127.0.0.1:${port}`, token: controlToken };
  const before = channel.state;
  const octets = soundRequest(place, {
    target: '/api/code/session',
    headers: { 'x-svc-service-token': undefined, connection: 'close' },
  });
  const sent = rows.map(async (row) => {
    const { answers, left } = await exchange(place, row, { octets, answer: '{"sessionId":' });
    const [expected] = row.answers;
    const [answer] = answers;
    const wrong =
      expected === undefined || answer === undefined
        ? ['no answer']
        : judgeAnswer({ ...place, root: '/nowhere', outside: '/nowhere' }, row.send(place), expected, answer);
    return { says: row.says, wrong, left };
  });
  for (const { says, wrong, left } of await Promise.all(sent)) {
    t.strictSame(wrong, [], says);
    t.match(left, /^(?:ended|in step)$/, says);
  }
  t.equal(channel.state, before);
  t.strictSame(faults, []);
  const sound = openClient(port, Buffer.from(octets).toString('latin1'));
  t.match(await sound.sees('"status":"idle"'), /^HTTP\/1\.1 200 /, 'and others are served');
  await sound.closed;
});
