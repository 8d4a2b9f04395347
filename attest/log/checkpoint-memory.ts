/* The checkpoints of logs that this user has seen, and whether a new one extends them. */
import { lstatSync, readdirSync } from 'node:fs';
import { link, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { sha256Hex } from '../../core/base/canonical.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import { readPlain } from '../../core/base/files.ts';
import { randomOctets } from '../../core/base/ids.ts';
import type { OutsideLog } from '../../core/interfaces/sealing.ts';
import { type Environment, userConfigDir } from '../keys/user-config-dir.ts';
import { type Checkpoint, parseCheckpoint, type SignedCheckpoint } from './checkpoint.ts';
import { writeDurably } from './ledger-files.ts';
import { readHistory } from './ledger-reader.ts';
import { isConsistent, rangeHash } from './merkle.ts';
import { type LedgerFileReader, readFrom, readSubtrees } from './tiles.ts';

/**
 * A log as a verifier knows it: two keys under one name are two logs, so that no log can spoil the memory of another.
 */
export type SeenLog = Pick<SignedCheckpoint, 'origin' | 'keyId'>;

/** The checkpoints that this user has seen, by log. */
export interface CheckpointMemory {
  /** The largest one seen; `undefined` for a log never seen. */
  latest(log: SeenLog): Promise<Checkpoint | undefined>;
  /** The one seen at exactly that size. */
  at(log: SeenLog, size: number): Promise<Checkpoint | undefined>;
  /** Those next to that size: the largest smaller one and the smallest larger one, as far as there are any. */
  near(log: SeenLog, size: number): Promise<readonly Checkpoint[]>;
  /**
   * Keeps a verified checkpoint that is the first of its log or was shown to continue what this user saw. `history` are
   * tiles of its tree, which later prove smaller sizes. VERIFY_REFUTED (`forked`) where this user saw another root at
   * that size.
   */
  remember(checkpoint: SignedCheckpoint, history?: ReadonlyMap<string, Uint8Array>): Promise<void>;
  /** Tiles of the tree of the largest one, as far as they were kept; absent where none ever are. */
  history?(log: SeenLog): LedgerFileReader;
}

/** The memory in a directory, which can also forget. */
export interface KeptCheckpoints extends CheckpointMemory {
  /** Sizes that were seen, smallest first. */
  sizes(log: SeenLog): Promise<readonly number[]>;
  /** Removes the checkpoints of these sizes, and the tiles of the largest one's tree. */
  forget(log: SeenLog, sizes: readonly number[]): Promise<void>;
}

const keep = 1024;

/**
 * Memory in a directory: one file per log and size, made with link(2), so that two processes that saw different
 * roots of one size cannot both be believed. The largest 1,024 sizes per log are kept.
 */
export function openCheckpointMemory(directory: string): KeptCheckpoints {
  const folder = ({ origin, keyId }: SeenLog): string =>
    join(directory, sha256Hex(`${origin}\n${Buffer.from(keyId).toString('hex')}`));

  const sizes = (log: SeenLog): readonly number[] => keptSizes(folder(log));
  const at = (log: SeenLog, size: number): Checkpoint | undefined => readKept(folder(log), size, log.origin);

  /** Writes the tiles that are new, then removes those that the tree no longer has. */
  async function keepHistory(log: SeenLog, history: ReadonlyMap<string, Uint8Array>): Promise<void> {
    const changed = new Map<string, Uint8Array>();
    const read = readFrom(folder(log));
    for (const [path, bytes] of history) {
      const kept = await read(path);
      if (kept === undefined || Buffer.compare(kept, bytes) !== 0) changed.set(path, bytes);
    }
    if (changed.size === 0) return;
    const temporary = join(directory, 'tmp');
    await mkdir(temporary, { recursive: true, mode: 0o700 });
    await writeDurably(folder(log), changed, temporary);
    await dropOld(
      join(folder(log), 'tile'),
      new Set([...history.keys()].map((path) => join(folder(log), path))),
    );
  }

  /** Keeps one that is not there yet; another process may be quicker, and have seen another root. */
  async function put(checkpoint: SignedCheckpoint, requireSeen: (seen: Checkpoint) => void): Promise<void> {
    const temporary = join(directory, 'tmp');
    await mkdir(temporary, { recursive: true, mode: 0o700 });
    await mkdir(folder(checkpoint), { recursive: true, mode: 0o700 });
    const draft = join(temporary, `seen-${randomOctets(8).toString('hex')}`);
    await writeFile(draft, checkpoint.source, { flag: 'wx', mode: 0o600, flush: true });
    try {
      await link(draft, join(folder(checkpoint), String(checkpoint.size)));
    } catch (fault) {
      if ((fault as NodeJS.ErrnoException).code !== 'EEXIST') throw fault;
      const seen = at(checkpoint, checkpoint.size);
      if (seen !== undefined) requireSeen(seen);
    } finally {
      await rm(draft, { force: true });
    }
  }

  return {
    at: async (log, size) => at(log, size),
    async latest(log) {
      const size = sizes(log).at(-1);
      return size === undefined ? undefined : at(log, size);
    },
    async near(log, size) {
      const known = sizes(log);
      const wanted = [known.findLast((one) => one < size), known.find((one) => one > size)];
      return wanted.flatMap((one) => (one === undefined ? [] : (at(log, one) ?? [])));
    },
    sizes: async (log) => sizes(log),
    async forget(log, forgotten) {
      if (forgotten.length === 0) return;
      await rm(join(folder(log), 'tile'), { recursive: true, force: true });
      for (const size of forgotten) await rm(join(folder(log), String(size)), { force: true });
    },
    history: (log) => readFrom(folder(log)),
    async remember(checkpoint, history) {
      const requireSeen = (seen: Checkpoint): void => {
        if (!seen.root.equals(checkpoint.root)) throw forked(seen, checkpoint);
      };
      const before = at(checkpoint, checkpoint.size);
      if (before === undefined) await put(checkpoint, requireSeen);
      else requireSeen(before);
      const known = sizes(checkpoint);
      if (history && known.at(-1) === checkpoint.size) await keepHistory(checkpoint, history);
      for (const old of known.slice(0, -keep)) {
        await rm(join(folder(checkpoint), String(old)), { force: true });
      }
    },
  };
}

/** Removes the files below a directory that are not wanted any more: what is kept stays bounded. */
async function dropOld(directory: string, wanted: ReadonlySet<string>): Promise<void> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(ifMissing([]));
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !wanted.has(path)) await rm(path, { force: true });
  }
}

