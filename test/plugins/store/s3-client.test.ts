import t from 'tap';
import { sha256Hex } from '../../../core/base/canonical.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { createStreamer } from '../../../core/base/net.ts';
import { openS3, type S3Credentials, type S3Pace } from '../../../plugins/store/s3/s3-client.ts';
import { long } from '../../rooms/long.ts';
import { type Fault, type Seen, startS3 } from './fault-proxy.ts';

const server = await startS3();
const { stream, close } = createStreamer({});
t.teardown(async () => {
  await close();
  await server.close();
});

const keys: S3Credentials = {
  accessKeyId: 'AKIATEST',
  secretAccessKey: 'secret-of-test',
  sessionToken: 'token',
};
let runs = 0;

/** A client over a folder of its own; its waits are recorded, not waited. */
function open(pace: Partial<S3Pace> = {}, credentials = async (_again: boolean) => keys) {
  server.fault = undefined;
  server.keepsConditions = true;
  server.seen.length = 0;
  runs += 1;
  const waits: number[] = [];
  const clock = { ...systemClock, sleep: async (ms: number) => void waits.push(ms) };
  const place = {
    endpoint: server.endpoint,
    bucket: server.bucket,
    prefix: `p${runs}/`,
    region: 'us-east-1',
    pathStyle: true,
  };
  const client = openS3(place, { stream, clock, credentials, pace: { withinMs: 2000, ...pace } });
  return { client, waits, prefix: place.prefix };
}
const content = (text: string) => ({
  body: Buffer.from(text),
  sha256: sha256Hex(Buffer.from(text)),
  sizeBytes: text.length,
});
const isContent = ({ key }: Seen) => /\/run\/[0-9a-f]{64}$/.test(key);
/** The first `times` requests that fit. */
const first = (times: number, fits: (seen: Seen) => boolean, fault: Fault) => {
  let left = times;
  return (seen: Seen): Fault | undefined => (fits(seen) && left-- > 0 ? fault : undefined);
};
const isPut = (seen: Seen) => seen.method === 'PUT' && isContent(seen);
const isGet = (seen: Seen) => seen.method === 'GET' && isContent(seen);

t.test('content comes back, and nothing that was not stored', async (t) => {
  const { client, prefix } = open();
  const one = content('one');
  await client.put(`run/${one.sha256}`, one.body, 'text/plain');
  t.same(await client.get(`run/${one.sha256}`, one), one.body);
  t.equal(await client.size(`run/${one.sha256}`), 3);
  t.same(await server.read(`${prefix}run/${one.sha256}`), one.body);
  await client.put(`run/${one.sha256}`, one.body, 'text/plain');
  const none = content('none');
  t.equal(await client.get(`run/${none.sha256}`, none), undefined);
  t.equal(await client.size(`run/${none.sha256}`), undefined);
  await client.remove(`run/${one.sha256}`);
  await client.remove(`run/${one.sha256}`);
  t.equal(await client.get(`run/${one.sha256}`, one), undefined);
});

long('large content goes up in parts, on one condition', async (t) => {
  const { client } = open({ partBytes: 5 * 1024 * 1024 });
  const large = content('0123456789abcdef'.repeat(328_000));
  await client.put(`run/${large.sha256}`, large.body, 'text/plain');
  t.equal(server.seen.filter(({ query }) => query.has('partNumber')).length, 2);
  t.ok((await client.get(`run/${large.sha256}`, large))?.equals(large.body));
  await client.put(`run/${large.sha256}`, large.body, 'text/plain');
  t.equal(
    server.seen.filter(({ method, query }) => method === 'DELETE' && query.has('uploadId')).length,
    1,
    'the second upload is ended',
  );

  server.fault = first(1, ({ method, query }) => method === 'POST' && query.has('uploadId'), {
    answer: 200,
    code: 'InternalError',
  });
  const other = content('fedcba9876543210'.repeat(328_000));
  await client.put(`run/${other.sha256}`, other.body, 'text/plain');
  server.fault = first(1, ({ method, query }) => method === 'POST' && query.has('uploadId'), 'lost-answer');
  const lost = content('x123456789abcdef'.repeat(328_000));
  await client.put(`run/${lost.sha256}`, lost.body, 'text/plain');
  for (const one of [other, lost]) t.ok((await client.get(`run/${one.sha256}`, one))?.equals(one.body));
});

