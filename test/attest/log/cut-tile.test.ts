import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { auditLedger } from '../../../attest/log/check-ledger.ts';
import { parseCheckpoint } from '../../../attest/log/checkpoint.ts';
import type { InternalLedger } from '../../../attest/log/internal-ledger.ts';
import type { FileWriter } from '../../../attest/log/ledger-files.ts';
import { openLedgerReader, proveEntry } from '../../../attest/log/ledger-reader.ts';
import { leafHash, rootFromInclusion } from '../../../attest/log/merkle.ts';
import { cutFromWider, type LedgerFileReader, readFrom } from '../../../attest/log/tiles.ts';
import { makePlace, openLedger } from './ledger-fixture.ts';

/** Nothing here has to outlive a loss of power. */
const write: FileWriter = async (root, files) => {
  for (const [path, bytes] of files) {
    const target = join(root, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(`${target}.new`, bytes);
    renameSync(`${target}.new`, target);
  }
};

async function ledgerOf(t: Test, size: number) {
  const place = makePlace();
  t.teardown(() => rmSync(place.root, { recursive: true, force: true }));
  const ledger = openLedger(place, 'memory', 60_000, { write });
  await append(ledger, size);
  const head = await ledger.head();
  if (head === undefined) throw new Error('no head');
  return { ledger, head, read: readFrom(place.directory) };
}

async function append(ledger: InternalLedger, count: number): Promise<void> {
  const from = await ledger.size();
  await ledger.appendAll(Array.from({ length: count }, (_, n) => Buffer.from(`entry ${from + n}`)));
}

for (const [size, more] of [
  [5, 1],
  [255, 1],
  [255, 4],
  [260, 300],
] as const)
  t.test(`a reader with an older head of ${size} entries misses no tile after ${more} more`, async (t) => {
    const { ledger, head, read } = await ledgerOf(t, size);
    await append(ledger, more);
    await auditLedger(read, head);
    const { body, hashes } = await proveEntry(size - 1, head, read);
    t.same(rootFromInclusion(size - 1, size, leafHash(body), hashes), head.root);
  });

t.test('a proof succeeds even if entries are appended between reading the head and the tiles', async (t) => {
  const { ledger, head, read } = await ledgerOf(t, 250);
  let appended = 0;
  const busy: LedgerFileReader = async (path) => {
    if (path !== 'checkpoint') {
      await append(ledger, 1);
      appended += 1;
    }
    return read(path);
  };
  const reader = openLedgerReader(busy, async (source) => ({ ...head, ...parseCheckpoint(source) }));
  t.match(await reader.prove(249), { logIndex: 249, treeSize: 250 });
  t.match(await reader.consistency(3), { from: { size: 3 } });
  t.ok(appended > 2, `${appended} appends`);
});

t.test('an entry without its file is LEDGER_CORRUPT and has no proof', async (t) => {
  const { head, read } = await ledgerOf(t, 5);
  const without: LedgerFileReader = async (path) => (path.includes('entries') ? undefined : read(path));
  await t.rejects(proveEntry(2, head, without), {
    code: 'LEDGER_CORRUPT',
    message: /an entry does not have its hash/,
  });
});

t.test('a tile that is replaced during the read is looked up again, up to a limit', async (t) => {
  const tile = (width: number) => Buffer.alloc(width * 32, 7);
  let width = 5;
  const list = async () => {
    width += 1;
    return [String(width), 'x', '999', '05'];
  };
  const gone = (last: number): LedgerFileReader => {
    width = 5;
    return async (path) => (path === `tile/0/000.p/${last}` ? tile(last) : undefined);
  };
  t.same(await cutFromWider('tile/0/000.p/5', gone(9), list), tile(5));
  t.equal(await cutFromWider('tile/0/000.p/5', gone(200), list), undefined, 'not for ever');
  const whole: LedgerFileReader = async (path) => (path === 'tile/0/000' ? tile(256) : undefined);
  t.same(await cutFromWider('tile/0/000.p/5', whole, async () => []), tile(5));
  t.same(await cutFromWider('tile/0/000.p/5', whole, async () => ['4']), tile(5), 'a narrower one is none');
});

t.test('only partial tiles are cut, and only from tiles that are wide enough', async (t) => {
  const asked: string[] = [];
  const read: LedgerFileReader = async (path) => {
    asked.push(path);
    return Buffer.alloc(64);
  };
  const list = async () => [];
  for (const path of ['checkpoint', 'tile/0/000', '../tile/0/000.p/3', 'tile/0/../x.p/3', 'tile/0/000.p/03'])
    t.equal(await cutFromWider(path, read, list), undefined, path);
  t.strictSame(asked, []);
  t.equal(await cutFromWider('tile/0/000.p/3', read, list), undefined, 'two hashes are not three');
  t.equal(await cutFromWider('tile/entries/000.p/33', read, list), undefined, 'nor are so many entries');
});
