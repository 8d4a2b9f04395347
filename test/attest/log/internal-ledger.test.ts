import { createPublicKey } from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { generateKey, toSigner } from '../../../attest/keys/key-signer.ts';
import { auditLedger } from '../../../attest/log/check-ledger.ts';
import { parseCheckpoint, signCheckpoint, verifyCheckpoint } from '../../../attest/log/checkpoint.ts';
import { openCheckpointMemory } from '../../../attest/log/checkpoint-memory.ts';
import { createInternalLedger, growTree, type InternalLedger } from '../../../attest/log/internal-ledger.ts';
import { takeLock } from '../../../attest/log/ledger-files.ts';
import { noLogSource } from '../../../attest/log/log-sections.ts';
import { isConsistent, leafHash, rootFromInclusion } from '../../../attest/log/merkle.ts';
import { ledgerKeyFor, parseVkey } from '../../../attest/log/note.ts';
import { readFrom, tilePath } from '../../../attest/log/tiles.ts';
import { systemClock } from '../../../core/base/clock.ts';
import type { LogProof } from '../../../core/interfaces/sealing.ts';
import { ownIdentity } from '../../../workspace/process/process-lock.ts';
import { long } from '../../rooms/long.ts';
import { instant } from '../../waiting/instant.ts';
import { until } from '../../waiting/until.ts';
import { sealingPlace } from '../sealing-place.ts';
import { type LedgerPlace, makePlace, openLedger, startAppender } from './ledger-fixture.ts';

// Every append is made durable, and disks differ.
t.setTimeout(180_000);
t.teardown(() => {
  for (const place of places) rmSync(place.root, { recursive: true, force: true });
});
const places: LedgerPlace[] = [];
function newPlace(): LedgerPlace {
  const place = makePlace();
  places.push(place);
  return place;
}

/** Copies of one ledger as it stood at some sizes: filling one anew for each test would take most of the time. */
const snapshots = new Map<number, LedgerPlace>();
function snapshot(place: LedgerPlace, size: number): void {
  const copy = newPlace();
  cpSync(place.root, copy.root, { recursive: true, force: true });
  snapshots.set(size, { ...copy, signer: place.signer });
}
function placeOf(size: number): LedgerPlace {
  const kept = snapshots.get(size);
  if (kept === undefined) throw new Error(`no ledger of ${size} was kept`);
  const copy = newPlace();
  cpSync(kept.root, copy.root, { recursive: true, force: true });
  return { ...copy, signer: kept.signer };
}