/** Faults that pass, with how many tries one put then takes. */
const passing: Readonly<Record<string, Fault>> = {
  'too many requests': { answer: 429, code: 'SlowDown', headers: { 'retry-after': '2' } },
  unavailable: { answer: 503, code: 'SlowDown' },
  'a gateway with HTML': { answer: 502, body: '<html>bad gateway</html>' },
  'a conflict of two writers': { answer: 409, code: 'ConditionalRequestConflict' },
  'an error in a 200': { answer: 200, code: 'InternalError' },
  'a checksum that does not fit': { answer: 400, code: 'BadDigest' },
  'a cut request': 'cut-request',
  'a lost answer': 'lost-answer',
  'an expired token': { answer: 400, code: 'ExpiredToken' },
};
for (const [name, fault] of Object.entries(passing))
  t.test(`a put survives ${name}`, async (t) => {
    const renewals: boolean[] = [];
    const { client, waits } = open({}, async (again) => {
      renewals.push(again);
      return keys;
    });
    const one = content(name);
    server.fault = first(1, isPut, fault);
    await client.put(`run/${one.sha256}`, one.body, 'text/plain');
    server.fault = undefined;
    t.same(await client.get(`run/${one.sha256}`, one), one.body);
    t.equal(server.seen.filter(isPut).length, 2);
    const isExpired = name === 'an expired token';
    t.strictSame(
      renewals,
      isExpired ? [false, true] : [false],
      'credentials are read again only if they expired',
    );
    t.equal(waits.length, isExpired ? 0 : 1);
    t.ok(
      waits.every((ms) => (name === 'too many requests' ? ms >= 2000 : ms <= 400)),
      waits.join(),
    );
  });

const lasting: Readonly<
  Record<
    string,
    readonly [
      fault: Fault,
      tries: number,
      found: {
        readonly code: string;
        readonly message?: RegExp;
        readonly detail?: { readonly reason: string };
      },
    ]
  >
> = {
  'a store that is full': [
    { answer: 507, code: 'QuotaExceeded' },
    1,
    { code: 'STORE_REFUSED', message: /507 QuotaExceeded/ },
  ],
  'a refusal of access': [
    { answer: 403, code: 'AccessDenied' },
    1,
    { code: 'STORE_REFUSED', message: /403 AccessDenied/ },
  ],
  'a redirect': [
    { answer: 307, headers: { location: 'http://127.0.0.1:1/' } },
    1,
    { code: 'STORE_REFUSED', detail: { reason: 'redirect' } },
  ],
  'a steady 503': [{ answer: 503, code: 'SlowDown' }, 5, { code: 'STORE_REFUSED', message: /503 SlowDown/ }],
  'a token that stays expired': [
    { answer: 403, code: 'ExpiredToken' },
    2,
    { code: 'STORE_REFUSED', message: /ExpiredToken/ },
  ],
  'checksums that never fit': [
    { answer: 400, code: 'BadDigest' },
    5,
    { code: 'STORE_REFUSED', message: /BadDigest/ },
  ],
  'errors in each 200': [
    { answer: 200, code: 'InternalError' },
    5,
    { code: 'STORE_REFUSED', message: /InternalError/ },
  ],
  'connections that are cut': ['cut-request', 5, { code: 'NETWORK_FAILED' }],
};
for (const [name, [fault, tries, found]] of Object.entries(lasting))
  t.test(`a put ends with an error at ${name}`, async (t) => {
    const { client } = open();
    const one = content(name);
    server.fault = (seen) => (isPut(seen) ? fault : undefined);
    await t.rejects(client.put(`run/${one.sha256}`, one.body, 'text/plain'), found);
    t.equal(server.seen.filter(isPut).length, tries);
    for (const secret of Object.values(keys))
      t.notMatch(JSON.stringify(server.seen.map(({ key }) => key)), secret);
  });

