/* `npm run bench:ledger`: the figures of the ledgers, as ratios and limits measured in one run. Exit 1 where one is missed. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parsePublicKey } from '../attest/encoding/public-key.ts';
import { generateKey, toSigner } from '../attest/keys/key-signer.ts';
import { auditLedger } from '../attest/log/check-ledger.ts';
import { parseCheckpoint, signCheckpoint } from '../attest/log/checkpoint.ts';
import { openCheckpointMemory } from '../attest/log/checkpoint-memory.ts';
import { createInternalLedger, growTree, type InternalLedger } from '../attest/log/internal-ledger.ts';
import { openLedgerReader } from '../attest/log/ledger-reader.ts';
import { buildLogEntry } from '../attest/log/log-entry.ts';
import { emptyRoot, leafHash, type TreeHead } from '../attest/log/merkle.ts';
import { ledgerKeyFor } from '../attest/log/note.ts';
import { openSharedLedger, proofsIn, type SharedLedger } from '../attest/log/shared-ledger.ts';
import { readFrom } from '../attest/log/tiles.ts';
import { systemClock } from '../core/base/clock.ts';
import type { LogProof, Signer } from '../core/interfaces/sealing.ts';
import { rootOver } from '../test/attest/log/test-tree.ts';
import { figure, interleaved, median, printTable, timed } from './measure.ts';
import { sized } from './sized.ts';

const batch = sized(10_000, 500);
const millionth = sized(1_000_000, 2_000);
const proofs = sized(200, 3);
/** What an entry of a run has: a `hashedrekord` with key and signature. */
const entryBytes = 560;

function entries(from: number, count: number, bytes: number): readonly Buffer[] {
  return Array.from({ length: count }, (_, n) => {
    const entry = Buffer.alloc(bytes, 'entry ');
    entry.writeDoubleBE(from + n);
    return entry;
  });
}

function openLedger(
  root: string,
  name: string,
): { readonly directory: string; readonly ledger: InternalLedger } {
  const directory = join(root, name);
  const signer = toSigner(generateKey('ed25519'), false);
  const memory = openCheckpointMemory(join(root, `${name}-memory`));
  return {
    directory,
    ledger: createInternalLedger({ directory, signer: async () => signer, memory, clock: systemClock }),
  };
}

/** Durable batches against the very same tree (every tile and the root) made in memory: at least 30 % of its rate. */
async function benchAppend(root: string): Promise<boolean> {
  const bodies = entries(0, batch, entryBytes);
  let rounds = 0;
  const times = await interleaved(5, {
    memory: () => rootOver(bodies.map(leafHash)),
    durable: () => openLedger(root, `append-${rounds++}`).ledger.appendAll(bodies),
  });
  const rates = `${((batch / times.durable) * 1000).toFixed(0)} against ${((batch / times.memory) * 1000).toFixed(0)} entries/s`;
  return figure(
    `${batch} entries made durable / their tree in memory`,
    times.durable / times.memory,
    3.33,
    'x',
    rates,
  );
}

async function benchMillion(root: string): Promise<boolean> {
  const { directory, ledger } = openLedger(root, 'million');
  const filled = await timed(async () => {
    for (let at = 0; at < millionth; at += batch) await ledger.appendAll(entries(at, batch, 64));
  });
  const head = await ledger.head();
  if (head?.size !== millionth) throw new Error(`the ledger has ${head?.size} entries`);
  const files = new Set<string>();
  const stored = readFrom(directory);
  const read: typeof stored = async (path) => {
    files.add(path);
    return stored(path);
  };
  const reader = openLedgerReader(read, async () => head);
  // The machine may be shared: the best of some rounds, each a median.
  const medians: number[] = [];
  let most = 0;
  for (let round = 0; round < 5; round += 1) {
    const taken: number[] = [];
    for (let n = 0; n < proofs; n += 1) {
      const index = ((round * proofs + n) * 7_919_933) % millionth;
      files.clear();
      taken.push(await timed(() => reader.prove(index)));
      most = Math.max(most, files.size);
    }
    medians.push(median(taken));
  }
  const { grownMb, ms } = auditApart(directory);
  const perSecond = `${((millionth / ms) * 1000).toFixed(0)} entries/s, filled in ${(filled / 1000).toFixed(1)} s`;
  return [
    figure(
      'an inclusion proof out of 1,000,000, median',
      Math.min(...medians),
      5,
      'ms',
      `medians of ${proofs}: ${medians.map((one) => one.toFixed(1)).join(', ')}`,
    ),
    figure(
      'files read for one, at most',
      most,
      8,
      '',
      'O(log n): two for a level of tiles, checkpoint, entries',
    ),
    figure('memory grown by an audit of 1,000,000', grownMb, 64, 'MB', perSecond),
  ].every(Boolean);
}