async function fill(ledger: InternalLedger, count: number, name = 'entry'): Promise<LogProof[]> {
  const proofs: LogProof[] = [];
  for (let n = 0; n < count; n += 1) proofs.push(await ledger.append(Buffer.from(`${name} ${n}`)));
  return proofs;
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

t.test('tile paths follow the tlog-tiles specification', async (t) => {
  t.equal(tilePath(0, 1234067, 256), 'tile/0/x001/x234/067');
  t.equal(tilePath(2, 0, 1), 'tile/2/000.p/1');
  t.equal(tilePath('entries', 273, 112), 'tile/entries/273.p/112');
});

t.test('a new ledger is empty, named and signed, and its entries are proven at once and later', async (t) => {
  const place = newPlace();
  const ledger = openLedger(place);
  t.equal(await ledger.head(), undefined);
  const key = parseVkey(await ledger.vkey());
  t.match(await ledger.head(), { size: 0, origin: key.name });
  const proofs = await fill(ledger, 6);
  const last = verifyCheckpoint(proofs.at(-1)?.checkpoint ?? '', [key]);
  t.equal(last.size, 6);
  for (const [n, proof] of proofs.entries()) {
    t.match(proof, { logIndex: n, treeSize: n + 1, origin: key.name });
    t.ok(holds(proof));
    const later = await ledger.prove(n);
    t.equal(later.treeSize, 6);
    t.ok(holds(later));
    t.same(later.body, proof.body);
    const { hashes, head } = await ledger.consistency(n + 1);
    t.ok(isConsistent({ size: n + 1, root: proof.rootHash }, head, hashes));
  }
  t.match(await ledger.find(Buffer.from('entry 2')), { logIndex: 2 });
  t.equal(await ledger.find(Buffer.from('entry 9')), undefined);
  await t.rejects(ledger.prove(6), { code: 'LOG_FAILED' });
  await t.rejects(ledger.prove(-1), { code: 'LOG_FAILED' });
  await t.rejects(ledger.consistency(7), { code: 'LOG_FAILED' });
});

t.test('a growing ledger keeps one partial tile per level and reads O(log n) files', async (t) => {
  const place = newPlace();
  const ledger = openLedger(place);
  const proofs = new Map<number, LogProof>();
  const entry = (n: number) => Buffer.from(`entry ${n}`);
  for (const size of [1, 5, 128, 238, ...Array.from({ length: 22 }, (_, n) => 239 + n)]) {
    const from = await ledger.size();
    // All but the last of each stretch in one batch; what a batch makes is looked at elsewhere.
    const before = Array.from({ length: size - 1 - from }, (_, n) => entry(from + n));
    if (before.length > 0) await ledger.appendAll(before);
    proofs.set(size, await ledger.append(entry(size - 1)));
    if ([5, 238, 255, 260].includes(size)) snapshot(place, size);
  }
  t.ok([...proofs.values()].every(holds));
  t.equal(await audit(place), 260);
  t.same(readdirSync(join(place.directory, 'tile/0')).sort(), ['000', '001.p']);
  t.same(readdirSync(join(place.directory, 'tile/0/001.p')), ['4']);
  t.same(readdirSync(join(place.directory, 'tile/1/000.p')), ['1']);
  t.equal(statSync(join(place.directory, 'tile/0/000')).size, 8192);
  for (const index of [0, 127, 255, 256, 259]) t.ok(holds(await ledger.prove(index)), `entry ${index}`);
  for (const size of [1, 128, 255, 256, 257, 260]) {
    const { hashes, head } = await ledger.consistency(size);
    const old = proofs.get(size);
    t.ok(old && isConsistent({ size, root: old.rootHash }, head, hashes), `from ${size}`);
  }
  const reads = new Set<string>();
  const head = await ledger.head();
  if (head === undefined) throw new Error('no head');
  await growTree(head, [Buffer.from('one more')], async (path) => {
    reads.add(path);
    return readFrom(place.directory)(path);
  });
  t.ok(reads.size <= 3, `an append read ${[...reads].join(' ')}`);
});

t.test('an entry must have 1 to 65,535 bytes', async (t) => {
  const ledger = openLedger(newPlace());
  await t.rejects(ledger.append(Buffer.alloc(0)), { code: 'LOG_FAILED' });
  await t.rejects(ledger.append(Buffer.alloc(65_536)), { code: 'LOG_FAILED' });
  t.match(await ledger.append(Buffer.alloc(65_535, 1)), { logIndex: 0 });
  t.ok(holds(await ledger.prove(0)));
});

long('two processes that append concurrently lose no entry and never share an index', async (t) => {
  const place = newPlace();
  const count = 25;
  const writers = ['left', 'right'].map((name) => startAppender(place, name, count));
  const ends = await Promise.all(writers.map(({ ended }) => ended));
  t.same(
    ends.map(({ code }) => code),
    [0, 0],
  );
  const lines = writers.flatMap(({ acknowledged }) => acknowledged());
  const indices = lines.map((line) => Number(line.split(' ')[0])).sort((a, b) => a - b);
  t.same(
    indices,
    Array.from({ length: count * 2 }, (_, n) => n),
  );
  t.equal(await audit(place), count * 2);
  const ledger = openLedger(place);
  for (const line of lines) {
    const [index, ...words] = line.split(' ');
    const { body } = await ledger.prove(Number(index));
    if (Buffer.from(body).toString() !== words.join(' '))
      t.fail(`entry ${index} is not what was acknowledged`);
  }
});

long('`kill -9` during an append loses no acknowledged entry and leaves a valid ledger', async (t) => {
  // From 238 entries on, the first rounds cross a full tile: the append with the most files.
  const place = placeOf(238);
  const temporary = join(place.directory, 'tmp');
  const drafts = (): number => {
    try {
      return readdirSync(temporary).length;
    } catch {
      return 0;
    }
  };
  const acknowledged = new Map<number, string>();
  let size = 238;
  let cut = 0;
  let torn = 0;
  for (let round = 0; round < 20; round += 1) {
    const batch = round % 2 === 0 ? 1 : 1500;
    const writer = startAppender(place, `round-${round}`, 1_500_000, batch);
    await until(() => writer.acknowledged().length >= 1);
    if (batch === 1) await instant((round * 3) % 17);
    else while (drafts() < (round % 5) + 1) await nextTurn();
    writer.child.kill('SIGKILL');
    const { signal } = await writer.ended;
    if (signal === 'SIGKILL') cut += 1;
    if (drafts() > 0) torn += 1;
    for (const line of writer.acknowledged()) {
      const [index, name, first] = line.split(' ');
      for (const at of new Set([0, batch - 1]))
        acknowledged.set(Number(index) + at, `${name} ${Number(first) + at}`);
    }
    const now = await audit(place);
    const added = now - size;
    if (added < writer.acknowledged().length * batch) t.fail(`round ${round}: ${now} after ${size}`);
    if (added % batch !== 0) t.fail(`round ${round}: ${added} entries are no whole batches`);
    size = now;
  }
  t.equal(cut, 20, 'every writer was killed while appending');
  t.ok(torn >= 3, `${torn} of them while files were being written`);
  const ledger = openLedger(place);
  t.match(await ledger.append(Buffer.from('after')), { logIndex: size });
  for (const [index, text] of acknowledged) {
    const proof = await ledger.prove(index);
    if (!holds(proof) || Buffer.from(proof.body).toString() !== text)
      t.fail(`entry ${index} was acknowledged`);
  }
  t.ok(acknowledged.size >= 20);
  t.same(readdirSync(temporary), [], 'litter of the dead is swept away');
});

t.test('tiles left by a torn append are overwritten, even if they filled a tile', async (t) => {
  const place = placeOf(255);
  const ledger = openLedger(place);
  const before = readFileSync(join(place.directory, 'checkpoint'));
  const partial = ['tile/0/000.p/255', 'tile/entries/000.p/255'].map((path) => join(place.directory, path));
  const kept = partial.map((path) => readFileSync(path));
  await ledger.append(Buffer.from('never acknowledged'));
  // Back to the instant before the checkpoint was replaced, on a machine that has not remembered the new one.
  for (const [n, path] of partial.entries()) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, kept[n] ?? '');
  }
  writeFileSync(join(place.directory, 'checkpoint'), before);
  const again = openLedger(place, 'other-memory');
  t.match(await again.append(Buffer.from('the real one')), { logIndex: 255, treeSize: 256 });
  t.equal(Buffer.from((await again.prove(255)).body).toString(), 'the real one');
  t.equal(await audit(place), 256);
});