t.test('a server that hangs is left, and asked as often as any other', async (t) => {
  const { client, waits } = open({ wholeMs: 50 });
  const one = content('slow');
  server.fault = () => 'hang';
  const found = { code: 'STORE_REFUSED', detail: { reason: 'slow' } };
  await t.rejects(client.get(`run/${one.sha256}`, one), found);
  t.equal(waits.length, 4);
});

t.test('only the recorded bytes are believed', async (t) => {
  const { client, prefix } = open();
  const one = content('these bytes');
  await client.put(`run/${one.sha256}`, one.body, 'text/plain');
  for (const fault of [
    'wrong-bytes',
    'longer',
    { answer: 200, body: 'an old version' },
    { answer: 200, body: '' },
  ] as const) {
    server.fault = (seen) => (isGet(seen) ? fault : undefined);
    await t.rejects(client.get(`run/${one.sha256}`, one), { code: 'OBJECT_CORRUPT' });
  }
  server.fault = first(2, isGet, 'cut-answer');
  t.same(await client.get(`run/${one.sha256}`, one), one.body, 'a cut answer is fetched again');
  server.fault = first(1, isGet, { answer: 200, code: 'InternalError' });
  t.same(await client.get(`run/${one.sha256}`, one), one.body, 'an error in a 200 is none of the content');
  server.fault = (seen) => (isGet(seen) ? { answer: 404, code: 'NoSuchBucket' } : undefined);
  await t.rejects(client.get(`run/${one.sha256}`, one), { code: 'STORE_REFUSED', message: /NoSuchBucket/ });

  server.fault = undefined;
  const two = content('what another process left half of');
  await server.write(`${prefix}run/${two.sha256}`, 'what another');
  await t.rejects(client.put(`run/${two.sha256}`, two.body, 'text/plain'), { code: 'OBJECT_CORRUPT' });
});

t.test('a store that ignores conditions is refused, before content is put and by two writers', async (t) => {
  const { client } = open();
  server.keepsConditions = false;
  const one = content('never stored');
  await t.rejects(client.put(`run/${one.sha256}`, one.body, 'text/plain'), { code: 'STORE_UNCONDITIONAL' });
  t.strictSame(server.seen.filter(isPut), []);
  await t.rejects(client.tryWriters(), { code: 'STORE_UNCONDITIONAL' });
  server.keepsConditions = true;
  await client.tryWriters();
  // Conditions on a single put only.
  server.fault = ({ method, query }) =>
    method === 'POST' && query.has('uploadId')
      ? { answer: 200, body: '<CompleteMultipartUploadResult/>' }
      : undefined;
  await t.rejects(client.tryWriters(), { code: 'STORE_UNCONDITIONAL' });
});

t.test('a folder is cleared of content, and of nothing else', async (t) => {
  const { client, prefix } = open();
  const all = ['a', 'b', 'c'].map(content);
  for (const { sha256, body } of all) await client.put(`run/${sha256}`, body, 'text/plain');
  const other = content('other run');
  await client.put(`run-2/${other.sha256}`, other.body, 'text/plain');
  await server.write(`${prefix}run/notes.txt`, 'not ours');
  await client.clear('run/', (name) => /^[0-9a-f]{64}$/.test(name));
  const left = (await server.keys()).filter((key) => key.startsWith(prefix));
  t.strictSame(left.sort(), [
    `${prefix}probe/once`,
    `${prefix}run-2/${other.sha256}`,
    `${prefix}run/notes.txt`,
  ]);
});