/** Audits in a process of its own: what this one has held already would hide what an audit takes. */
function auditApart(directory: string): { readonly grownMb: number; readonly ms: number } {
  const child = spawnSync(process.execPath, [import.meta.filename, 'audit', directory], { encoding: 'utf8' });
  if (child.status !== 0) throw new Error(child.stderr);
  return JSON.parse(child.stdout);
}

async function auditHere(directory: string): Promise<void> {
  const read = readFrom(directory);
  const head = parseCheckpoint(Buffer.from((await read('checkpoint')) ?? []).toString());
  const before = process.resourceUsage().maxRSS;
  const ms = await timed(() => auditLedger(read, head));
  const grownMb = (process.resourceUsage().maxRSS - before) / 1024;
  process.stdout.write(JSON.stringify({ grownMb, ms }));
}

type Add = SharedLedger['add'];

/** The same tree, batches, checkpoints and proofs, kept in memory: nothing is checked, recorded or made durable. */
function memoryLog(signer: Signer): Add {
  const key = ledgerKeyFor('memory', parsePublicKey(signer.publicKeyPem));
  const files = new Map<string, Uint8Array>();
  const read = async (path: string) => files.get(path);
  let head: TreeHead = { size: 0, root: emptyRoot };
  let waiting: { readonly body: Uint8Array; readonly settle: (proof: LogProof) => void }[] = [];
  let running: Promise<void> | undefined;
  async function run(): Promise<void> {
    await new Promise(setImmediate);
    while (waiting.length > 0) {
      const batch = waiting.slice(0, perBatch);
      waiting = waiting.slice(perBatch);
      const { size } = head;
      const growth = await growTree(
        head,
        batch.map(({ body }) => body),
        read,
      );
      for (const [path, bytes] of growth.files) files.set(path, bytes);
      head = growth.head;
      const prove = proofsIn(await signCheckpoint(growth.head, signer, key), read);
      for (const [at, { body, settle }] of batch.entries()) settle(await prove(size + at, body));
    }
    running = undefined;
  }
  return (body) => {
    const { promise, resolve } = Promise.withResolvers<LogProof>();
    waiting.push({ body, settle: resolve });
    if (running === undefined) running = run();
    return promise;
  };
}

const shared = sized(40_000, 200);
const callers = sized(1_000, 20);
const perBatch = 500;

/** Every caller waits for its proof before it sends the next entry. */
async function fill(bodies: readonly Buffer[], add: Add): Promise<void> {
  const waiting = bodies.entries();
  await Promise.all(
    Array.from({ length: callers }, async () => {
      for (const [n, body] of waiting) await add(body, `repository-${n % 50}`);
    }),
  );
}

/** The shared ledger against a tree in memory, by the same 1,000 callers: at least 60 % of its appends. */
async function benchShared(root: string): Promise<boolean> {
  const runner = parsePublicKey(toSigner(generateKey('ecdsa-p256-sha256'), false).publicKeyPem);
  const signature = Buffer.alloc(70, 7);
  const bodies = Array.from({ length: shared }, (_, n) =>
    buildLogEntry({ payloadType: 'text', payload: Buffer.from(`${n}`), signature, keyId: '' }, runner),
  );
  const signer = toSigner(generateKey('ed25519'), false);
  let rounds = 0;
  const times = await interleaved(5, {
    memory: () => fill(bodies, memoryLog(signer)),
    shared: async () => {
      rounds += 1;
      const ledger = await openSharedLedger({
        directory: join(root, `shared-${rounds}`),
        signer,
        memory: openCheckpointMemory(join(root, `shared-${rounds}-memory`)),
        clock: systemClock,
      });
      await fill(bodies, ledger.add);
      await ledger.close();
    },
  });
  const rate = (ms: number): string => ((shared / ms) * 1000).toFixed(0);
  return figure(
    `${shared} entries in a shared ledger / in a tree in memory`,
    times.shared / times.memory,
    1.67,
    'x',
    `${rate(times.shared)} against ${rate(times.memory)} entries/s with proofs: ${((times.memory / times.shared) * 100).toFixed(0)} %`,
  );
}

if (process.argv[2] === 'audit') await auditHere(process.argv[3] ?? '');
else await benchAll();

async function benchAll(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'writ-bench-ledger-'));
  try {
    const held = [await benchAppend(root), await benchShared(root), await benchMillion(root)];
    printTable();
    process.exitCode = held.every(Boolean) ? 0 : 1;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
