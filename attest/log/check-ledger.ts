/* Recomputes a ledger from its entries: audits it, reports everything that is wrong, and rebuilds its tiles. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../core/base/clock.ts';
import { isWritError } from '../../core/base/errors.ts';
import type { LedgerFindings } from '../../store/stored-object.ts';
import { type Checkpoint, parseCheckpoint, verifyCheckpoint } from './checkpoint.ts';
import type { CheckpointMemory } from './checkpoint-memory.ts';
import { takeLock, writeDurably } from './ledger-files.ts';
import { emptyRoot, leafHash, nodeHash, rangeHash, type TreeHead } from './merkle.ts';
import type { LedgerKey } from './note.ts';
import {
  corrupt,
  isPartOf,
  type LedgerFileReader,
  type LogVersion,
  parseEntries,
  readFrom,
  readSubtrees,
  rootOf,
  tilePath,
  tileWidth,
  widthAt,
} from './tiles.ts';

/** One hash tile of a tree, full or at its right edge. */
interface Tile {
  readonly level: number;
  readonly index: number;
  readonly width: number;
  readonly hashes: Buffer;
}

/**
 * Computes the RFC 6962 root of a ledger from its entries alone and passes every hash tile of the tree to `onTile`.
 * Reads each bundle once and holds one tile of each level in memory. LEDGER_CORRUPT where entries are missing.
 */
async function treeOverEntries(
  read: LedgerFileReader,
  size: number,
  onTile: (tile: Tile) => Promise<void>,
): Promise<Buffer> {
  const edges: { index: number; width: number; readonly hashes: Buffer }[] = [];

  async function add(level: number, hash: Buffer): Promise<void> {
    edges[level] ??= { index: 0, width: 0, hashes: Buffer.alloc(tileWidth * 32) };
    const edge = edges[level];
    hash.copy(edge.hashes, edge.width * 32);
    edge.width += 1;
    if (edge.width < tileWidth) return;
    await onTile({ level, ...edge });
    const root = rootOf(edge.hashes);
    edge.index += 1;
    edge.width = 0;
    await add(level + 1, root);
  }

  for (let bundle = 0; bundle * tileWidth < size; bundle += 1) {
    const { path, entries } = await readBundle(read, bundle, size);
    if (entries === undefined) throw corrupt('entries are missing', path);
    for (const entry of entries) await add(0, leafHash(entry));
  }
  let root: Buffer | undefined;
  for (const [level, { index, width, hashes }] of edges.entries()) {
    if (width > 0) await onTile({ level, index, width, hashes: hashes.subarray(0, width * 32) });
    // The complete subtrees of the right edge, smallest first, each joined with everything to its right.
    for (let end = width, span = 1; end > 0; span *= 2) {
      if (end % (span * 2) === 0) continue;
      const subtree = rootOf(hashes.subarray((end - span) * 32, end * 32));
      root = root === undefined ? subtree : nodeHash(subtree, root);
      end -= span;
    }
  }
  return root ?? emptyRoot;
}

/** The entries of a bundle; `undefined` where the bundle is absent or does not hold exactly its entries. */
async function readBundle(
  read: LedgerFileReader,
  bundle: number,
  size: number,
): Promise<{ readonly path: string; readonly entries: readonly Buffer[] | undefined }> {
  const width = widthAt(0, bundle, size);
  const path = tilePath('entries', bundle, width);
  const entries = parseEntries(Buffer.from((await read(path)) ?? []));
  return { path, entries: entries?.length === width ? entries : undefined };
}

/**
 * Requires that every stored tile follows from the entries, and the root of `head` too. LEDGER_CORRUPT names the first
 * file that does not.
 */
export async function auditLedger(read: LedgerFileReader, head: TreeHead): Promise<void> {
  const { root, wrong } = await findWrongTiles(read, head.size);
  const [first] = wrong;
  if (first)
    throw corrupt(
      `a tile ${first.isMissing ? 'is missing' : 'does not follow from the entries'}`,
      first.path,
    );
  if (!root.equals(head.root)) throw corrupt('entries and checkpoint disagree', 'checkpoint');
}

