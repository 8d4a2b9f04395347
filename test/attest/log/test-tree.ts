import { parsePublicKey } from '../../../attest/encoding/public-key.ts';
import { generateKey, toSigner } from '../../../attest/keys/key-signer.ts';
import { type SignedCheckpoint, signCheckpoint } from '../../../attest/log/checkpoint.ts';
import { leafHash, rangeHash, type SubtreeReader } from '../../../attest/log/merkle.ts';
import { type LedgerKey, ledgerKeyFor } from '../../../attest/log/note.ts';
import {
  proveConsistency,
  proveInclusion,
  readSubtrees,
  rootOf,
  tilePath,
  tileWidth,
} from '../../../attest/log/tiles.ts';
import type { OutsideLog, OutsideProof } from '../../../core/interfaces/sealing.ts';

/** A log in hand: a real tree under a real key, which its holder can make into any other. */
export interface TestTree extends Required<OutsideLog> {
  readonly key: LedgerKey;
  readonly entries: Buffer[];
  /** Signed, of the first `size` entries; all of them by default. */
  head(size?: number): Promise<SignedCheckpoint>;
  subtree(size: number): SubtreeReader;
  tile(path: string, size?: number): Buffer | undefined;
  /** Where the entry stands, in the tree of the first `size`. */
  prove(index: number, size?: number): Promise<OutsideProof>;
  /** Another log of the same key whose first `at` entries are the same, and whose next `more` are not. */
  fork(at: number, more: number): TestTree;
}

const signer = toSigner(generateKey('ed25519'), false);
const ownKey = ledgerKeyFor('log.example/test', parsePublicKey(signer.publicKeyPem));

/** A tree of so many entries. */
export function testTree(
  count: number,
  given: readonly Buffer[] = [],
  told = 'entry',
  key: LedgerKey = ownKey,
): TestTree {
  const entries = [...given];
  for (let n = 0; n < count; n += 1) entries.push(Buffer.from(`${told} ${n}`));
  const leaves = (size: number) => entries.slice(0, size).map(leafHash);
  const tiles = (size: number) => new Map(tilesOver(leaves(size)));
  const subtree = (size: number): SubtreeReader => {
    const files = tiles(size);
    return readSubtrees(async (path) => files.get(path), size);
  };
  const head = async (size = entries.length): Promise<SignedCheckpoint> =>
    signCheckpoint({ size, root: await rootOver(leaves(size)) }, signer, key);
  const prove = async (logIndex: number, treeSize = entries.length): Promise<OutsideProof> => {
    const { source: checkpoint, root: rootHash, ...rest } = await head(treeSize);
    const at = { ...rest, root: rootHash };
    const hashes = await proveInclusion(logIndex, at, subtree(treeSize));
    return { logIndex, treeSize, rootHash, hashes, checkpoint };
  };
  return {
    key,
    entries,
    head,
    subtree,
    prove,
    tile: (path, size = entries.length) => tiles(size).get(path),
    fork: (at, more) => testTree(more, entries.slice(0, at), 'other', key),
    size: async () => entries.length,
    async append(body) {
      entries.push(Buffer.from(body));
      return prove(entries.length - 1);
    },
    async consistency(from, to) {
      if (to > entries.length) throw new RangeError(`there are ${entries.length} entries`);
      return { hashes: await proveConsistency(from, await head(to), subtree(to)) };
    },
  };
}

/** Every hash tile of the tree over these leaves, by path (C2SP tlog-tiles). */
export function* tilesOver(leaves: readonly Buffer[]): Generator<readonly [path: string, bytes: Buffer]> {
  let hashes = leaves;
  for (let level = 0; hashes.length > 0; level += 1) {
    const above: Buffer[] = [];
    for (let index = 0; index * tileWidth < hashes.length; index += 1) {
      const own = hashes.slice(index * tileWidth, (index + 1) * tileWidth);
      const bytes = Buffer.concat(own);
      yield [tilePath(level, index, own.length), bytes];
      if (own.length === tileWidth) above.push(rootOf(bytes));
    }
    hashes = above;
  }
}

/** RFC 6962 root over leaves. */
export async function rootOver(leaves: readonly Buffer[]): Promise<Buffer> {
  const tiles = new Map(tilesOver(leaves));
  return rangeHash(
    { start: 0, end: leaves.length },
    readSubtrees(async (path) => tiles.get(path), leaves.length),
  );
}