t.test('a damaged ledger is LEDGER_CORRUPT, and nothing is appended to it', async (t) => {
  const damage: Readonly<Record<string, (directory: string) => void>> = {
    'a flipped bit in the hash tile': (d) => flip(join(d, 'tile/0/000.p/5'), 40),
    'a flipped bit in the entries': (d) => flip(join(d, 'tile/entries/000.p/5'), 4),
    'a rewritten entry with its hash': (d) => rewriteFirst(d),
    'a cut hash tile': (d) => writeFileSync(join(d, 'tile/0/000.p/5'), Buffer.alloc(31)),
    'a missing hash tile': (d) => unlinkSync(join(d, 'tile/0/000.p/5')),
    'missing entries': (d) => unlinkSync(join(d, 'tile/entries/000.p/5')),
    'a lost checkpoint': (d) => unlinkSync(join(d, 'checkpoint')),
    'a cut checkpoint': (d) => writeFileSync(join(d, 'checkpoint'), 'writ-ledger'),
    'a changed size': (d) => edit(join(d, 'checkpoint'), '\n5\n', '\n4\n'),
    'a changed name': (d) => edit(join(d, 'checkpoint'), 'writ-ledger/', 'writ-ladder/'),
  };
  for (const [name, harm] of Object.entries(damage)) {
    const place = placeOf(5);
    harm(place.directory);
    const listing = () =>
      readdirSync(place.directory, { recursive: true })
        .map(String)
        .filter((path) => path.startsWith('tile'))
        .sort();
    const before = listing();
    await t.rejects(openLedger(place).append(Buffer.from('x')), { code: 'LEDGER_CORRUPT' }, name);
    t.same(listing(), before, `${name}: nothing written`);
  }
});

