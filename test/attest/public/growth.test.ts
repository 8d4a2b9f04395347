import { createPublicKey, sign } from 'node:crypto';
import t, { type Test } from 'tap';
import { inTotoPayloadType, signEnvelope } from '../../../attest/encoding/dsse.ts';
import { toSpki } from '../../../attest/encoding/public-key.ts';
import { generateKey, toSigner } from '../../../attest/keys/key-signer.ts';
import { openCheckpointMemory } from '../../../attest/log/checkpoint-memory.ts';
import { buildLogEntry } from '../../../attest/log/log-entry.ts';
import { isConsistent } from '../../../attest/log/merkle.ts';
import { createPublicLog, proveByRekorV1, proveByTiles } from '../../../attest/public/public-log-source.ts';
import { parseTrustedRoot, publicLogsOf } from '../../../attest/public/trusted-root.ts';
import { sha256 } from '../../../core/base/canonical.ts';
import { systemClock } from '../../../core/base/clock.ts';
import type { HttpAnswer } from '../../../core/base/net.ts';
import { testTree } from '../log/test-tree.ts';
import { type Json, serveV1, serveV2, type TestLog } from './log-servers.ts';

const signer = toSigner(generateKey('ecdsa-p256-sha256'), false);
const key = createPublicKey(signer.publicKeyPem);

async function entry(): Promise<Buffer> {
  return buildLogEntry(await signEnvelope(inTotoPayloadType, Buffer.from('{"a":1}'), signer), key);
}

function open(log: Pick<TestLog, 'url' | 'trustedRoot'>, api: 'v1' | 'v2', directory: string) {
  const trustedRoot = Buffer.from(log.trustedRoot);
  const logs = publicLogsOf(parseTrustedRoot(trustedRoot));
  const memory = openCheckpointMemory(directory);
  const bounds = { withinMs: 60_000, attempts: 2, maxWaitMs: 20 };
  return createPublicLog({
    url: log.url,
    api,
    trustedRoot,
    logs,
    signer,
    clock: systemClock,
    memory,
    ...bounds,
  });
}

/** What this user has seen of the log: whatever it is told. */
async function seen(
  log: TestLog,
  origin: string,
  size: number,
  root: Buffer,
  directory: string,
): Promise<void> {
  const [{ logId } = { logId: Buffer.alloc(0) }] = publicLogsOf(
    parseTrustedRoot(Buffer.from(log.trustedRoot)),
  );
  const source = `${origin}\n${size}\n${root.toString('base64')}\n\n— x AAAAAAA=\n`;
  await openCheckpointMemory(directory).remember({ origin, keyId: logId, size, root, source });
}

t.test('Rekor v2: the tiles of the log prove that each checkpoint continues the one before', async (t) => {
  const log = await serveV2(t);
  const directory = t.testdir();
  const proofs = [];
  for (let n = 0; n < 3; n += 1) proofs.push(await open(log, 'v2', directory).append(await entry()));
  t.strictSame(
    log.asked.filter(({ method }) => method === 'GET').map(({ path }) => path),
    ['/api/v2/tile/0/000.p/5', '/api/v2/tile/0/000.p/6'],
  );
  const [{ origin = '', rootHash } = { rootHash: Buffer.alloc(0) }] = proofs;
  t.match(await openCheckpointMemory(directory).latest({ origin, keyId: keyIdOf(log) }), { size: 6 });
  const { hashes } = (await open(log, 'v2', directory).consistency?.(4, 6)) ?? { hashes: [] };
  const to = { size: 6, root: proofs[2]?.rootHash ?? Buffer.alloc(0) };
  t.ok(isConsistent({ size: 4, root: rootHash }, to, hashes));
});

function keyIdOf(log: TestLog): Buffer {
  return publicLogsOf(parseTrustedRoot(Buffer.from(log.trustedRoot)))[0]?.logId ?? Buffer.alloc(0);
}

