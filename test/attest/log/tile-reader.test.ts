import { createHash } from 'node:crypto';
import t from 'tap';
import { nodeHash } from '../../../attest/log/merkle.ts';
import { readSubtrees, rootOf } from '../../../attest/log/tiles.ts';

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();

t.test('a subtree is read from the one tile of its level, and each tile is read once', async (t) => {
  const size = 2 ** 17;
  const asked: string[] = [];
  // Hashes nobody could have: what is read says from which tile it came.
  const tileOf = (path: string, width: number): Buffer =>
    Buffer.concat(Array.from({ length: width }, (_, index) => hashOf(`${path} ${index}`)));
  const read = readSubtrees(async (path) => {
    asked.push(path);
    return tileOf(path, path === 'tile/2/000.p/2' ? 2 : 256);
  }, size);
  const level = (path: string, index: number): Buffer => hashOf(`${path} ${index}`);
  t.strictSame(await read(0, 3), level('tile/0/000', 3));
  t.strictSame(await read(0, 256), level('tile/0/001', 0));
  t.strictSame(await read(7, 1), rootOf(tileOf('tile/0/000', 256).subarray(128 * 32)));
  t.strictSame(await read(8, 3), level('tile/1/000', 3));
  t.strictSame(await read(9, 0), nodeHash(level('tile/1/000', 0), level('tile/1/000', 1)));
  t.strictSame(await read(16, 1), level('tile/2/000.p/2', 1));
  t.strictSame(await read(17, 0), nodeHash(level('tile/2/000.p/2', 0), level('tile/2/000.p/2', 1)));
  t.strictSame(asked, ['tile/0/000', 'tile/0/001', 'tile/1/000', 'tile/2/000.p/2']);
  await t.rejects(read(17, 1), { code: 'LEDGER_CORRUPT' }, 'outside of the tree');
});

t.test('a tile that is missing or has another width is LEDGER_CORRUPT', async (t) => {
  const of = (bytes: Uint8Array | undefined) => readSubtrees(async () => bytes, 2)(1, 0);
  await t.rejects(of(undefined), { code: 'LEDGER_CORRUPT', detail: { missing: true } });
  await t.rejects(of(Buffer.alloc(63)), { code: 'LEDGER_CORRUPT', detail: { path: 'tile/0/000.p/2' } });
});
