/* The process in the sandbox: calls as lines of JSON on standard input, answers as lines on standard output. */
import { writeSync } from 'node:fs';
import { Writable } from 'node:stream';
import { readInPieces } from './read-in-pieces.ts';

/** Why a connection failed, as reported by the engine. */
interface Obstacle {
  readonly host: string;
  readonly port: number;
  readonly code: string;
  readonly message: string;
}

interface Call {
  readonly id: number;
  /** Instead of a call. */
  readonly obstacle?: Obstacle;
  readonly cancel?: true;
  readonly module?: string;
  readonly call?: string;
  readonly args?: readonly unknown[];
  /** The way to each place in `args` that is bytes, in base64. */
  readonly bytes?: readonly (readonly (string | number)[])[];
}

// Output that a plugin prints is not an answer. It goes to descriptor 2; if the plugin fails, writ shows the end of
// it.
const aside = new Writable({
  write(chunk: Buffer, _encoding, done) {
    for (let at = 0; at < chunk.length; ) at += writeSync(2, chunk, at);
    done();
  },
});
Object.defineProperty(process, 'stdout', { value: aside });

const obstacles: Obstacle[] = [];
let questions = 0;
const plainFetch = globalThis.fetch;

/**
 * Wraps `fetch` to add why a connection failed, which the runtime does not report: the error carries `code`, `host`
 * and `port`.
 */
globalThis.fetch = async (input, init) => {
  const from = obstacles.length;
  questions += 1;
  try {
    return readInPieces(await plainFetch(input, init));
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown;
    const found = process.env.HTTPS_PROXY === undefined ? noNetwork(input) : await obstacleSince(from, input);
    if (found === undefined) throw thrown;
    const { message, ...facts } = found;
    throw Object.assign(new TypeError(message), facts);
  } finally {
    questions -= 1;
  }
};

function noNetwork(input: Parameters<typeof fetch>[0]): Obstacle | undefined {
  const { host, port } = placeOf(input);
  if (host === '') return undefined;
  const message = `no connection to ${host}: the manifest of the plugin names no \`hosts\`, and it has no network`;
  return { host, port, code: 'EGRESS_NOT_LISTED', message };
}

/** It comes another way than the failure, and may come after it. A redirect leads to another place. */
async function obstacleSince(
  from: number,
  input: Parameters<typeof fetch>[0],
): Promise<Obstacle | undefined> {
  const { host, port } = placeOf(input);
  for (let tries = 0; ; tries += 1) {
    const since = obstacles.slice(from);
    const found = since.find((one) => one.host === host && one.port === port);
    if (found !== undefined) return found;
    if (questions === 1 && since.length > 0) return since.at(-1);
    if (tries === 15) return undefined;
    await new Promise((waited) => setTimeout(waited, 20));
  }
}

function placeOf(input: Parameters<typeof fetch>[0]): { readonly host: string; readonly port: number } {
  try {
    const { hostname, port, protocol } = new URL(input instanceof Request ? input.url : input);
    return {
      host: hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
    };
  } catch {
    return { host: '', port: 0 };
  }
}

const stops = new Map<number, AbortController>();

function say(frame: object): void {
  const line = Buffer.from(`${JSON.stringify(frame, toText)}\n`);
  for (let at = 0; at < line.length; ) at += writeSync(1, line, at);
}

/** Bytes anywhere in an answer become base64. */
function toText(this: Readonly<Record<string, unknown>>, key: string, value: unknown): unknown {
  const raw = this[key];
  return raw instanceof Uint8Array
    ? Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('base64')
    : value;
}

/** Replaces the base64 string at this path in `args` with its bytes. */
function toBytes(args: object, way: readonly (string | number)[]): void {
  let holder = args as Record<string | number, unknown>;
  for (const key of way.slice(0, -1)) holder = holder[key] as typeof holder;
  const last = way.at(-1) ?? '';
  holder[last] = Buffer.from(String(holder[last]), 'base64');
}

async function answer({ id, module = '', call = '', args = [], bytes = [] }: Call): Promise<void> {
  const stop = new AbortController();
  stops.set(id, stop);
  try {
    const loaded = (await import(module)) as Readonly<Record<string, unknown>>;
    const asked = loaded[call];
    if (typeof asked !== 'function') throw new TypeError(`the module exports no function \`${call}\``);
    for (const way of bytes) toBytes(args, way);
    const pieces: unknown = asked(...args.slice(0, -1), {
      ...(args.at(-1) as object),
      signal: stop.signal,
    });
    if (isIterable(pieces)) {
      let told = 0;
      for await (const part of pieces) {
        if (stop.signal.aborted) break;
        say({ id, part });
        told += 1;
        // Yields to the event loop every 64 pieces, so that a cancellation is received even if pieces arrive without
        // a pause.
        if (told % 64 === 0) await new Promise((heard) => setImmediate(heard));
      }
      say({ id, done: null });
    } else say({ id, done: (await pieces) ?? null });
  } catch (thrown) {
    say({ id, failed: toFailed(thrown, module) });
  } finally {
    stops.delete(id);
  }
}

function isIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/** Serialises a thrown value: its message, and its own fields that are strings, numbers or booleans. */
function toFailed(thrown: unknown, module: string): object {
  if (!(thrown instanceof Error)) return { message: String(thrown).slice(0, 1000) };
  const cause = thrown.cause instanceof Error ? `: ${thrown.cause.message}` : '';
  const facts = Object.entries(thrown).filter(
    ([key, value]) => key !== 'message' && ['string', 'number', 'boolean'].includes(typeof value),
  );
  const message = `${thrown.message}${cause}`.slice(0, 1000);
  // An error with fields is meant for the caller. Any other error is for the plugin's author, so add the source line.
  if (facts.length === 0) return { message: `${message}${whereThrown(thrown, module)}` };
  return { ...Object.fromEntries(facts.slice(0, 20)), message };
}

/**
 * Returns file and line in the plugin. For a SyntaxError it returns the module, because Node does not report the
 * position.
 */
function whereThrown({ name, stack }: Error, module: string): string {
  const [, path, line] = /file:\/\/\/workspace\/([^\s():]{1,255}):(\d+)/.exec(String(stack)) ?? [];
  if (path !== undefined) return ` (${path}:${line})`;
  return name === 'SyntaxError' ? ` (${module.replace('/workspace/', '')}, or what it imports)` : '';
}

let rest: Buffer[] = [];

function listen(chunk: Buffer): void {
  let from = 0;
  for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
    hear(Buffer.concat([...rest, chunk.subarray(from, end)]).toString('utf8'));
    [rest, from] = [[], end + 1];
  }
  if (from < chunk.length) rest.push(chunk.subarray(from));
}

function hear(line: string): void {
  const call = JSON.parse(line) as Call;
  if (call.obstacle) {
    if (obstacles.length < 1000) obstacles.push(call.obstacle);
  } else if (call.cancel) stops.get(call.id)?.abort();
  else void answer(call);
}

process.stdin.on('data', listen);