t.test('Rekor v2: a log with another history or a smaller size than remembered is refused', async (t) => {
  const log = await serveV2(t);
  const { origin } = await open(log, 'v2', t.testdir()).append(await entry());
  const root = Buffer.alloc(32, 7);
  for (const [size, code, message] of [
    [3, 'LOG_FAILED', /was seen with 3 entries and shows 5 now/],
    [7, 'LOG_FAILED', /was seen with 7 entries and shows 6 now: .*is no tile of 7 entries/],
    [7, 'LOG_FORKED', /showed 7 entries that are not those/],
  ] as const) {
    const directory = t.testdir();
    await seen(log, origin, size, root, directory);
    await t.rejects(open(log, 'v2', directory).append(await entry()), { code, message });
  }
});

t.test('Rekor v2: concurrent seals at one log are not a fork', async (t) => {
  const log = await serveV2(t);
  const directory = t.testdir();
  const proofs = await Promise.all(
    Array.from({ length: 3 }, async () => open(log, 'v2', directory).append(await entry())),
  );
  const [{ origin } = { origin: '' }] = proofs;
  t.match(await openCheckpointMemory(directory).latest({ origin, keyId: keyIdOf(log) }), { size: 6 });
});

/** A Rekor v1 log of one tree that grows, after two entries of others. */
async function serveGrowing(t: Test, lie: (hashes: readonly string[]) => unknown = (hashes) => hashes) {
  const log = await serveV1(t);
  const tree = testTree(2);
  const host = new URL(log.url).host;
  const hex = (hash: Uint8Array): string => Buffer.from(hash).toString('hex');
  log.lie(async (answer, { path }) => {
    const { pathname, searchParams } = new URL(path, log.url);
    if (pathname === '/api/v1/log/proof') {
      const [from, to] = [Number(searchParams.get('firstSize')), Number(searchParams.get('lastSize'))];
      if (searchParams.get('treeID') !== '42' || to > tree.entries.length)
        return { status: 400, body: '{"code":400,"message":"no such size or tree"}' };
      const { hashes } = await tree.consistency(from, to);
      const body = JSON.stringify({
        rootHash: hex((await tree.head(to)).root),
        hashes: lie(hashes.map(hex)),
      });
      return { status: 200, body };
    }
    const [[uuid, told] = ['', {}]] = Object.entries(answer as Record<string, Json>);
    const proof = await tree.append(Buffer.from(String(told.body), 'base64'), 0);
    const text = `${host} - 42\n${proof.treeSize}\n${Buffer.from(proof.rootHash).toString('base64')}\n`;
    const hint = sha256(toSpki(createPublicKey(log.key))).subarray(0, 4);
    const line = Buffer.concat([hint, sign('sha256', Buffer.from(text), log.key)]).toString('base64');
    const { logIndex, treeSize } = proof;
    const verification = {
      ...(told.verification as Json),
      inclusionProof: {
        logIndex,
        treeSize,
        rootHash: hex(proof.rootHash),
        hashes: proof.hashes.map(hex),
        checkpoint: `${text}\n— ${host} ${line}\n`,
      },
    };
    return { status: 201, body: JSON.stringify({ [uuid]: { ...told, verification } }) };
  });
  return { log, origin: `${host} - 42` };
}

t.test('Rekor v1: a consistency proof shows that each checkpoint continues the one before', async (t) => {
  const { log, origin } = await serveGrowing(t);
  const directory = t.testdir();
  for (const treeSize of [3, 4, 5])
    t.match(await open(log, 'v1', directory).append(await entry()), { treeSize, origin });
  t.strictSame(
    log.asked.filter(({ method }) => method === 'GET').map(({ path }) => path),
    [
      '/api/v1/log/proof?firstSize=3&lastSize=4&treeID=42',
      '/api/v1/log/proof?firstSize=4&lastSize=5&treeID=42',
    ],
  );
  t.match(await openCheckpointMemory(directory).latest({ origin, keyId: keyIdOf(log) }), { size: 5 });
});

