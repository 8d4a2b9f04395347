import { join } from 'node:path';
import { generateKey, toSigner } from '../../attest/keys/key-signer.ts';
import { createInternalLedger, type InternalLedger } from '../../attest/log/internal-ledger.ts';
import { noMemory } from '../../attest/log/no-memory.ts';
import { systemClock } from '../../core/base/clock.ts';
import { type ServedModel, serveModel } from './served-model.ts';

/**
 * How a log is spoken to, as data: what an answer holds stands as `$index`, `$size`, `$root`, `$path`, `$checkpoint`,
 * hashes in base64; `$rootHex` and `$pathHex` are the same in hexadecimal.
 */
export interface LogWire {
  /** `field` of a JSON body holds the entry in base64; absent: the body is the entry. */
  readonly append: { readonly path: string; readonly field?: string; readonly json: unknown };
  readonly size: { readonly path: string; readonly json: unknown };
  /** `$from` and `$to` in the path stand for the sizes. */
  readonly consistency?: { readonly path: string; readonly json: unknown };
}

/** A log of one's own over HTTP, on the loopback. */
export interface ServedLog extends AsyncDisposable {
  readonly port: number;
  readonly vkey: string;
}

/** Serves a real log, in files below `root`, the way that a plugin expects it. */
export async function serveLog(root: string, wire: LogWire): Promise<ServedLog> {
  const signer = toSigner(generateKey('ed25519'), false);
  const ledger = createInternalLedger({
    directory: join(root, 'log'),
    signer: async () => signer,
    memory: noMemory,
    clock: systemClock,
  });
  // One after the other: looking an entry up and appending it are two things.
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const next = last.then(act);
    last = next.catch(() => {});
    return next;
  };
  const server: ServedModel = await serveModel(async (response, { path, body, bytes }) => {
    const sizes = sizesOf(wire, path);
    const asked =
      [wire.append, wire.size].find((question) => question.path === path) ?? (sizes && wire.consistency);
    if (asked === undefined) {
      response.writeHead(404).end();
      return;
    }
    const values = await inTurn(async () => {
      if (asked === wire.append) return append(ledger, entryOf(wire, body, bytes));
      return asked === wire.size || sizes === undefined
        ? { size: await ledger.size() }
        : grown(ledger, ...sizes);
    });
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(filled(asked.json, values)));
  });
  return {
    port: server.port,
    vkey: await ledger.vkey(),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** The two sizes that a consistency proof is asked for; `undefined` for any other question. */
function sizesOf({ consistency }: LogWire, path: string): readonly [number, number] | undefined {
  if (consistency === undefined) return undefined;
  const form = consistency.path
    .replace(/[.*+?^{}()|[\]\\]/g, '\\$&')
    .replace('$from', '(?<from>[0-9]{1,15})')
    .replace('$to', '(?<to>[0-9]{1,15})');
  const { from, to } = new RegExp(`^${form}$`).exec(path)?.groups ?? {};
  return from === undefined || to === undefined ? undefined : [Number(from), Number(to)];
}

async function grown(ledger: InternalLedger, from: number, to: number) {
  return hashed('path', (await ledger.consistency(from, to)).hashes);
}

/** Hashes under a name, and in hexadecimal under the name and `Hex`. */
function hashed(name: string, hashes: readonly Uint8Array[]) {
  const as = (encoding: 'base64' | 'hex') => hashes.map((hash) => Buffer.from(hash).toString(encoding));
  return { [name]: as('base64'), [`${name}Hex`]: as('hex') };
}

/** The same bytes stand there once, however often they are handed in. */
async function append(ledger: InternalLedger, entry: Uint8Array) {
  const proof = await ledger.append(entry, { behind: 0 });
  const { logIndex: index, treeSize: size, checkpoint } = proof;
  const root = Buffer.from(proof.rootHash);
  return {
    index,
    size,
    checkpoint,
    root: root.toString('base64'),
    rootHex: root.toString('hex'),
    ...hashed('path', proof.hashes),
  };
}

function entryOf({ append: { field } }: LogWire, body: unknown, bytes: Uint8Array): Uint8Array {
  if (field === undefined) return bytes;
  return Buffer.from(String(Object(body)[field] ?? ''), 'base64');
}

/** The template with its names replaced. */
function filled(template: unknown, values: Readonly<Record<string, unknown>>): unknown {
  if (typeof template === 'string') return template.startsWith('$') ? values[template.slice(1)] : template;
  if (Array.isArray(template)) return template.map((one) => filled(one, values));
  if (typeof template !== 'object' || template === null) return template;
  return Object.fromEntries(Object.entries(template).map(([key, one]) => [key, filled(one, values)]));
}
