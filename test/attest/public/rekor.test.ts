import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { bundleFromJSON } from '@sigstore/bundle';
import { initializeTLog, rekorV2Handler } from '@sigstore/mock';
import { toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify';
import t, { type Test } from 'tap';
import { formatBundle, parseBundle } from '../../../attest/bundle/bundle.ts';
import { inTotoPayloadType, signEnvelope } from '../../../attest/encoding/dsse.ts';
import { toSpki } from '../../../attest/encoding/public-key.ts';
import { generateKey, toSigner } from '../../../attest/keys/key-signer.ts';
import { noMemory } from '../../../attest/log/checkpoint-memory.ts';
import { buildLogEntry, verifyEntryOf } from '../../../attest/log/log-entry.ts';
import { leafHash } from '../../../attest/log/merkle.ts';
import { createPublicLog } from '../../../attest/public/public-log-source.ts';
import { parseTrustedRoot, publicLogsOf } from '../../../attest/public/trusted-root.ts';
import { verifyPublicProof } from '../../../attest/public/verify-public-proof.ts';
import { canonicalize } from '../../../core/base/canonical.ts';
import { systemClock } from '../../../core/base/clock.ts';
import type { LogProof } from '../../../core/interfaces/sealing.ts';
import { type Json, serve, serveV1, serveV2, type TestLog, trustedRootOf } from './log-servers.ts';

const signer = toSigner(generateKey('ecdsa-p256-sha256'), false);
const key = createPublicKey(signer.publicKeyPem);
const envelope = await signEnvelope(inTotoPayloadType, Buffer.from('{"a":1}'), signer);
const body = buildLogEntry(envelope, key);

function open(
  log: Pick<TestLog, 'url' | 'trustedRoot'>,
  api: 'v1' | 'v2',
  more: Partial<Parameters<typeof createPublicLog>[0]> = {},
): ReturnType<typeof createPublicLog> {
  const trustedRoot = Buffer.from(log.trustedRoot);
  return createPublicLog({
    url: log.url,
    api,
    trustedRoot,
    logs: publicLogsOf(parseTrustedRoot(trustedRoot)),
    signer,
    memory: noMemory,
    clock: systemClock,
    withinMs: 5000,
    attempts: 2,
    maxWaitMs: 20,
    ...more,
  });
}

const bundleOf = (proof: LogProof): string =>
  formatBundle({ envelope, proof: { ...proof, logId: proof.logId ?? Buffer.alloc(32) } });

/** Unmodified sigstore verification; `times` is how many trusted times the bundle has to bring. */
function verifyWithSigstore(bundleText: string, trustedRoot: string, times: number): void {
  const trust = toTrustMaterial(parseTrustedRoot(Buffer.from(trustedRoot)).root, {
    [signer.keyId]: { rawBytes: toSpki(key), keyDetails: 5 },
  });
  const verifier = new Verifier(trust, { tlogThreshold: 1, ctlogThreshold: 0, timestampThreshold: times });
  verifier.verify(toSignedEntity(bundleFromJSON(JSON.parse(bundleText))));
}

const flip = (text: unknown, at = -1): string => {
  const octets = Buffer.from(String(text), 'base64');
  const n = at < 0 ? octets.length + at : at;
  octets[n] = (octets[n] ?? 0) ^ 1;
  return octets.toString('base64');
};
const inside = (value: unknown): Json => value as Json;

t.test('Rekor v2: an added entry verifies offline with writ and with stock sigstore', async (t) => {
  const log = await serveV2(t);
  const proof = await open(log, 'v2').append(body);
  t.match(proof, { logIndex: 3, treeSize: 4, promise: undefined });
  const [asked] = log.asked;
  t.match(asked, { method: 'POST', path: '/api/v2/log/entries' });
  t.notMatch(asked?.body, envelope.payload.toString('base64'), 'what was signed stays here');
  const text = bundleOf(proof);
  verifyWithSigstore(text, log.trustedRoot, 0);
  const read = parseBundle(Buffer.from(text));
  t.equal(formatBundle(read), text);
  const logs = publicLogsOf(parseTrustedRoot(Buffer.from(log.trustedRoot)));
  t.match(verifyPublicProof(read.proof ?? (t.fail('no proof') as never), logs), { index: 3 });
  verifyEntryOf(proof, envelope, key);
  t.same((await open(log, 'v2').append(body)).body, proof.body, 'the same claim is the same entry');
});

t.test('Rekor v1: an added entry and its time verify with writ and with stock sigstore', async (t) => {
  const log = await serveV1(t);
  const proof = await open(log, 'v1').append(body);
  t.match(proof, { logIndex: 0, treeSize: 1, origin: /^127\.0\.0\.1:\d+ - \d+$/ });
  t.ok(Math.abs((proof.promise?.integratedTime ?? 0) - Date.now() / 1000) < 60);
  t.notMatch(log.asked[0]?.body, envelope.payload.toString('base64'), 'what was signed stays here');
  const text = bundleOf(proof);
  verifyWithSigstore(text, log.trustedRoot, 1);
  const read = parseBundle(Buffer.from(text));
  t.equal(formatBundle(read), text);
  const logs = publicLogsOf(parseTrustedRoot(Buffer.from(log.trustedRoot)));
  t.match(verifyPublicProof(read.proof ?? (t.fail('no proof') as never), logs), {
    integratedAtMs: (proof.promise?.integratedTime ?? 0) * 1000,
  });
  verifyEntryOf(proof, envelope, key);
});

t.test('an entry from a time when the log key was not valid is stale', async (t) => {
  const made = async (log: TestLog, api: 'v1' | 'v2') => {
    const read = parseBundle(Buffer.from(bundleOf(await open(log, api).append(body))));
    return { proof: read.proof ?? (t.fail('no proof') as never), log };
  };
  const with1 = await made(await serveV1(t), 'v1');
  const at = (with1.proof.promise?.integratedTime ?? 0) * 1000;
  const with2 = await made(await serveV2(t), 'v2');
  for (const [name, { proof, log }, validFor, now] of [
    ['v1, later', with1, { startMs: at + 1, endMs: Infinity }, at],
    ['v1, earlier', with1, { startMs: 0, endMs: at - 1 }, at],
    ['v2, later', with2, { startMs: at + 1, endMs: Infinity }, at],
  ] as const) {
    const logs = publicLogsOf(parseTrustedRoot(Buffer.from(log.trustedRoot)));
    t.doesNotThrow(() => verifyPublicProof(proof, logs, at + 60_000), name);
    t.throws(
      () =>
        verifyPublicProof(
          proof,
          logs.map((one) => ({ ...one, validFor })),
          now,
        ),
      { code: 'VERIFY_REFUTED', detail: { reason: 'stale', at: new Date(at).toISOString() } },
      name,
    );
  }
});

t.test('other signatures on the checkpoint of a public log are ignored', async (t) => {
  const log = await serveV2(t);
  const witness = `— witness.example ${Buffer.alloc(76, 5).toString('base64')}\n`;
  log.lie((answer) => {
    const checkpoint = inside(inside(answer.inclusionProof).checkpoint);
    checkpoint.envelope = `${checkpoint.envelope}${witness}`;
    return answer;
  });
  const proof = await open(log, 'v2').append(body);
  t.match(proof.checkpoint, witness);
});

/** Each lie by itself, against a log that was honest the moment before. */
async function refuseLies(
  t: Test,
  log: TestLog,
  api: 'v1' | 'v2',
  lies: Readonly<Record<string, (answer: Json) => unknown>>,
): Promise<void> {
  await open(log, api).append(body);
  for (const [name, lie] of Object.entries(lies)) {
    log.lie((answer) => lie(structuredClone(answer)) as Json);
    // A new signature each time: between two copies of one entry an index off by one would be no lie.
    const fresh = buildLogEntry(await signEnvelope(inTotoPayloadType, envelope.payload, signer), key);
    await t.rejects(open(log, api).append(fresh), { code: 'LOG_FAILED', detail: { found: /./ } }, name);
  }
}

t.test('Rekor v2: a response that is wrong in any part is refused', async (t) => {
  const log = await serveV2(t);
  const other = await serveV2(t);
  const foreign = await open(other, 'v2').append(body);
  let earlier: Json | undefined;
  log.lie((answer) => {
    earlier ??= structuredClone(answer);
    return answer;
  });
  const another = await signEnvelope(inTotoPayloadType, Buffer.from('{"b":2}'), signer);
  await open(log, 'v2').append(buildLogEntry(another, key));
  const proofOf = (answer: Json): Json => inside(answer.inclusionProof);
  const withBody = (answer: Json, change: (entry: Json) => void): Json => {
    const entry = JSON.parse(Buffer.from(String(answer.canonicalizedBody), 'base64').toString());
    change(entry.spec.hashedRekordV002);
    return { ...answer, canonicalizedBody: Buffer.from(canonicalize(entry)).toString('base64') };
  };
  const noise = Buffer.alloc(64, 3);
  /** The entry in a log of its own, whose root and path hold; only who signed that remains to be asked. */
  const alone = (answer: Json, sealed: (text: string, name: string, hint: Buffer) => string): Json => {
    const root = leafHash(Buffer.from(String(answer.canonicalizedBody), 'base64')).toString('base64');
    const [name = ''] = String(inside(proofOf(answer).checkpoint).envelope).split('\n');
    const hint = Buffer.from(String(inside(answer.logId).keyId), 'base64').subarray(0, 4);
    return {
      ...answer,
      logIndex: '0',
      inclusionProof: {
        logIndex: '0',
        rootHash: root,
        treeSize: '1',
        hashes: [],
        checkpoint: { envelope: sealed(`${name}\n1\n${root}\n`, name, hint) },
      },
    };
  };
  await refuseLies(t, log, 'v2', {
    'the proof of another entry': () => earlier,
    'the path of another entry': (answer) => ({ ...answer, inclusionProof: earlier?.inclusionProof }),
    'another root': (answer) => ({
      ...answer,
      inclusionProof: { ...proofOf(answer), rootHash: flip(proofOf(answer).rootHash) },
    }),
    'another size': (answer) => ({ ...answer, inclusionProof: { ...proofOf(answer), treeSize: '999' } }),
    'the index off by one': (answer) => {
      const logIndex = String(Number(answer.logIndex) - 1);
      return { ...answer, logIndex, inclusionProof: { ...proofOf(answer), logIndex } };
    },
    'two indices': (answer) => ({ ...answer, logIndex: String(Number(answer.logIndex) - 1) }),
    'the checkpoint of another log': (answer) => ({
      ...answer,
      inclusionProof: { ...proofOf(answer), checkpoint: { envelope: foreign.checkpoint } },
    }),
    'the whole answer of another log': () => ({
      ...JSON.parse(bundleOf(foreign)).verificationMaterial.tlogEntries[0],
    }),
    'another log id': (answer) => ({ ...answer, logId: { keyId: flip(inside(answer.logId).keyId) } }),
    'a checkpoint that nobody signed': (answer) => ({
      ...answer,
      inclusionProof: {
        ...proofOf(answer),
        checkpoint: {
          envelope: String(inside(proofOf(answer).checkpoint).envelope).replace(/\n\n[\s\S]*$/, '\n\n'),
        },
      },
    }),
    'a tree of one entry under the name and key hint of the log': (answer) =>
      alone(
        answer,
        (text, name, hint) => `${text}\n— ${name} ${Buffer.concat([hint, noise]).toString('base64')}\n`,
      ),
    'a tree of one entry that only a stranger signed': (answer) =>
      alone(
        answer,
        (text) => `${text}\n— stranger ${Buffer.concat([Buffer.alloc(4, 9), noise]).toString('base64')}\n`,
      ),
    'a path with a wrong hash': (answer) => ({
      ...answer,
      inclusionProof: {
        ...proofOf(answer),
        hashes: (proofOf(answer).hashes as string[]).map((hash) => flip(hash)),
      },
    }),
    'no path': (answer) => ({ ...answer, inclusionProof: { ...proofOf(answer), hashes: [] } }),
    'no proof': (answer) => ({ ...answer, inclusionProof: undefined }),
    'an entry about another digest': (answer) =>
      withBody(answer, (entry) => (inside(entry.data).digest = flip(inside(entry.data).digest))),
    'an entry with another signature': (answer) =>
      withBody(answer, (entry) => (inside(entry.signature).content = flip(inside(entry.signature).content))),
    'another kind of entry': (answer) => ({ ...answer, kindVersion: { kind: 'dsse', version: '0.0.2' } }),
    'a v1 entry': (answer) => ({ ...answer, kindVersion: { kind: 'hashedrekord', version: '0.0.1' } }),
    'a number for an object': () => ({ logId: 7 }),
    'an array': () => ({ status: 201, body: '[]' }),
    'no JSON': () => ({ status: 201, body: '<html>' }),
    'a name twice': () => ({ status: 201, body: '{"logId":{},"logId":{}}' }),
    nothing: () => ({ status: 201, body: '' }),
    'half of it': (answer) => ({ status: 201, body: JSON.stringify(answer).slice(0, 400) }),
    'too much': () => ({ status: 201, body: Buffer.alloc(2_000_000, 32) }),
    'a redirect': () => ({ status: 307, headers: { location: `${other.url}/api/v2/log/entries` } }),
    refusal: () => ({ status: 400, body: '{"message":"no"}' }),
  });
  t.equal(other.asked.length, 1, 'nobody was led to the other log');
});

t.test('a genuine entry about another envelope is refused, although its proofs hold', async (t) => {
  for (const api of ['v1', 'v2'] as const) {
    const log = await (api === 'v1' ? serveV1(t) : serveV2(t));
    let genuine: Json | undefined;
    log.lie((answer) => {
      genuine ??= structuredClone(answer);
      return genuine;
    });
    const another = await signEnvelope(inTotoPayloadType, Buffer.from('{"b":2}'), signer);
    await open(log, api).append(buildLogEntry(another, key));
    await t.rejects(open(log, api).append(body), { code: 'LOG_FAILED', message: /its digest differs/ }, api);
  }
});

t.test('Rekor v1: a response that is wrong in any part is refused', async (t) => {
  const log = await serveV1(t);
  const stranger = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;
  const foreign = await open(await serveV1(t), 'v1').append(body);
  const edit = (answer: Json, change: (entry: Json, verification: Json, proof: Json) => void): Json => {
    for (const entry of Object.values(answer)) {
      const verification = inside(inside(entry).verification);
      change(inside(entry), verification, inside(verification.inclusionProof));
    }
    return answer;
  };
  await refuseLies(t, log, 'v1', {
    'a SET by another key': (answer) =>
      edit(answer, (entry, verification) => {
        const { body: text, integratedTime, logIndex, logID } = entry;
        const signed = Buffer.from(canonicalize({ body: text, integratedTime, logIndex, logID }));
        verification.signedEntryTimestamp = sign('sha256', signed, stranger).toString('base64');
      }),
    'another time': (answer) =>
      edit(answer, (entry) => (entry.integratedTime = Number(entry.integratedTime) + 1)),
    'another number': (answer) => edit(answer, (entry) => (entry.logIndex = Number(entry.logIndex) + 1)),
    'no SET': (answer) => edit(answer, (_, verification) => delete verification.signedEntryTimestamp),
    'no proof': (answer) => edit(answer, (_, verification) => delete verification.inclusionProof),
    'another root': (answer) => edit(answer, (_, __, proof) => (proof.rootHash = 'ab'.repeat(32))),
    'the index off by one': (answer) => edit(answer, (_, __, proof) => (proof.logIndex = 1)),
    'the checkpoint of another log': (answer) =>
      edit(answer, (_, __, proof) => (proof.checkpoint = foreign.checkpoint)),
    'another log id': (answer) => edit(answer, (entry) => (entry.logID = 'cd'.repeat(32))),
    'another kind': (answer) =>
      edit(answer, (entry) => {
        const changed = JSON.parse(Buffer.from(String(entry.body), 'base64').toString());
        entry.body = Buffer.from(JSON.stringify({ ...changed, kind: 'intoto' })).toString('base64');
      }),
    'two entries': (answer) => ({ ...answer, more: Object.values(answer)[0] }),
    'no entry': () => ({}),
    'no JSON': () => ({ status: 201, body: '<html>' }),
    refusal: () => ({ status: 400, body: '{"message":"no"}' }),
  });
});

t.test('Rekor v1: an entry without a signed time is refused', async (t) => {
  const log = await serveV1(t);
  const tlog = await initializeTLog(log.url, { privateKey: log.key, publicKey: createPublicKey(log.key) });
  const answer = (await tlog.log(JSON.parse(body.toString()))) as unknown as Json;
  for (const entry of Object.values(answer)) {
    inside(entry).integratedTime = 0;
    inside(entry).logIndex = 0;
    delete inside(inside(entry).verification).signedEntryTimestamp;
  }
  log.lie(() => answer);
  await t.rejects(open(log, 'v1').append(body), { code: 'LOG_FAILED', message: /not one of Rekor v1/ });
});

t.test('an existing entry is fetched and checked like a new one', async (t) => {
  for (const api of ['v1', 'v2'] as const) {
    const log = await (api === 'v1' ? serveV1(t) : serveV2(t));
    let kept: Json | undefined;
    log.lie((answer) => {
      kept = structuredClone(answer);
      return answer;
    });
    const first = await open(log, api).append(body);
    const uuid = api === 'v1' ? (Object.keys(kept ?? {})[0] ?? '') : 'x';
    const location = `/api/${api}/log/entries/${uuid}`;
    log.lie((_, { method }) =>
      method === 'GET'
        ? { status: 200, body: JSON.stringify(kept) }
        : { status: 409, headers: { location }, body: '{}' },
    );
    t.same((await open(log, api).append(body)).body, first.body, api);
    const another = await signEnvelope(inTotoPayloadType, Buffer.from('{"b":2}'), signer);
    await t.rejects(
      open(log, api).append(buildLogEntry(another, key)),
      { code: 'LOG_FAILED', message: /differs/ },
      `${api}: what is there is something else`,
    );
    log.lie(() => ({ status: 409, body: '{}' }));
    await t.rejects(open(log, api).append(body), { code: 'LOG_FAILED' }, `${api}: nowhere to look`);
  }
  const log = await serveV2(t);
  log.lie(() => ({ status: 409, headers: { location: 'http://127.0.0.2:1/x' } }));
  await t.rejects(open(log, 'v2').append(body), { code: 'LOG_FAILED', message: /another host/ });
});

t.test('a busy log is retried a limited number of times and `Retry-After` is capped', async (t) => {
  const waits: number[] = [];
  const clock = { ...systemClock, sleep: async (ms: number) => void waits.push(ms) };
  const log = await serveV2(t);
  const more = { clock, attempts: 3, maxWaitMs: 30_000 };
  const answers: Json[] = [
    { status: 429, headers: { 'retry-after': '7' } },
    { status: 503, headers: { 'retry-after': '86400' } },
  ];
  log.lie((answer) => answers.shift() ?? answer);
  t.ok(await open(log, 'v2', more).append(body));
  t.same(waits, [7000, 30_000]);
  log.lie(() => ({ status: 429 }));
  const before = log.asked.length;
  await t.rejects(open(log, 'v2', more).append(body), { code: 'LOG_FAILED', message: /429 to each of 3/ });
  t.equal(log.asked.length - before, 3);
  log.lie(() => undefined);
  await t.rejects(open(log, 'v2', { ...more, attempts: 1, withinMs: 150 }).append(body), {
    code: 'LOG_FAILED',
    detail: { code: 'NETWORK_FAILED' },
  });
  const v1 = await serveV1(t);
  v1.lie((answer) => (v1.asked.length === 1 ? { status: 503 } : answer));
  t.ok(await open(v1, 'v1').append(body));
  v1.lie(() => undefined);
  await t.rejects(open(v1, 'v1', { attempts: 1, withinMs: 150 }).append(body), { code: 'LOG_FAILED' });
});

t.test('a log that the trusted root does not name, or not for now, is refused', async (t) => {
  const v2 = await serveV2(t);
  const v1 = await serveV1(t);
  await t.rejects(open({ url: v2.url, trustedRoot: v1.trustedRoot }, 'v2').append(body), {
    code: 'LOG_FAILED',
    message: /no log of that id/,
  });
  const publicKey = createPublicKey(v1.key);
  for (const [name, validFor] of Object.entries({
    retired: { start: '2020-01-01T00:00:00Z', end: '2021-01-01T00:00:00Z' },
    'to come': { start: '2999-01-01T00:00:00Z' },
  })) {
    const trustedRoot = trustedRootOf(v1.url, publicKey, validFor);
    await t.rejects(
      open({ url: v1.url, trustedRoot }, 'v1').append(body),
      { code: 'LOG_FAILED', message: /not valid/ },
      name,
    );
  }
  await t.rejects(open(v1, 'v2').append(body), { code: 'LOG_FAILED' }, 'spoken to as the other version');
});

t.test('v2 responses of the sigstore mock do not match the specification and are refused', async (t) => {
  const keys = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  let fn: ReturnType<typeof rekorV2Handler>['fn'] | undefined;
  const { url } = await serve(t, async (one) => {
    const { statusCode, response } = (await fn?.(one.body)) ?? { statusCode: 500, response: '' };
    return { status: statusCode, body: String(response) };
  });
  fn = rekorV2Handler(await initializeTLog(url, keys)).fn;
  const trustedRoot = trustedRootOf(url, keys.publicKey);
  await t.rejects(open({ url, trustedRoot }, 'v2').append(body), { code: 'LOG_FAILED' });
});

t.test('log keys of unsupported types are ignored', async (t) => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey;
  const p384 = generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).publicKey;
  const p256 = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).publicKey;
  const logsOf = (key: KeyObject) =>
    publicLogsOf(parseTrustedRoot(Buffer.from(trustedRootOf('https://log.example', key))));
  t.strictSame(
    [rsa, p384, p256].map((key) => logsOf(key).length),
    [0, 0, 1],
  );
});
