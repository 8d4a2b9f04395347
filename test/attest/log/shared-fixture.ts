import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { type Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parsePublicKey } from '../../../attest/encoding/public-key.ts';
import { generateKey, parsePrivateKey, toSigner } from '../../../attest/keys/key-signer.ts';
import { createWitnesses } from '../../../attest/log/ask-witnesses.ts';
import { openCheckpointMemory } from '../../../attest/log/checkpoint-memory.ts';
import { addToken } from '../../../attest/log/ledger-tokens.ts';
import { buildLogEntry } from '../../../attest/log/log-entry.ts';
import { type LedgerKey, ledgerKeyFor } from '../../../attest/log/note.ts';
import {
  openSharedLedger,
  type SharedLedger,
  type SharedLedgerOptions,
} from '../../../attest/log/shared-ledger.ts';
import { parseTlogPolicy, type TlogPolicy } from '../../../attest/log/witness-policy.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { requestHttp } from '../../../core/base/net.ts';
import type { Signer } from '../../../core/interfaces/sealing.ts';

export const origin = 'ledger.example/test';

/** Where a server keeps its ledger, its key and its memory. */
export interface SharedPlace {
  readonly root: string;
  readonly directory: string;
  readonly signer: Signer;
  readonly key: LedgerKey;
}

export function makeSharedPlace(root: string = mkdtempSync(join(tmpdir(), 'writ-shared-'))): SharedPlace {
  const pem = generateKey('ed25519').export({ type: 'pkcs8', format: 'pem' }).toString();
  writeFileSync(join(root, 'key.pem'), pem, { mode: 0o600 });
  return openSharedPlace(root);
}

export function openSharedPlace(root: string): SharedPlace {
  const pem = readFileSync(join(root, 'key.pem'), 'utf8');
  const signer = toSigner(parsePrivateKey(pem, 'ed25519', 'test'), false);
  const key = ledgerKeyFor(origin, parsePublicKey(signer.publicKeyPem));
  return { root, directory: join(root, 'server'), signer, key };
}

export function openShared(
  { root, directory, signer }: SharedPlace,
  policy?: TlogPolicy,
  changes: Partial<SharedLedgerOptions> = {},
): Promise<SharedLedger> {
  return openSharedLedger({
    directory,
    signer,
    memory: openCheckpointMemory(join(root, 'memory')),
    clock: systemClock,
    origin,
    ...(policy && { witnesses: (log: LedgerKey) => createWitnesses(policy, log, requestHttp) }),
    ...changes,
  });
}

export function policyOf(lines: readonly string[]): TlogPolicy {
  return parseTlogPolicy(Buffer.from(`${lines.join('\n')}\n`));
}

const runner = parsePublicKey(toSigner(generateKey('ecdsa-p256-sha256'), false).publicKeyPem);

/** What a run logs, in form; one per text. */
export function entryOf(text: string): Buffer {
  const envelope = {
    payloadType: 'application/vnd.in-toto+json',
    payload: Buffer.from(text),
    signature: Buffer.alloc(70, 7),
    keyId: '',
  };
  return buildLogEntry(envelope, runner);
}

/** A server in a process of its own. */
export interface ServerProcess {
  readonly child: ChildProcess;
  readonly url: string;
  readonly ended: Promise<unknown>;
}

/** Starts `serve-shared.ts`; resolves when it listens, `undefined` where it ended before. */
export async function startShared(
  { root }: SharedPlace,
  policy = '',
  limits: readonly string[] = [],
): Promise<ServerProcess | undefined> {
  const script = new URL('serve-shared.ts', import.meta.url).pathname;
  const [program = process.execPath, ...args] = [...limits, process.execPath, script, root, policy];
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const first = new Promise<string>((resolve) => createInterface(child.stdout).once('line', resolve));
  const url = await Promise.race([first, ended.then(() => undefined)]);
  return url === undefined ? undefined : { child, url, ended };
}

/** A client of one repository. */
export async function makeClient(place: SharedPlace, name: string) {
  const token = await addToken(place.directory, name, { perMinute: 1_000_000, maxBytes: 16_384 });
  return { name, token };
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** Sends an entry, or anything else, exactly as given. Rejects where the connection breaks. */
export function post(
  url: string,
  body: Uint8Array,
  headers: Readonly<Record<string, string>>,
  { agent, path = '/add' }: { readonly agent?: Agent; readonly path?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { port } = new URL(url);
    const options = { host: '127.0.0.1', port, path, method: 'POST', headers, agent: agent ?? false };
    const call = request(options, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(parts),
        }),
      );
    });
    call.on('error', reject).end(body);
  });
}

export const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