t.test('damage in an older tile is detected by a proof through it and by an audit', async (t) => {
  const place = placeOf(260);
  const ledger = openLedger(place);
  flip(join(place.directory, 'tile/0/000'), 100 * 32);
  await t.rejects(ledger.prove(100), { code: 'LEDGER_CORRUPT' });
  await t.rejects(audit(place), { code: 'LEDGER_CORRUPT', detail: { path: 'tile/0/000' } });
});

t.test('a ledger of another key is LEDGER_FOREIGN and stays unchanged', async (t) => {
  const place = newPlace();
  await fill(openLedger(place), 2);
  const stranger = { ...place, signer: toSigner(generateKey('ed25519'), false) };
  await t.rejects(openLedger(stranger).append(Buffer.from('x')), { code: 'LEDGER_FOREIGN' });
  t.equal(await audit(place), 2);
});

t.test('a ledger restored from a backup refuses appends, which would fork the log', async (t) => {
  const place = newPlace();
  await fill(openLedger(place), 3);
  cpSync(place.directory, join(place.root, 'backup'), { recursive: true });
  await fill(openLedger(place), 2, 'later');
  rmSync(place.directory, { recursive: true });
  cpSync(join(place.root, 'backup'), place.directory, { recursive: true });
  await t.rejects(openLedger(place).append(Buffer.from('x')), { code: 'LEDGER_CORRUPT' });
  t.match(
    await openLedger(place, 'other-memory').append(Buffer.from('x')),
    { logIndex: 3 },
    'only memory can tell',
  );
  await fill(openLedger(place, 'other-memory'), 3, 'another history');
  await t.rejects(
    openLedger(place).append(Buffer.from('x')),
    { code: 'LEDGER_CORRUPT', message: /7 entries do not begin with the 5 that were seen/ },
    'nor where it has grown larger than it was seen',
  );
});

t.test('an append waits for the lock, times out, and takes it over only from a dead process', async (t) => {
  const place = newPlace();
  await fill(openLedger(place), 1);
  const lock = `${place.directory}-lock`;
  const self = await ownIdentity();
  const put = (owner: unknown): void => {
    for (const name of readdirSync(lock)) unlinkSync(join(lock, name));
    writeFileSync(join(lock, 'writer'), typeof owner === 'string' ? owner : JSON.stringify(owner));
  };
  const impatient = openLedger(place, 'memory', 60);
  put(self);
  await t.rejects(
    impatient.append(Buffer.from('a')),
    { code: 'LEDGER_BUSY', detail: { pid: process.pid } },
    'alive',
  );
  put({ ...self, namespace: 'pid:[1]', pid: 999_999 });
  await t.rejects(
    impatient.append(Buffer.from('b')),
    { code: 'LEDGER_BUSY' },
    'of another pid namespace: not provable',
  );
  put('');
  await t.rejects(impatient.append(Buffer.from('c')), { code: 'LEDGER_BUSY' }, 'unreadable: not provable');
  put({ ...self, started: '1' });
  t.ok(await impatient.append(Buffer.from('d')), 'the pid was given to another process');
  put({ ...self, boot: 'another' });
  t.ok(await impatient.append(Buffer.from('e')), 'from before the last boot');
  const { child, ended } = startAppender(newPlace(), 'x', 0);
  const { pid } = child;
  await ended;
  put({ ...self, pid, started: '1' });
  t.ok(await impatient.append(Buffer.from('f')), 'no such process');
  t.same(readdirSync(lock), [], 'a lock that is given back leaves nothing');
});

t.test('concurrent waiters that find the same dead lock owner take turns', async (t) => {
  const place = newPlace();
  const lock = join(place.root, 'lock');
  mkdirSync(lock);
  writeFileSync(join(lock, 'writer'), JSON.stringify({ ...(await ownIdentity()), started: '1' }));
  let inside = 0;
  let most = 0;
  await Promise.all(
    Array.from({ length: 12 }, async () => {
      const held = await takeLock(lock, systemClock, 10_000);
      inside += 1;
      most = Math.max(most, inside);
      await instant(3);
      inside -= 1;
      await held.release();
    }),
  );
  t.equal(most, 1);
});

