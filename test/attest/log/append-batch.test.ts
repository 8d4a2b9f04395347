import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { auditLedger } from '../../../attest/log/check-ledger.ts';
import { type FileWriter, writeDurably } from '../../../attest/log/ledger-files.ts';
import { openLedgerReader } from '../../../attest/log/ledger-reader.ts';
import { leafHash, rootFromInclusion } from '../../../attest/log/merkle.ts';
import { type LedgerFileReader, readFrom } from '../../../attest/log/tiles.ts';
import type { LogProof } from '../../../core/interfaces/sealing.ts';
import { long } from '../../rooms/long.ts';
import { type LedgerPlace, makePlace, openLedger, startAppender } from './ledger-fixture.ts';
import { rootOver, tilesOver } from './test-tree.ts';

t.setTimeout(120_000);
t.teardown(() => {
  for (const place of places) rmSync(place.root, { recursive: true, force: true });
});
const places: LedgerPlace[] = [];
function newPlace(): LedgerPlace {
  const place = makePlace();
  places.push(place);
  return place;
}

function bodies(from: number, to: number): readonly Buffer[] {
  return Array.from({ length: to - from }, (_, n) => Buffer.from(`entry ${from + n}`));
}

function holds(proof: LogProof): boolean {
  const root = rootFromInclusion(proof.logIndex, proof.treeSize, leafHash(proof.body), proof.hashes);
  return root?.equals(proof.rootHash) === true;
}

async function audit(place: LedgerPlace): Promise<number> {
  const head = await openLedger(place).head();
  if (head === undefined) return 0;
  await auditLedger(readFrom(place.directory), head);
  return head.size;
}

function filesOf(place: LedgerPlace): readonly string[] {
  return readdirSync(join(place.directory, 'tile'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(place.directory.length + 1))
    .sort();
}

t.test('batches of any size produce the same tree and files as single entries', async (t) => {
  const place = newPlace();
  const ledger = openLedger(place);
  let size = 0;
  for (const upTo of [1, 4, 255, 256, 257, 600, 1024, 1025]) {
    const { start, head } = await ledger.appendAll(bodies(size, upTo));
    t.equal(start, size);
    t.equal(head.size, upTo);
    size = upTo;
    const leaves = bodies(0, upTo).map(leafHash);
    t.ok((await rootOver(leaves)).equals(head.root), `root of ${upTo}`);
    const tiles = [...tilesOver(leaves)];
    const stored = filesOf(place).filter((path) => !path.startsWith('tile/entries/'));
    t.same(stored, tiles.map(([path]) => path).sort(), `the tiles of ${upTo} and no others`);
    for (const [path, bytes] of tiles)
      if (!readFileSync(join(place.directory, path)).equals(bytes)) t.fail(path);
  }
  t.equal(await audit(place), 1025);
  for (const index of [0, 3, 255, 256, 1024]) {
    const proof = await ledger.prove(index);
    t.ok(holds(proof) && Buffer.from(proof.body).toString() === `entry ${index}`, `entry ${index}`);
  }
  t.match(await ledger.append(Buffer.from('one more')), { logIndex: 1025, treeSize: 1026 });
});

t.test('a batch with an invalid entry writes nothing', async (t) => {
  const place = newPlace();
  const ledger = openLedger(place);
  await ledger.appendAll(bodies(0, 3));
  const before = filesOf(place);
  for (const bad of [Buffer.alloc(0), Buffer.alloc(65_536)])
    await t.rejects(ledger.appendAll([Buffer.from('good'), bad]), { code: 'LOG_FAILED' });
  await t.rejects(ledger.appendAll([]), { code: 'LOG_FAILED' }, 'a batch of nothing is no success');
  t.same(filesOf(place), before);
  await ledger.appendAll([Buffer.alloc(65_535, 1), Buffer.alloc(65_535, 2)]);
  t.ok(holds(await ledger.prove(4)));
  t.equal(await audit(place), 5);
});

t.test('a full disk leaves the ledger unchanged, and appends work again once there is space', async (t) => {
  const place = newPlace();
  await openLedger(place).appendAll(bodies(0, 200));
  const checkpoint = readFileSync(join(place.directory, 'checkpoint'), 'utf8');
  let room = 0;
  const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  const write: FileWriter = async (directory, files, temporary) => {
    for (const file of files) {
      if (room === 0) {
        writeFileSync(join(temporary, 'half'), 'half a fi');
        throw full;
      }
      room -= 1;
      await writeDurably(directory, new Map([file]), temporary);
    }
  };
  const ledger = openLedger(place, 'memory', 15_000, { write });
  // 200 + 400: two full bundles, one partial, three tiles, one of level 1, the checkpoint.
  for (const files of [0, 1, 4, 7]) {
    room = files;
    const refused = { code: 'LOG_FAILED', detail: { reason: 'ENOSPC' } };
    await t.rejects(ledger.appendAll(bodies(200, 600)), refused, `room for ${files}`);
    t.equal(readFileSync(join(place.directory, 'checkpoint'), 'utf8'), checkpoint);
    t.equal(await audit(place), 200);
  }
  t.match(await openLedger(place).appendAll(bodies(200, 600)), { start: 200, head: { size: 600 } });
  t.equal(await audit(place), 600);
  t.same(readdirSync(join(place.directory, 'tmp')), []);
});

long('two concurrent batch writers lose no entry and never share an index', async (t) => {
  const place = newPlace();
  const writers = ['left', 'right'].map((name) => startAppender(place, name, 900, 300));
  for (const { ended } of writers) t.equal((await ended).code, 0);
  const lines = writers.flatMap(({ acknowledged }) => acknowledged());
  t.same(
    lines.map((line) => Number(line.split(' ')[0])).sort((a, b) => a - b),
    [0, 300, 600, 900, 1200, 1500],
  );
  t.equal(await audit(place), 1800);
  const ledger = openLedger(place);
  for (const line of lines) {
    const [start, name, first] = line.split(' ');
    const { body } = await ledger.prove(Number(start) + 299);
    t.equal(Buffer.from(body).toString(), `${name} ${Number(first) + 299}`);
  }
});

t.test('a proof out of 70,000 entries reads O(log n) files', async (t) => {
  const leaves = Array.from({ length: 70_000 }, (_, n) => leafHash(Buffer.from([n >> 16, n >> 8, n])));
  const head = {
    keyId: Buffer.alloc(32),
    origin: 'example.org/log',
    size: leaves.length,
    root: await rootOver(leaves),
    source: '',
  };
  const files = new Map(tilesOver(leaves));
  const index = 69_000;
  const from = index - (index % 256);
  const bundle = leaves.slice(from, from + 256).map((_, at) => {
    const n = from + at;
    return Buffer.from([0, 3, n >> 16, n >> 8, n]);
  });
  files.set('tile/entries/269', Buffer.concat(bundle));
  const asked: string[] = [];
  const read: LedgerFileReader = async (path) => {
    asked.push(path);
    return path === 'checkpoint' ? Buffer.from('a checkpoint') : files.get(path);
  };
  const reader = openLedgerReader(read, async () => head);
  t.ok(holds(await reader.prove(index)));
  t.equal(new Set(asked).size, asked.length, 'each file once');
  t.ok(asked.length <= 8, `it read ${asked.join(' ')}`);
});