t.test('Rekor v1: a log that forked, shrank or proves nothing is refused', async (t) => {
  const root = Buffer.alloc(32, 7);
  for (const [size, code] of [
    [2, 'LOG_FAILED'],
    [3, 'LOG_FORKED'],
    [9, 'LOG_FAILED'],
  ] as const) {
    const { log, origin } = await serveGrowing(t);
    const directory = t.testdir();
    await seen(log, origin, size, root, directory);
    await t.rejects(open(log, 'v1', directory).append(await entry()), { code, detail: { seen: size } });
  }
  for (const lie of [
    (hashes: readonly string[]) => hashes.slice(1),
    () => undefined,
    () => null,
    () => 'none',
    () => ['zz'],
    (hashes: readonly string[]) => hashes.map((hash) => hash.toUpperCase().replace(/^[0-9]/, 'A')),
    () => Array(65).fill('00'.repeat(32)),
  ]) {
    const { log } = await serveGrowing(t, lie);
    const directory = t.testdir();
    await open(log, 'v1', directory).append(await entry());
    await t.rejects(open(log, 'v1', directory).append(await entry()), {
      code: 'LOG_FAILED',
      detail: { reason: 'unproven', seen: 3, found: 4 },
    });
  }
});

const patience = (fetch: (url: string) => Partial<HttpAnswer>) => ({
  clock: systemClock,
  attempts: 2,
  maxWaitMs: 1,
  fetch: async ({ url }: { readonly url: string }) => ({
    status: 200,
    headers: {},
    body: Buffer.alloc(0),
    ...fetch(url),
  }),
});

t.test('proofs from tiles hold for every size, with and without partial tiles', async (t) => {
  const log = testTree(700);
  for (const kept of [true, false])
    for (const [from, to] of [
      [1, 2],
      [3, 200],
      [200, 256],
      [255, 257],
      [256, 512],
      [300, 700],
      [511, 513],
    ] as const) {
      const prove = proveByTiles(
        'https://log.example/x',
        patience((url) => {
          t.match(url, /^https:\/\/log\.example\/x\/api\/v2\/tile\//);
          const path = url.slice('https://log.example/x/api/v2/'.length);
          const full = path.split('.p/')[0] ?? '';
          // A log of 768 entries has every tile that was partial once.
          const body = kept ? log.tile(path, to) : (log.tile(full, 700) ?? log.tile(path, to));
          return body === undefined || (!kept && path !== full && body.length === 8192)
            ? { status: 404 }
            : { body };
        }),
        1000,
      );
      const { hashes } = await prove(from, to);
      t.ok(isConsistent(await log.head(from), await log.head(to), hashes), `${from} to ${to}`);
    }
});

t.test('tiles and proofs that cannot be fetched are reported with the name of their log', async (t) => {
  const body = Buffer.alloc(64);
  for (const answer of [{ status: 404 }, { status: 403 }, { status: 503 }, { body: Buffer.alloc(1) }])
    await t.rejects(
      proveByTiles(
        'https://log.example',
        patience(() => answer),
        1000,
      )(3, 9),
      {
        code: 'LOG_FAILED',
        detail: { origin: 'https://log.example', found: /./ },
      },
    );
  t.match(
    await proveByTiles(
      'https://log.example',
      patience(() => ({ body })),
      1000,
    )(1, 2),
    { hashes: [] },
  );
  for (const answer of [{ status: 404 }, { status: 503 }])
    await t.rejects(
      proveByRekorV1(
        'https://log.example',
        undefined,
        patience(() => answer),
        1000,
      )(3, 9),
      {
        code: 'LOG_FAILED',
      },
    );
  const urls: string[] = [];
  const asked = patience((url) => {
    urls.push(url);
    return { body: Buffer.from('{"rootHash":"x","hashes":[]}') };
  });
  await proveByRekorV1('https://log.example', 'log.example', asked, 1000)(3, 9);
  t.strictSame(urls, ['https://log.example/api/v1/log/proof?firstSize=3&lastSize=9'], 'its current tree');
});