t.test('remembered checkpoints are found by size, and a second root of one size is a fork', async (t) => {
  const place = newPlace();
  const memory = openCheckpointMemory(join(place.root, 'memory'));
  const key = ledgerKeyFor('example.org/log', createPublicKey(place.signer.publicKeyPem));
  const sign = (size: number, fill: number) =>
    signCheckpoint({ size, root: Buffer.alloc(32, fill) }, place.signer, key);
  const log = { origin: key.name, keyId: key.keyId };
  t.equal(await memory.latest(log), undefined);
  for (const size of [9, 100, 20]) await memory.remember(await sign(size, 1));
  t.match(await memory.latest(log), { size: 100 });
  t.match(await memory.at(log, 20), { size: 20 });
  t.equal(await memory.at(log, 21), undefined);
  await memory.remember(await sign(20, 1));
  await t.rejects(memory.remember(await sign(20, 2)), {
    code: 'VERIFY_REFUTED',
    detail: { reason: 'forked' },
  });
  t.equal(await memory.latest({ ...log, origin: 'example.org/other' }), undefined);

  const both = await Promise.allSettled(
    [3, 4].map(async (fill) => memory.remember(await sign(50, fill), new Map())),
  );
  t.same(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'], 'of two at once, one is kept');
  t.match(
    both.find(({ status }) => status === 'rejected'),
    { reason: { detail: { reason: 'forked' } } },
  );

  const tiles = new Map([['tile/0/000.p/100', Buffer.from('one')]]);
  const tile = join(
    place.root,
    'memory',
    [...readdirSync(join(place.root, 'memory'))].find((name) => name !== 'tmp') ?? '',
    'tile/0/000.p/100',
  );
  await memory.remember(await sign(100, 1), tiles);
  const { ino } = statSync(tile);
  await memory.remember(await sign(100, 1), tiles);
  t.equal(statSync(tile).ino, ino, 'what stands there is not written again');
  writeFileSync(tile, 'two');
  await memory.remember(await sign(100, 1), tiles);
  t.equal(readFileSync(tile, 'utf8'), 'one', 'what differs is');
});

t.test('a failing signer leaves the ledger unchanged', async (t) => {
  const place = newPlace();
  await fill(openLedger(place), 3);
  const checkpoint = readFileSync(join(place.directory, 'checkpoint'), 'utf8');
  const failing = createInternalLedger({
    directory: place.directory,
    signer: async () => ({ ...place.signer, sign: () => Promise.reject(new Error('token removed')) }),
    memory: openCheckpointMemory(join(place.root, 'memory')),
    clock: systemClock,
  });
  await t.rejects(failing.append(Buffer.from('x')), { message: 'token removed' });
  t.equal(readFileSync(join(place.directory, 'checkpoint'), 'utf8'), checkpoint);
  t.match(await openLedger(place).append(Buffer.from('y')), { logIndex: 3 }, 'and the lock was given back');
  t.equal(parseCheckpoint(readFileSync(join(place.directory, 'checkpoint'), 'utf8')).size, 4);
});

t.test('the log mode `none` opens no log', async (t) => {
  const place = sealingPlace('/nowhere', { logMode: 'none' });
  t.equal(await noLogSource.open(place, toSigner(generateKey('ed25519'), false)), undefined);
});

function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

function edit(path: string, from: string, to: string): void {
  writeFileSync(path, readFileSync(path, 'utf8').replace(from, to));
}

/** Replaces entry 0 of a ledger of five by another of its length, and its hash with it. */
function rewriteFirst(directory: string): void {
  const entries = join(directory, 'tile/entries/000.p/5');
  const tile = join(directory, 'tile/0/000.p/5');
  edit(entries, 'entry 0', 'ENTRY 0');
  const hashes = readFileSync(tile);
  leafHash(Buffer.from('ENTRY 0')).copy(hashes);
  writeFileSync(tile, hashes);
}
