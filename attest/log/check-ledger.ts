import { isWritError } from '../../core/base/errors.ts';
import type { LedgerFindings } from '../../store/problem.ts';
import { auditLedger } from './audit-ledger.ts';
import { type Checkpoint, parseCheckpoint, verifyCheckpoint } from './checkpoint.ts';
import type { CheckpointMemory } from './checkpoint-memory.ts';
import type { LedgerKey } from './ledger-key.ts';
import { readLeaves, rootOver, tilesOver } from './ledger-tiles.ts';
import { isPartOf, type LogVersion } from './log-version.ts';
import { rangeHash } from './merkle/range-hash.ts';
import { tilePath, tileWidth, widthAt } from './tile-path.ts';
import { type LedgerFileReader, readSubtrees } from './tile-reader.ts';

export interface CheckLedgerOptions {
  /**
   * The key of this user under a log's name; `undefined` where there is none. A ledger of somebody else's is not held
   * against its signature.
   */
  readonly keyFor: (origin: string) => Promise<LedgerKey | undefined>;
  readonly memory: CheckpointMemory;
  /** The copy of a log in git, which another machine may have continued. */
  readonly mirrorOf?: (origin: string) => Promise<LogVersion | undefined>;
}

const maxRounds = 5;

type LedgerProblem = LedgerFindings['problems'][number];

/**
 * Looks at a whole ledger and says everything that is wrong: the checkpoint and its signature, whether it shrank or
 * forked since it was seen last, each entry against its hash, each tile against the entries. No ledger is no problem.
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
  const source = Buffer.from(bytes).toString('utf8');
  let head: Checkpoint;
  try {
    head = parseCheckpoint(source);
  } catch (fault) {
    if (!isWritError(fault, 'ATTESTATION_MALFORMED')) throw fault;
    return { entries: 0, problems: [broken(fault.message)] };
  }
  const problems = [
    ...(await checkSignature(head, options.keyFor)),
    ...(await checkMemory(head, options)),
    ...(await checkTree(read, head)),
  ];
  return { entries: head.size, problems };
}

/** The first tile of level 0, of whatever width. */
async function hasTiles(read: LedgerFileReader): Promise<boolean> {
  for (let width = 1; width <= tileWidth; width += 1)
    if ((await read(tilePath(0, 0, width))) !== undefined) return true;
  return false;
}

function broken(what: string): LedgerProblem {
  return { code: 'ledger-checkpoint', where: 'ledger:checkpoint', what };
}

async function checkSignature(
  head: Checkpoint,
  keyFor: CheckLedgerOptions['keyFor'],
): Promise<readonly LedgerProblem[]> {
  const key = await keyFor(head.origin);
  if (!key) return [];
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
  { keyFor, memory, mirrorOf }: CheckLedgerOptions,
): Promise<readonly LedgerProblem[]> {
  const key = await keyFor(head.origin);
  const seen = key && (await memory.latest({ origin: head.origin, keyId: key.keyId }));
  if (seen === undefined || seen.size < head.size) return [];
  if (seen.size > head.size) {
    const mirror = await mirrorOf?.(head.origin);
    // Another machine continued the log, and this ledger goes on from the copy in git.
    if (
      mirror !== undefined &&
      (await holds(isPartOf(seen, mirror))) &&
      (await holds(isPartOf(head, mirror)))
    )
      return [];
    return [{ ...broken(`it was seen with ${seen.size} entries and has ${head.size} now`), from: head.size }];
  }
  return seen.root.equals(head.root) ? [] : [broken('it was seen with another root')];
}

async function checkTree(read: LedgerFileReader, head: Checkpoint): Promise<readonly LedgerProblem[]> {
  // In bounded memory; only a ledger that is damaged is taken in whole, to tell by how much.
  if (await holds(auditLedger(read, head))) return [];
  const leaves = await readLeaves(read, head.size);
  const whole = leaves.filter((leaf) => leaf !== undefined);
  const isSound = whole.length === leaves.length && (await rootOver(whole)).equals(head.root);
  if (isSound) return checkTiles(read, whole);
  const problems = await checkEntries(read, leaves, head.size);
  const root = rangeHash({ start: 0, end: head.size }, readSubtrees(read, head.size));
  const tilesLead = await holds(root.then((found) => found.equals(head.root)));
  if (tilesLead && problems.length > 0) return problems;
  return [...problems, { ...broken('neither entries nor tiles lead to its root') }];
}

/** False for damage and for `false`; any other fault is thrown. */
async function holds(work: Promise<unknown>): Promise<boolean> {
  try {
    return (await work) !== false;
  } catch (fault) {
    if (isWritError(fault, 'LEDGER_CORRUPT')) return false;
    throw fault;
  }
}

/** The entries are what the checkpoint signed, so a tile that does not follow from them is the one that is wrong. */
async function checkTiles(
  read: LedgerFileReader,
  leaves: readonly Buffer[],
): Promise<readonly LedgerProblem[]> {
  const problems: LedgerProblem[] = [];
  for (const [path, expected] of tilesOver(leaves)) {
    const found = await read(path);
    if (found !== undefined && expected.equals(found)) continue;
    const what = found === undefined ? 'it is missing' : 'it does not follow from the entries';
    problems.push({ code: 'ledger-tile', where: `ledger:${path}`, what });
  }
  return problems;
}

async function checkEntries(
  read: LedgerFileReader,
  leaves: readonly (Buffer | undefined)[],
  size: number,
): Promise<readonly LedgerProblem[]> {
  const problems: LedgerProblem[] = [];
  for (let bundle = 0; bundle * tileWidth < size; bundle += 1) {
    const width = widthAt(0, bundle, size);
    const tile = await read(tilePath(0, bundle, width));
    const where = `ledger:${tilePath('entries', bundle, width)}`;
    for (let at = 0; at < width; at += 1) {
      const index = bundle * tileWidth + at;
      const leaf = leaves[index];
      const expected = tile && Buffer.from(tile).subarray(at * 32, at * 32 + 32);
      if (leaf === undefined)
        problems.push({ code: 'ledger-entry', where, what: `entry ${index} cannot be read`, index });
      else if (expected !== undefined && !leaf.equals(expected))
        problems.push({ code: 'ledger-entry', where, what: `entry ${index} does not have its hash`, index });
    }
  }
  return problems;
}