/**
 * VERIFY_REFUTED: two different trees under one log, both signed by its key. Both are in the detail: together they are
 * the proof.
 */
export function forked(seen: Checkpoint, found: Checkpoint): WritError {
  return new WritError('VERIFY_REFUTED', {
    message: `the log \`${found.origin}\` showed ${seen.size} entries that are not those of which it shows ${found.size} now`,
    detail: {
      reason: 'forked',
      origin: found.origin,
      size: found.size,
      seen: seen.size,
      found: found.size,
      seen_checkpoint: seen.source.trimEnd().split('\n'),
      found_checkpoint: found.source.trimEnd().split('\n'),
    },
  });
}

function ifMissing<T>(value: T): (fault: NodeJS.ErrnoException) => T {
  return (fault) => {
    if (fault.code === 'ENOENT' || fault.code === 'ENOTDIR') return value;
    throw fault;
  };
}

/** A note has at most 65,536 characters. */
const maxBytes = 256 * 1024;

/**
 * The sizes that are kept in the folder of a log, smallest first; none without a folder. A link or a file in its place
 * is STATE_CORRUPT: moving the folder away must not reset the memory.
 */
function keptSizes(folder: string): readonly number[] {
  if (!isThere(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /^(?:0|[1-9][0-9]{0,15})$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}

/**
 * The checkpoint in the file named by its size; `undefined` where there is none. Anything else in its place (a link, a
 * pipe, a file too large, another text, log or size) is STATE_CORRUPT.
 */
function readKept(folder: string, size: number, origin: string): Checkpoint | undefined {
  if (!isThere(folder)) return undefined;
  const path = join(folder, String(size));
  const source = readOwn(path, folder);
  if (source === undefined) return undefined;
  try {
    const checkpoint = parseCheckpoint(source, () => true);
    if (checkpoint.origin === origin && checkpoint.size === size) return checkpoint;
  } catch (fault) {
    if (isWritError(fault, 'ATTESTATION_MALFORMED')) throw spoilt(path, folder, fault.message);
    throw fault;
  }
  throw spoilt(path, folder, 'one of another log or size');
}

/** False if no checkpoint was ever stored. */
function isThere(folder: string): boolean {
  try {
    if (lstatSync(folder).isDirectory()) return true;
  } catch (fault) {
    const { code } = fault as NodeJS.ErrnoException;
    if (code === 'ENOENT') return false;
    if (code === 'ENOTDIR') throw spoilt(dirname(folder), dirname(folder), 'no directory');
    throw fault;
  }
  throw spoilt(folder, folder, 'no directory');
}

function readOwn(path: string, folder: string): string | undefined {
  const { bytes, status, fault } = readPlain(path, maxBytes);
  if (bytes !== undefined) return bytes.toString('utf8');
  if (fault.code === 'ENOENT') return undefined;
  if (fault.code === 'EFBIG') throw spoilt(path, folder, `${status?.size} octets`);
  if (['ELOOP', 'ENXIO', 'ENOTDIR', 'EINVAL'].includes(fault.code ?? ''))
    throw spoilt(path, folder, 'no regular file');
  throw fault;
}

/** This user's stored checkpoints are damaged. That is no evidence about any log. */
function spoilt(path: string, folder: string, found: string): WritError {
  const named = path === folder ? basename(path) : join(basename(folder), basename(path));
  return new WritError('STATE_CORRUPT', {
    message: `what was seen of a log cannot be read: expected \`${named}\` in \`trust/checkpoints\` to hold the checkpoint of its log and size, found ${found}; put it back, or remove \`${basename(folder)}\` to forget what was seen`,
    detail: { path, found },
    hints: [`remove it to forget what was seen: \`rm -r ${folder}\``],
  });
}

/** What this user has seen of any log. */
export function userCheckpointMemory(env: Environment): KeptCheckpoints {
  return openCheckpointMemory(join(userConfigDir(env), 'trust', 'checkpoints'));
}

/** Remembers no checkpoint, so a log is never compared with an earlier state. */
export const noMemory: CheckpointMemory = {
  latest: async () => undefined,
  at: async () => undefined,
  near: async () => [],
  remember: async () => {},
};

/**
 * `first`: this user has seen no checkpoint of the log. `same`: this user has seen this tree, or a later one that
 * contains it. `unknown`: the stored data cannot decide.
 */
type Compared = 'first' | 'same' | 'unknown';

/**
 * Compares a verified checkpoint with the user's stored checkpoints of its log, without other data. Refuses a
 * different tree (`forked`). Never stores a checkpoint.
 */
export async function compareSeen(found: SignedCheckpoint, memory: CheckpointMemory): Promise<Compared> {
  const [same, largest] = await Promise.all([memory.at(found, found.size), memory.latest(found)]);
  if (same !== undefined) {
    if (!same.root.equals(found.root)) throw forked(same, found);
    return 'same';
  }
  if (largest === undefined) return 'first';
  if (largest.size < found.size || memory.history === undefined) return 'unknown';
  const read = memory.history(found);
  try {
    const root = await rangeHash({ start: 0, end: found.size }, readSubtrees(read, largest.size));
    if (root.equals(found.root)) return 'same';
    // Damaged local tiles are no reason to distrust a log.
    await readHistory(read, largest);
  } catch (fault) {
    if (isWritError(fault, 'LEDGER_CORRUPT')) return 'unknown';
    throw fault;
  }
  throw forked(largest, found);
}

/** True for the refusal of two trees of one size. */
export function isForked(fault: unknown): boolean {
  return isWritError(fault) && fault.detail.reason === 'forked';
}

/**
 * Stores checkpoints that are the first of their log or proven to continue the known ones, and `history` with the
 * last. Refuses a different root for a known size. Returns `false` if the home directory is not writable: that is no
 * reason to distrust the log.
 */
export async function rememberSeen(
  checkpoints: readonly SignedCheckpoint[],
  memory: CheckpointMemory,
  history?: ReadonlyMap<string, Uint8Array>,
): Promise<boolean> {
  const head = checkpoints.at(-1);
  try {
    for (const checkpoint of checkpoints)
      await memory.remember(checkpoint, checkpoint === head ? history : undefined);
    return true;
  } catch (fault) {
    if (['EROFS', 'EACCES', 'EPERM'].includes((fault as NodeJS.ErrnoException).code ?? '')) return false;
    throw fault;
  }
}

/** Requests the nodes of a consistency proof from a log; the caller verifies them. */
export type ProveGrowth = NonNullable<OutsideLog['consistency']>;

const maxWords = 300;

/**
 * Compares a verified checkpoint with the user's stored checkpoints of its log, and stores it. The checkpoint must be
 * consistent with the next smaller and next larger stored sizes, including those that another process stores
 * meanwhile. The order of two checkpoints proves nothing, because appends overtake each other.
 *
 * Throws LOG_FORKED for another tree of a known size. Throws LOG_FAILED (`unproven`) without a valid consistency
 * proof, and then stores nothing.
 */
export async function holdToSeen(
  found: SignedCheckpoint,
  memory: CheckpointMemory,
  prove: ProveGrowth,
): Promise<void> {
  const shown = new Set<number>();
  const holdToNear = async (): Promise<void> => {
    for (const seen of await memory.near(found, found.size)) {
      if (shown.has(seen.size)) continue;
      await requireOneHistory(seen, found, prove);
      shown.add(seen.size);
    }
  };
  try {
    const same = await memory.at(found, found.size);
    if (same !== undefined && !same.root.equals(found.root)) throw forked(same, found);
    await holdToNear();
    await rememberSeen([found], memory);
    // A log that shows each of two processes another history is found by whichever of them comes here last.
    await holdToNear();
  } catch (fault) {
    if (!isWritError(fault) || !isForked(fault)) throw fault;
    throw new WritError('LOG_FORKED', { message: fault.message, detail: fault.detail, cause: fault });
  }
}

async function requireOneHistory(
  seen: Checkpoint,
  found: SignedCheckpoint,
  prove: ProveGrowth,
): Promise<void> {
  const [from, to] = seen.size < found.size ? [seen, found] : [found, seen];
  let nodes: readonly Uint8Array[];
  try {
    // An empty tree needs no consistency proof.
    nodes = from.size === 0 ? [] : (await prove(from.size, to.size)).hashes;
  } catch (cause) {
    throw unproven(seen, found, `none: ${messageOf(cause).slice(0, maxWords)}`, cause);
  }
  if (isConsistent(from, to, nodes)) return;
  throw unproven(seen, found, `${nodes.length} nodes that do not lead from one root to the other`);
}

/** LOG_FAILED about a log that does not show that what it signs now and what was seen of it are one history. */
function unproven(seen: Checkpoint, found: SignedCheckpoint, answer: string, cause?: unknown): WritError {
  const { origin } = found;
  const [from, to] = [Math.min(seen.size, found.size), Math.max(seen.size, found.size)];
  return new WritError('LOG_FAILED', {
    message: `the log \`${origin}\` was seen with ${seen.size} entries and shows ${found.size} now: expected a proof that its first ${from} of ${to} are the same (RFC 9162, 2.1.4), found ${answer}; ask its operator, and if it was restarted on purpose, forget what was seen of it (\`trust/checkpoints\`)`,
    detail: {
      reason: 'unproven',
      origin,
      seen: seen.size,
      found: found.size,
      answer,
      seen_checkpoint: seen.source.trimEnd().split('\n'),
      found_checkpoint: found.source.trimEnd().split('\n'),
    },
    hints: [
      'keep both checkpoints and show them to the operator of the log',
      'where the log was started over on purpose, remove its folder in `~/.config/writ/trust/checkpoints`',
    ],
    cause,
  });
}
