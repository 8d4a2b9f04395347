import t from 'tap';
import { exchange, healthProbe } from './exchange.ts';
import type { HostileRow } from './hostile-row.ts';
import { judgeAnswer } from './judge-answer.ts';
import { openGround } from './open-ground.ts';
import { openSteward } from './open-steward.ts';
import { markBody, markRequest, markTarget, raw, soundRequest } from './sound-request.ts';

const withinMs = 400;
const late = [{ status: 408, code: 'REQUEST_TIMEOUT' }];

const rows: readonly HostileRow[] = [
  { says: 'not one octet', send: () => Buffer.alloc(0), answers: late },
  { says: 'a request line and no more', send: raw(() => 'GET /api/health HTTP/1.1\r\n'), answers: late },
  {
    says: 'headers that never end',
    send: raw(({ host }) => `GET /api/health HTTP/1.1\r\nhost: ${host}\r\nx: `),
    answers: late,
    drips: 'y',
  },
  {
    says: 'header after header',
    send: raw(({ host }) => `GET /api/health HTTP/1.1\r\nhost: ${host}\r\n`),
    answers: late,
    drips: 'x: y\r\n',
  },
  { says: 'a body that does not come', send: markRequest({ 'content-length': '15' }, ''), answers: late },
  {
    says: 'a body that comes octet by octet',
    send: markRequest({ 'content-length': '1000' }, ''),
    answers: late,
    drips: ' ',
  },
  { says: 'a body one octet short', send: markRequest({ 'content-length': '16' }), answers: late },
  {
    says: 'chunks without end',
    send: markRequest({ 'transfer-encoding': 'chunked' }, ''),
    answers: late,
    drips: '1\r\n \r\n',
  },
  {
    says: 'a whole body whose chunks do not end',
    send: markRequest({ 'transfer-encoding': 'chunked' }, `f\r\n${markBody}\r\n`),
    answers: late,
  },
  {
    says: 'a chunk extension without end',
    send: markRequest({ 'transfer-encoding': 'chunked' }, 'f;'),
    answers: late,
    drips: 'x',
  },
  {
    says: 'a body that was asked for and does not come',
    send: markRequest({ expect: '100-continue', 'content-length': '15' }, ''),
    answers: [{ status: 100 }, ...late],
  },
  {
    says: 'a slow request behind a sound one',
    send: (place) => Buffer.concat([soundRequest(place), Buffer.from('GET /api')]),
    answers: [{ status: 200, body: { status: 'ok' } }, ...late],
  },
  {
    says: 'a slow body without a token is not waited for',
    send: (place) =>
      soundRequest(place, {
        target: markTarget,
        headers: { 'x-svc-service-token': undefined, 'content-length': '15' },
        body: '',
      }),
    answers: [{ status: 401, code: 'MISSING_SERVICE_TOKEN' }],
  },
];

t.test('a slow request times out without delaying other clients', async (t) => {
  const place = await openGround(t, { headersWithinMs: withinMs, bodyWithinMs: withinMs });
  const steward = await openSteward(t, place);
  const slow = rows.map(async (row) => {
    const { answers, left } = await exchange(place, row, healthProbe(place));
    const wrong = row.answers.flatMap((expected, at) => {
      const answer = answers[at];
      return answer === undefined ? ['no answer'] : judgeAnswer(place, row.send(place), expected, answer);
    });
    // Node’s own limit, for the whole request, would end it later and without these words.
    const last = answers.at(-1)?.body ?? '';
    if (
      Buffer.from(row.send(place)).includes('content-type') &&
      last.includes('REQUEST_TIMEOUT') &&
      !last.includes(`"withinMs":${withinMs}`)
    )
      wrong.push(`not by the limit of the body: ${last}`);
    return { says: row.says, wrong, left };
  });
  t.strictSame(await steward.look(), { stored: [], published: [] }, 'the service serves others meanwhile');
  for (const { says, wrong, left } of await Promise.all(slow))
    t.strictSame({ wrong, left }, { wrong: [], left: 'ended' }, says);
  t.strictSame(await steward.look(), { stored: [], published: [] });
  t.strictSame(place.faults, []);
});
