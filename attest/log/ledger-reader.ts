import { WritError } from '../../core/base/errors.ts';
import type { LogProof } from '../../core/interfaces/sealing.ts';
import type { SignedCheckpoint } from './checkpoint.ts';
import { parseEntries } from './entry-bundle.ts';
import { proveConsistency, proveInclusion } from './ledger-proofs.ts';
import { leafHash } from './merkle/hash.ts';
import { rangeHash, type SubtreeReader } from './merkle/range-hash.ts';
import { isConsistent, type TreeHead } from './merkle/verify-consistency.ts';
import { tilePath, tileWidth, widthAt } from './tile-path.ts';
import { corrupt, type LedgerFileReader, readSubtrees, readTile } from './tile-reader.ts';

/** Two sizes of one log, and why the earlier is a prefix of the later. */
export interface ConsistencyProof {
  readonly from: TreeHead;
  readonly to: TreeHead;
  readonly hashes: readonly Buffer[];
  /** The signed head that both were shown to be prefixes of. */
  readonly head: SignedCheckpoint;
}

/** What anybody can read out of a ledger's files who knows its key. */
export interface LedgerReader {
  /** The current tree head, signature checked; `undefined` where there is no ledger. */
  head(): Promise<SignedCheckpoint | undefined>;
  /** Entry and proof against the current head. LEDGER_MISSING, LOG_FAILED for an index outside the tree. */
  prove(index: number): Promise<LogProof>;
  /**
   * RFC 6962 consistency proof between two sizes, the later by default that of the head; verified before it is given
   * out. LEDGER_MISSING, LOG_FAILED for sizes that are none.
   */
  consistency(from: number, to?: number): Promise<ConsistencyProof>;
  /** Proof for an entry of exactly these bytes, newest first; `undefined` where it was never logged. */
  find(body: Uint8Array): Promise<LogProof | undefined>;
}

const maxRounds = 10;

/** Reads a ledger through `read`; `verify` judges the checkpoint. Damage is LEDGER_CORRUPT. */
export function openLedgerReader(
  read: LedgerFileReader,
  verify: (source: string) => Promise<SignedCheckpoint>,
): LedgerReader {
  async function head(): Promise<SignedCheckpoint | undefined> {
    const bytes = await read('checkpoint');
    return bytes === undefined ? undefined : verify(Buffer.from(bytes).toString('utf8'));
  }

  /** Runs again where an append replaced the tiles of the head just read. */
  async function reading<T>(work: (head: SignedCheckpoint) => Promise<T>): Promise<T> {
    for (let round = 1; ; round += 1) {
      const current = await head();
      if (current === undefined) throw new WritError('LEDGER_MISSING');
      try {
        return await work(current);
      } catch (fault) {
        const moved = (await head())?.size !== current.size;
        if (!moved || round === maxRounds) throw fault;
      }
    }
  }

  return {
    head,
    prove: (index) => reading((current) => proveEntry(index, current, read)),
    consistency: (from, to) =>
      reading((current) => proveSizes(from, to ?? current.size, current, readSubtrees(read, current.size))),
    find: async (body) => {
      if ((await head()) === undefined) return undefined;
      return reading(async (current) => {
        const index = await indexOfEntry(body, current.size, 0, read);
        return index === undefined ? undefined : proveEntry(index, current, read);
      });
    },
  };
}

/** Entry `index` and its proof in the tree of `head`; O(log n) files are read. */
export async function proveEntry(
  index: number,
  head: SignedCheckpoint,
  read: LedgerFileReader,
): Promise<LogProof> {
  if (!Number.isSafeInteger(index) || index < 0 || index >= head.size) {
    throw new WritError('LOG_FAILED', {
      message: `expected an entry number below ${head.size}, found \`${index}\``,
      detail: { index, size: head.size },
    });
  }
  const subtree = readSubtrees(read, head.size);
  const bundle = Math.floor(index / tileWidth);
  const path = tilePath('entries', bundle, widthAt(0, bundle, head.size));
  const [hashes, bytes] = await Promise.all([proveInclusion(index, head, subtree), read(path)]);
  const entries = parseEntries(Buffer.from(bytes ?? []));
  const body = entries?.[index % tileWidth];
  if (body === undefined || !leafHash(body).equals(await subtree(0, index))) {
    throw corrupt('an entry does not have its hash', path);
  }
  return toProof(head, index, hashes, body);
}

/** Number of the newest entry of these bytes at `from` or later, by the hash tiles alone; whoever uses it proves it. */
export async function indexOfEntry(
  body: Uint8Array,
  size: number,
  from: number,
  read: LedgerFileReader,
): Promise<number | undefined> {
  const leaf = leafHash(body);
  for (let tile = Math.ceil(size / tileWidth) - 1; tile >= 0 && (tile + 1) * tileWidth > from; tile -= 1) {
    const width = widthAt(0, tile, size);
    const hashes = await readTile(read, tilePath(0, tile, width), width);
    for (let at = width - 1; at >= 0 && tile * tileWidth + at >= from; at -= 1)
      if (hashes.subarray(at * 32, at * 32 + 32).equals(leaf)) return tile * tileWidth + at;
  }
  return undefined;
}

/** A proof as verifiers keep it. */
export function toProof(
  head: SignedCheckpoint,
  logIndex: number,
  hashes: readonly Uint8Array[],
  body: Uint8Array,
): LogProof {
  return {
    origin: head.origin,
    logIndex,
    treeSize: head.size,
    rootHash: head.root,
    hashes,
    checkpoint: head.source,
    body,
  };
}

async function proveSizes(
  from: number,
  to: number,
  head: SignedCheckpoint,
  subtree: SubtreeReader,
): Promise<ConsistencyProof> {
  for (const size of [from, to]) {
    if (Number.isSafeInteger(size) && size >= 0 && size <= head.size) continue;
    throw new WritError('LOG_FAILED', {
      message: `expected a size up to ${head.size}, found \`${size}\``,
      detail: { size, head: head.size },
    });
  }
  if (from > to) {
    throw new WritError('LOG_FAILED', {
      message: `expected the smaller size first, found \`${from}\` and \`${to}\``,
      detail: { from, to },
    });
  }
  const rootAt = async (size: number): Promise<TreeHead> => ({
    size,
    root: size === head.size ? head.root : await rangeHash({ start: 0, end: size }, subtree),
  });
  const [earlier, later] = [await rootAt(from), await rootAt(to)];
  const hashes = await proveConsistency(from, later, subtree);
  const onward = await proveConsistency(to, head, subtree);
  if (!isConsistent(earlier, later, hashes) || !isConsistent(later, head, onward))
    throw corrupt('tiles and checkpoint disagree', `sizes ${from} and ${to}`);
  return { from: earlier, to: later, hashes, head };
}
