/* `npm run bench:ledger`: the ledger's figures of issue 5, as ratios and limits measured in one run. Exit 1 where one is missed. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKey, toSigner } from '../attest/keys/key-signer.ts';
import { auditLedger } from '../attest/log/check-ledger.ts';
import { parseCheckpoint } from '../attest/log/checkpoint.ts';
import { openCheckpointMemory } from '../attest/log/checkpoint-memory.ts';
import { createInternalLedger, type InternalLedger } from '../attest/log/internal-ledger.ts';
import { openLedgerReader } from '../attest/log/ledger-reader.ts';
import { leafHash } from '../attest/log/merkle.ts';
import { readFrom } from '../attest/log/tiles.ts';
import { systemClock } from '../core/base/clock.ts';
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

if (process.argv[2] === 'audit') await auditHere(process.argv[3] ?? '');
else await benchAll();

async function benchAll(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'writ-bench-ledger-'));
  try {
    const held = [await benchAppend(root), await benchMillion(root)];
    printTable();
    process.exitCode = held.every(Boolean) ? 0 : 1;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
