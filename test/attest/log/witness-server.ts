import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { checkpointIn, type SignedCheckpoint, verifyCheckpoint } from '../../../attest/log/checkpoint.ts';
import { isConsistent } from '../../../attest/log/merkle.ts';
import type { LedgerKey } from '../../../attest/log/note.ts';
import { makeWitness } from './witness.ts';

/** What a witness does to one submission; `undefined`: what the protocol says. */
type Mood = { readonly status: number; readonly body?: string } | 'hang' | undefined;

/** A witness that keeps to C2SP tlog-witness, over real HTTP. */
export interface WitnessServer {
  readonly key: LedgerKey;
  readonly url: string;
  /** Line of a tlog-policy. */
  readonly policyLine: string;
  /** The largest checkpoint that it has cosigned, for one log. */
  readonly seen: () => SignedCheckpoint | undefined;
  /** Every checkpoint that it was shown and that its log had signed, by size: more than one root is a fork. */
  readonly shown: Map<number, Set<string>>;
  mood: (submission: number) => Mood;
  close(): Promise<void>;
}

/** Listens on a free port of the loopback; `logs` are known only after the log was made. */
export async function startWitness(name: string, logs: () => readonly LedgerKey[]): Promise<WitnessServer> {
  const { key, line } = makeWitness(name);
  let seen: SignedCheckpoint | undefined;
  let submissions = 0;
  const shown = new Map<number, Set<string>>();
  const state: Pick<WitnessServer, 'mood'> = { mood: () => undefined };

  function decide(body: string): { readonly status: number; readonly body: string } {
    const split = body.indexOf('\n\n');
    const [old = '', ...proof] = body.slice(0, split).split('\n');
    const size = Number(/^old (0|[1-9][0-9]*)$/.exec(old)?.[1] ?? Number.NaN);
    const source = body.slice(split + 2);
    if (!Number.isSafeInteger(size) || proof.length > 63) return { status: 400, body: 'malformed' };
    const claimed = checkpointIn(source);
    const keys = logs().filter(({ name }) => name === claimed?.origin);
    if (claimed === undefined) return { status: 400, body: 'malformed' };
    if (keys.length === 0) return { status: 404, body: 'unknown log' };
    let found: SignedCheckpoint;
    try {
      found = verifyCheckpoint(source, keys);
    } catch {
      return { status: 403, body: 'bad signature' };
    }
    const roots = shown.get(found.size) ?? new Set();
    shown.set(found.size, roots.add(found.root.toString('hex')));
    if (size > found.size) return { status: 400, body: 'old is larger' };
    const stored = seen?.size ?? 0;
    if (size !== stored) return { status: 409, body: `${stored}\n` };
    if (seen !== undefined && stored === found.size && !seen.root.equals(found.root))
      return { status: 409, body: `${stored}\n` };
    const nodes = proof.map((hash) => Buffer.from(hash, 'base64'));
    if (seen !== undefined && !isConsistent(seen, found, nodes)) return { status: 422, body: 'bad proof' };
    seen = found;
    return { status: 200, body: line(source, BigInt(Math.floor(Date.now() / 1000))) };
  }

  const server = createServer(async (request, response) => {
    const body = await text(request);
    const mood = state.mood(submissions++);
    if (mood === 'hang') return;
    const answer =
      mood ?? (request.url === '/add-checkpoint' ? decide(body) : { status: 404, body: 'no such route' });
    response.writeHead(answer.status, { 'content-type': 'text/plain' }).end(answer.body ?? '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(state, {
    key,
    url,
    policyLine: `witness ${name} ${key.vkey} ${url}`,
    seen: () => seen,
    shown,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}

async function text(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}