/**
 * Writes every tile that does not match the entries, and returns the paths. Throws LEDGER_CORRUPT, before any write,
 * if the entries do not lead to the checkpoint's root: neither can be derived from the other.
 */
export async function rebuildLedger(directory: string, clock: Clock): Promise<readonly string[]> {
  const read = readFrom(directory);
  if ((await read('checkpoint')) === undefined) return [];
  const lock = await takeLock(directory, clock);
  try {
    const head = parseCheckpoint(Buffer.from((await read('checkpoint')) ?? []).toString('utf8'));
    const { root, wrong } = await findWrongTiles(read, head.size);
    if (!root.equals(head.root))
      throw corrupt('the entries do not lead to the root of the checkpoint', 'checkpoint');
    const temporary = join(directory, 'tmp');
    await mkdir(temporary, { recursive: true });
    await writeDurably(directory, new Map(wrong.map(({ path, expected }) => [path, expected])), temporary);
    return wrong.map(({ path }) => path);
  } finally {
    await lock.release();
  }
}

interface WrongTile {
  readonly path: string;
  readonly expected: Buffer;
  readonly isMissing: boolean;
}

async function findWrongTiles(
  read: LedgerFileReader,
  size: number,
): Promise<{ readonly root: Buffer; readonly wrong: readonly WrongTile[] }> {
  const wrong: WrongTile[] = [];
  const root = await treeOverEntries(read, size, async ({ level, index, width, hashes }) => {
    const path = tilePath(level, index, width);
    const found = await read(path);
    if (found !== undefined && hashes.equals(found)) return;
    wrong.push({ path, expected: Buffer.from(hashes), isMissing: found === undefined });
  });
  return { root, wrong };
}

export interface CheckLedgerOptions {
  /**
   * The user's key under the name of a log; `undefined` where there is none. The signature of another user's ledger is
   * not checked.
   */
  readonly keyFor: (origin: string) => Promise<LedgerKey | undefined>;
  readonly memory: CheckpointMemory;
  /** The copy of a log in git, which another machine may have continued. */
  readonly mirrorOf?: (origin: string) => Promise<LogVersion | undefined>;
}

const maxRounds = 5;

type LedgerProblem = LedgerFindings['problems'][number];

/**
 * Checks a whole ledger and reports everything that is wrong: the checkpoint and its signature, whether it shrank or
 * forked since this user saw it last, each entry against its hash, each tile against the entries. An absent ledger is
 * no problem.
 */
export async function checkLedger(
  read: LedgerFileReader,
  options: CheckLedgerOptions,
): Promise<LedgerFindings> {
  for (let round = 1; ; round += 1) {
    const before = await read('checkpoint');
    const findings = await checkOnce(read, options, before);
    const after = findings.problems.length === 0 ? before : await read('checkpoint');
    // An append in between replaces partial tiles.
    const isSame = Buffer.from(before ?? []).equals(Buffer.from(after ?? []));
    if (isSame || round === maxRounds) return findings;
  }
}

async function checkOnce(
  read: LedgerFileReader,
  options: CheckLedgerOptions,
  bytes: Uint8Array | undefined,
): Promise<LedgerFindings> {
  if (bytes === undefined)
    return { entries: 0, problems: (await hasTiles(read)) ? [broken('tiles without a checkpoint')] : [] };
  let head: Checkpoint;
  try {
    head = parseCheckpoint(Buffer.from(bytes).toString('utf8'));
  } catch (fault) {
    if (!isWritError(fault, 'ATTESTATION_MALFORMED')) throw fault;
    return { entries: 0, problems: [broken(fault.message)] };
  }
  const key = await options.keyFor(head.origin);
  const problems = [
    ...(key ? checkSignature(head, key) : []),
    ...(key ? await checkMemory(head, key, options) : []),
    ...(await checkTree(read, head)),
  ];
  return { entries: head.size, problems };
}

