import { parseEntries } from './entry-bundle.ts';
import { emptyRoot, leafHash, nodeHash } from './merkle/hash.ts';
import type { TreeHead } from './merkle/verify-consistency.ts';
import { tilePath, tileWidth, widthAt } from './tile-path.ts';
import { corrupt, type LedgerFileReader, readTile, rootOf } from './tile-reader.ts';

/** The tile of one level that is being filled. */
interface Edge {
  index: number;
  width: number;
  readonly hashes: Buffer;
}

/**
 * Reads a whole ledger: the tree is computed anew from the entries alone, every stored tile must be a tile of it, and
 * its root that of `head`. LEDGER_CORRUPT names the first file that is not. Each file is read once; one bundle and one
 * tile of each level are in memory.
 */
export async function auditLedger(read: LedgerFileReader, head: TreeHead): Promise<void> {
  const edges: Edge[] = [];

  async function add(level: number, hash: Buffer): Promise<void> {
    edges[level] ??= { index: 0, width: 0, hashes: Buffer.alloc(tileWidth * 32) };
    const edge = edges[level];
    hash.copy(edge.hashes, edge.width * 32);
    edge.width += 1;
    if (edge.width < tileWidth) return;
    await compare(read, level, edge);
    const root = rootOf(edge.hashes);
    edge.index += 1;
    edge.width = 0;
    await add(level + 1, root);
  }

  for (let bundle = 0; bundle * tileWidth < head.size; bundle += 1) {
    const width = widthAt(0, bundle, head.size);
    const path = tilePath('entries', bundle, width);
    const entries = parseEntries(Buffer.from((await read(path)) ?? []));
    if (entries?.length !== width) throw corrupt('entries are missing', path);
    for (const entry of entries) await add(0, leafHash(entry));
  }
  for (const [level, edge] of edges.entries()) if (edge.width > 0) await compare(read, level, edge);
  if (!rootOfEdges(edges).equals(head.root)) throw corrupt('entries and checkpoint disagree', 'checkpoint');
}

async function compare(read: LedgerFileReader, level: number, { index, width, hashes }: Edge): Promise<void> {
  const path = tilePath(level, index, width);
  const tile = await readTile(read, path, width);
  if (tile.equals(hashes.subarray(0, width * 32))) return;
  if (level === 0) throw corrupt('entries do not have their hashes', tilePath('entries', index, width));
  throw corrupt('a tile does not follow from those below it', path);
}

/** RFC 6962 root: the complete subtrees of the right edge, smallest first, each with what is right of it. */
function rootOfEdges(edges: readonly Edge[]): Buffer {
  let root: Buffer | undefined;
  for (const { width, hashes } of edges) {
    let end = width;
    for (let span = 1; end > 0; span *= 2) {
      if (end % (span * 2) === 0) continue;
      const subtree = rootOf(hashes.subarray((end - span) * 32, end * 32));
      root = root === undefined ? subtree : nodeHash(subtree, root);
      end -= span;
    }
  }
  return root ?? emptyRoot;
}
