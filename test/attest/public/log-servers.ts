import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { initializeTLog, rekorHandler } from '@sigstore/mock';
import type { Test } from 'tap';
import { toSpki } from '../../../attest/encoding/public-key.ts';
import { generateKey, toSigner } from '../../../attest/keys/key-signer.ts';
import { noMemory } from '../../../attest/log/checkpoint-memory.ts';
import { createInternalLedger } from '../../../attest/log/internal-ledger.ts';
import { parseVkey } from '../../../attest/log/note.ts';
import { readServedFile } from '../../../attest/log/serve-ledger.ts';
import { readFrom } from '../../../attest/log/tiles.ts';
import { formatTrustedRoot } from '../../../attest/public/trusted-root.ts';
import { canonicalize, sha256 } from '../../../core/base/canonical.ts';
import { systemClock } from '../../../core/base/clock.ts';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly bytes: Buffer;
}

export interface Answered {
  readonly status: number;
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A server on the loopback; what it was asked stands in `asked`. `undefined` is an answer that never comes. */
export async function serve(
  t: Pick<Test, 'teardown'>,
  answer: (asked: Asked, n: number) => Answered | undefined | Promise<Answered | undefined>,
): Promise<{ readonly url: string; readonly asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', async () => {
      const one = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(parts).toString('utf8'),
        bytes: Buffer.concat(parts),
      };
      asked.push(one);
      const answered = await answer(one, asked.length);
      if (answered === undefined) return;
      response.writeHead(answered.status, { 'content-type': 'application/json', ...answered.headers });
      response.end(answered.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

export type Json = Record<string, unknown>;
/** `undefined` is an answer that never comes. */
type Lie = Answered | Json | undefined;

/** What a log says of a new entry, as JSON; tests change it before it goes out. */
export interface TestLog {
  readonly url: string;
  readonly asked: readonly Asked[];
  /** Changes every further answer. */
  lie(change: (answer: Json, asked: Asked) => Lie | Promise<Lie>): void;
  readonly trustedRoot: string;
}

/** A Rekor v2 log that is honest until it is told to lie: our own tree and Ed25519 key, behind that protocol. */
export async function serveV2(t: Pick<Test, 'teardown'>): Promise<TestLog> {
  const directory = mkdtempSync(join(tmpdir(), 'writ-rekor-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const signer = toSigner(generateKey('ed25519'), false);
  const ledger = createInternalLedger({
    directory,
    signer: async () => signer,
    memory: noMemory,
    clock: systemClock,
    // Nothing here has to outlive a loss of power.
    write: async (root, files) => {
      for (const [path, bytes] of files) {
        mkdirSync(dirname(join(root, path)), { recursive: true });
        writeFileSync(join(root, path), bytes);
      }
    },
  });
  const key = parseVkey(await ledger.vkey());
  for (const text of ['{"first":1}', '{"second":2}', '{"third":3}']) await ledger.append(Buffer.from(text));
  let change: Parameters<TestLog['lie']>[0] = (answer) => answer;
  const { url, asked } = await serve(t, async (one) => {
    if (one.path.startsWith('/api/v2/tile/')) {
      const tile = await readServedFile(readFrom(directory), one.path.slice('/api/v2'.length));
      return tile === undefined ? { status: 404 } : { status: 200, body: tile.bytes };
    }
    const { hashedRekordRequestV002: wanted } = JSON.parse(one.body || '{}') as {
      hashedRekordRequestV002?: { digest: string; signature: Json };
    };
    const entry = {
      apiVersion: '0.0.2',
      kind: 'hashedrekord',
      spec: {
        hashedRekordV002: {
          data: { algorithm: 'SHA2_256', digest: wanted?.digest ?? '' },
          signature: wanted?.signature ?? {},
        },
      },
    };
    const proof = await ledger.append(Buffer.from(canonicalize(entry)));
    const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
    const answer = {
      logIndex: String(proof.logIndex),
      logId: { keyId: text(key.keyId) },
      kindVersion: { kind: 'hashedrekord', version: '0.0.2' },
      integratedTime: '0',
      inclusionPromise: null,
      inclusionProof: {
        logIndex: String(proof.logIndex),
        rootHash: text(proof.rootHash),
        treeSize: String(proof.treeSize),
        hashes: proof.hashes.map(text),
        checkpoint: { envelope: proof.checkpoint },
      },
      canonicalizedBody: text(proof.body),
    };
    return toAnswer(await change(answer, one), 201);
  });
  return {
    url,
    asked,
    trustedRoot: formatTrustedRoot([key]),
    lie: (next) => {
      change = next;
    },
  };
}

/** A Rekor v1 log: the sigstore project's own mock, over real HTTP. */
export async function serveV1(t: Test): Promise<TestLog & { readonly key: KeyObject }> {
  const keys = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  let change: Parameters<TestLog['lie']>[0] = (answer) => answer;
  let handle: ReturnType<typeof rekorHandler>['fn'] | undefined;
  const { url, asked } = await serve(t, async (one) => {
    const { statusCode, response } = (await handle?.(one.body || '{}')) ?? { statusCode: 500, response: '' };
    return toAnswer(await change(JSON.parse(String(response)), one), statusCode);
  });
  handle = rekorHandler(await initializeTLog(url, keys)).fn;
  return {
    url,
    asked,
    key: keys.privateKey,
    trustedRoot: trustedRootOf(url, keys.publicKey),
    lie: (next) => {
      change = next;
    },
  };
}

/** A trusted root that names one ECDSA log. */
export function trustedRootOf(
  url: string,
  key: KeyObject,
  validFor: Json = { start: '2020-01-01T00:00:00Z' },
): string {
  return JSON.stringify({
    mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1',
    tlogs: [
      {
        baseUrl: url,
        hashAlgorithm: 'SHA2_256',
        publicKey: {
          rawBytes: toSpki(key).toString('base64'),
          keyDetails: 'PKIX_ECDSA_P256_SHA_256',
          validFor,
        },
        logId: { keyId: sha256(toSpki(key)).toString('base64') },
      },
    ],
  });
}

function toAnswer(changed: Answered | Json | undefined, status: number): Answered | undefined {
  if (changed === undefined) return undefined;
  if (typeof changed.status === 'number') return changed as unknown as Answered;
  return { status, body: JSON.stringify(changed) };
}