/** Looks for the first tile of level 0 in any width. */
async function hasTiles(read: LedgerFileReader): Promise<boolean> {
  for (let width = 1; width <= tileWidth; width += 1)
    if ((await read(tilePath(0, 0, width))) !== undefined) return true;
  return false;
}

function broken(what: string): LedgerProblem {
  return { code: 'ledger-checkpoint', where: 'ledger:checkpoint', what };
}

function checkSignature(head: Checkpoint, key: LedgerKey): readonly LedgerProblem[] {
  try {
    verifyCheckpoint(head.source, [key]);
    return [];
  } catch (fault) {
    if (isWritError(fault, 'VERIFY_REFUTED') && fault.detail.reason === 'untrusted-log') return [];
    if (!isWritError(fault, 'VERIFY_REFUTED') && !isWritError(fault, 'ATTESTATION_MALFORMED')) throw fault;
    return [broken('its signature is wrong')];
  }
}

async function checkMemory(
  head: Checkpoint,
  { keyId }: LedgerKey,
  { memory, mirrorOf }: CheckLedgerOptions,
): Promise<readonly LedgerProblem[]> {
  const seen = await memory.latest({ origin: head.origin, keyId });
  if (seen === undefined || seen.size < head.size) return [];
  if (seen.size === head.size)
    return seen.root.equals(head.root) ? [] : [broken('it was seen with another root')];
  const mirror = await mirrorOf?.(head.origin);
  // Another machine continued the log, and this ledger goes on from the copy in git.
  if (mirror && (await holds(isPartOf(seen, mirror))) && (await holds(isPartOf(head, mirror)))) return [];
  return [{ ...broken(`it was seen with ${seen.size} entries and has ${head.size} now`), from: head.size }];
}

async function checkTree(read: LedgerFileReader, head: Checkpoint): Promise<readonly LedgerProblem[]> {
  if (await holds(auditLedger(read, head))) return [];
  const found = await ifWhole(findWrongTiles(read, head.size));
  // The checkpoint signed these entries, so a tile that does not follow from them is the one that is wrong.
  if (found?.root.equals(head.root))
    return found.wrong.map(({ path, isMissing }) => ({
      code: 'ledger-tile',
      where: `ledger:${path}`,
      what: isMissing ? 'it is missing' : 'it does not follow from the entries',
    }));
  const problems = await checkEntries(read, head.size);
  const root = await ifWhole(rangeHash({ start: 0, end: head.size }, readSubtrees(read, head.size)));
  if (root?.equals(head.root) && problems.length > 0) return problems;
  return [...problems, broken('neither entries nor tiles lead to its root')];
}

/** The value, or `undefined` where the ledger is damaged. */
async function ifWhole<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (fault) {
    if (isWritError(fault, 'LEDGER_CORRUPT')) return undefined;
    throw fault;
  }
}

/** False for `false` and for a damaged ledger. */
async function holds(work: Promise<unknown>): Promise<boolean> {
  return (await ifWhole(work.then((value) => value !== false))) === true;
}

async function checkEntries(read: LedgerFileReader, size: number): Promise<readonly LedgerProblem[]> {
  const problems: LedgerProblem[] = [];
  for (let bundle = 0; bundle * tileWidth < size; bundle += 1) {
    const { path, entries } = await readBundle(read, bundle, size);
    const width = widthAt(0, bundle, size);
    const tile = await read(tilePath(0, bundle, width));
    for (let at = 0; at < width; at += 1) {
      const index = bundle * tileWidth + at;
      const entry = entries?.[at];
      const expected = tile && Buffer.from(tile).subarray(at * 32, at * 32 + 32);
      const what =
        entry === undefined
          ? 'cannot be read'
          : expected === undefined || leafHash(entry).equals(expected)
            ? undefined
            : 'does not have its hash';
      if (what)
        problems.push({
          code: 'ledger-entry',
          where: `ledger:${path}`,
          what: `entry ${index} ${what}`,
          index,
        });
    }
  }
  return problems;
}
