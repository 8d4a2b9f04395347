import { join } from 'node:path';
import { generateKey, toSigner } from '../../attest/keys/key-signer.ts';
import { createInternalLedger, type InternalLedger } from '../../attest/log/internal-ledger.ts';
import { noMemory } from '../../attest/log/no-memory.ts';
import { systemClock } from '../../core/base/clock.ts';
import { type ServedModel, serveModel } from './served-model.ts';

/**
 * How a log is spoken to, as data: what an answer holds stands as `$index`, `$size`, `$root`, `$path`, `$checkpoint`.
 */
export interface LogWire {
  /** `field` of a JSON body holds the entry in base64; absent: the body is the entry. */
  readonly append: { readonly path: string; readonly field?: string; readonly json: unknown };
  readonly size: { readonly path: string; readonly json: unknown };
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
    const isAppend = path === wire.append.path;
    if (!isAppend && path !== wire.size.path) {
      response.writeHead(404).end();
      return;
    }
    const json = await inTurn(async () =>
      isAppend ? append(ledger, entryOf(wire, body, bytes)) : { size: await ledger.size() },
    );
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(filled(isAppend ? wire.append.json : wire.size.json, json)));
  });
  return {
    port: server.port,
    vkey: await ledger.vkey(),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** The same bytes stand there once, however often they are handed in. */
async function append(ledger: InternalLedger, entry: Uint8Array) {
  const proof = await ledger.append(entry, { behind: 0 });
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
  return {
    index: proof.logIndex,
    size: proof.treeSize,
    root: text(proof.rootHash),
    path: proof.hashes.map(text),
    checkpoint: proof.checkpoint,
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
