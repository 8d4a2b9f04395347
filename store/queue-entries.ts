/* The entries of the merge queue on disk: adding, listing and updating them. */
import { constants } from 'node:fs';
import { access, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256Hex } from '../core/base/canonical.ts';
import { WritError } from '../core/base/errors.ts';
import { absent, makeDirectories, readPlainFile, writeDurably } from '../core/base/files.ts';
import { printable } from '../core/base/printable.ts';
import { count, flag, object, oneOf, parse, text } from '../core/base/schema.ts';
import { parseStrictJson } from '../core/base/strict-json.ts';
import { readRef, updateRefs } from '../workspace/git/refs.ts';
import type { Repository } from '../workspace/git/repository.ts';
import { acquireProcessLock, type ProcessLock } from '../workspace/process/process-lock.ts';

const format = 'urn:writ:queue-entry:v1';
const entryName = 'entry.json';
const specName = 'spec.json';
const patchName = 'change.patch';

/** Entries that have not ended, of all targets. */
const maxLive = 1000;
/** Entries that have ended and are still listed. */
const maxEnded = 100;
const maxSpecBytes = 4 * 1024 * 1024;
/** Of one patch in the queue. */
export const maxQueuedBytes = 64 * 1024 * 1024;

const entryShape = object(
  'an entry of the merge queue',
  {
    format: oneOf(format),
    /** Full name of the branch that it lands on. */
    target: text(1024),
    specId: text(256),
    summary: text(1024),
    /** SHA-256 of spec, change and target: the same change is in the queue once. */
    digest: text(64, 64),
    /** Id of the commit that the change was made on. */
    from: text(64, 40),
  },
  {
    /** Id of the last commit of a range; absent of a patch, which is a file. */
    tip: text(64, 40),
    message: text(100_000),
    author: text(1000),
    /** Written before the run starts. */
    run: text(64),
    /** How often its approvals lapsed because the target moved. */
    lapses: count(1),
    /** They lapsed so often that nothing overtakes it. */
    holds: flag,
    /** The sealed commit: the entry has ended. */
    landed: text(64, 40),
    /** Why it left the queue, as code and message: the entry has ended. */
    removed: object('the reason of a removal', { code: text(64), message: text(100_000) }),
  },
);

type StoredEntry = Omit<ReturnType<typeof parseEntry>, 'format'>;

/** One change on its way to a branch. */
export interface QueueEntry extends StoredEntry {
  /** From 1, in the order in which entries were added. */
  readonly number: number;
}

/** A change to add. */
export interface QueuedChange
  extends Pick<StoredEntry, 'target' | 'specId' | 'summary' | 'from' | 'tip' | 'message' | 'author'> {
  readonly specBytes: Uint8Array;
  /** Absent of a range. */
  readonly patch?: Uint8Array;
}

function parseEntry(bytes: Uint8Array) {
  const { value } = parseStrictJson(bytes, { code: 'OBJECT_CORRUPT', maxBytes: maxSpecBytes });
  return parse(entryShape, value);
}

export function hasEnded({ landed, removed }: Pick<StoredEntry, 'landed' | 'removed'>): boolean {
  return landed !== undefined || removed !== undefined;
}

type At = Pick<Repository, 'commonDir'>;

function placeOf({ commonDir }: At, ...names: readonly string[]) {
  return { root: commonDir, parts: ['writ', 'queue', ...names] };
}

/** The directory of the queue. ENVIRONMENT_BROKEN if it is another user's: its entries are runs of that user. */
async function openQueue(repository: At): Promise<string> {
  const { root, parts } = placeOf(repository);
  const directory = join(root, ...parts);
  try {
    await access(directory, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (fault) {
    if (!(fault instanceof Error && 'code' in fault && fault.code === 'EACCES')) return directory;
    throw new WritError('ENVIRONMENT_BROKEN', {
      message: 'the merge queue of this repository belongs to another user',
      hints: ['queue the change as that user, or in a clone of your own'],
    });
  }
  return directory;
}

const nameOf = (number: number): string => String(number).padStart(6, '0');
const refOf = (number: number): string => `refs/writ/queue/${nameOf(number)}`;

/**
 * Adds changes, all or none, and returns their entries in order. A change that is in the queue already, and has not
 * ended, keeps its place. QUEUE_FULL, QUEUE_HAS_SPEC, INPUT_TOO_LARGE.
 */
export async function addEntries(
  repository: Repository,
  changes: readonly QueuedChange[],
): Promise<readonly QueueEntry[]> {
  for (const { patch } of changes)
    if (patch !== undefined && patch.length > maxQueuedBytes)
      throw new WritError('INPUT_TOO_LARGE', {
        message: `a patch in the merge queue has at most ${maxQueuedBytes} bytes, found ${patch.length}`,
        detail: { maxBytes: maxQueuedBytes, sizeBytes: patch.length },
      });
  const lock = await lockRecords(repository);
  try {
    const known = await listEntries(repository);
    const live = known.filter((entry) => !hasEnded(entry));
    if (live.length + changes.length > maxLive)
      throw new WritError('QUEUE_FULL', {
        message: `the merge queue holds ${live.length} changes, and at most ${maxLive}`,
        detail: { maxEntries: maxLive },
      });
    const entries: QueueEntry[] = [];
    const puts: (() => Promise<unknown>)[] = [];
    let number = known.at(-1)?.number ?? 0;
    for (const { specBytes, patch, ...rest } of changes) {
      const parts = [specBytes, patch ?? `${rest.from}..${rest.tip}`, rest.target];
      const digest = sha256Hex(parts.map(sha256Hex).join('\n'));
      const same = [...live, ...entries].find(({ specId }) => specId === rest.specId);
      if (same !== undefined && same.digest !== digest) throw specTwice(same);
      if (same === undefined) number += 1;
      const entry = same ?? { ...rest, digest, number };
      entries.push(entry);
      if (same === undefined) puts.push(() => putEntry(repository, entry, specBytes, patch));
    }
    for (const put of puts) await put();
    for (const { number: old } of known.filter(hasEnded).slice(0, -maxEnded)) await forget(repository, old);
    return entries;
  } finally {
    await lock.release();
  }
}

/** A spec is sealed once: of two changes the second could only be removed. */
function specTwice({ number, specId }: QueueEntry): WritError {
  return new WritError('QUEUE_HAS_SPEC', {
    message: `entry ${number} of the merge queue is another change of the spec \`${printable(specId)}\``,
    detail: { entry: number, spec_id: specId },
    hints: [
      `wait until it has ended, remove it (\`writ queue remove ${number}\`), or give this change a spec of its own`,
    ],
  });
}

async function putEntry(
  repository: Repository,
  entry: QueueEntry,
  specBytes: Uint8Array,
  patch: Uint8Array | undefined,
): Promise<void> {
  const directory = await makeDirectories(placeOf(repository, nameOf(entry.number)));
  await writeDurably(join(directory, specName), specBytes);
  if (patch !== undefined) await writeDurably(join(directory, patchName), patch);
  const kept = entry.tip ?? entry.from;
  const ref = refOf(entry.number);
  const old = await readRef(repository, ref);
  await updateRefs(repository, [{ ref, old, new: kept }], 'writ: queue add');
  // Last: without it the entry was never whole.
  await storeEntry(repository, entry);
}

/**
 * Replaces the record of an entry, and returns the record that counts. One that has ended stays as it is, and
 * only that its commit landed is written over a removal.
 */
export async function writeEntry(repository: Repository, entry: QueueEntry): Promise<QueueEntry> {
  return await changeEntry(repository, entry.number, ({ removed }) =>
    removed !== undefined && entry.landed === undefined ? undefined : entry,
  );
}

/** Marks an entry as removed. Returns its record: one that had ended before says how. QUEUE_NO_ENTRY. */
export async function removeEntry(
  repository: Repository,
  number: number,
  removed: NonNullable<StoredEntry['removed']>,
): Promise<QueueEntry> {
  return await changeEntry(repository, number, (stored) =>
    stored.removed === undefined ? { ...stored, removed } : undefined,
  );
}

async function changeEntry(
  repository: Repository,
  number: number,
  change: (stored: QueueEntry) => QueueEntry | undefined,
): Promise<QueueEntry> {
  const lock = await lockRecords(repository);
  try {
    const stored = readEntry(repository, number);
    if (stored === undefined) throw noEntry(number, 'is not there');
    const now = stored.landed === undefined ? change(stored) : undefined;
    if (now !== undefined) await storeEntry(repository, now);
    return now ?? stored;
  } finally {
    await lock.release();
  }
}

export function noEntry(number: number, what: string): WritError {
  return new WritError('QUEUE_NO_ENTRY', {
    message: `entry ${number} of the merge queue ${what}`,
    detail: { entry: number },
  });
}

/** After the end of an entry, the change itself is removed. */
async function storeEntry(repository: Repository, entry: QueueEntry): Promise<void> {
  const { number, ...stored } = entry;
  const directory = await makeDirectories(placeOf(repository, nameOf(number)));
  await writeDurably(join(directory, entryName), `${JSON.stringify({ format, ...stored })}\n`);
  if (!hasEnded(entry)) return;
  for (const name of [specName, patchName]) await rm(join(directory, name), { force: true });
  const ref = refOf(number);
  const old = await readRef(repository, ref);
  if (old !== undefined) await updateRefs(repository, [{ ref, old, new: undefined }], 'writ: queue end');
}

async function forget({ commonDir }: At, number: number): Promise<void> {
  const { root, parts } = placeOf({ commonDir }, nameOf(number));
  await rm(join(root, ...parts), { recursive: true, force: true });
}

/** All entries in order, also those that have ended lately. OBJECT_CORRUPT. */
export async function listEntries(repository: At): Promise<readonly QueueEntry[]> {
  const names = (await readdir(await openQueue(repository)).catch(absent)) ?? [];
  return names
    .filter((name) => /^\d{6,9}$/.test(name))
    .map(Number)
    .sort((a, b) => a - b)
    .flatMap((number) => readEntry(repository, number) ?? []);
}

/** OBJECT_CORRUPT. */
export function readEntry(repository: At, number: number): QueueEntry | undefined {
  const bytes = readFile(repository, number, entryName, maxSpecBytes);
  if (bytes === undefined) return undefined;
  try {
    const { format: _, ...stored } = parseEntry(bytes);
    return { ...stored, number };
  } catch (cause) {
    throw corrupt(number, cause);
  }
}

/** Spec and patch of an entry that has not ended. OBJECT_CORRUPT. */
export function readChange(
  repository: At,
  { number, tip }: Pick<QueueEntry, 'number' | 'tip'>,
): { readonly specBytes: Buffer; readonly patch: Buffer | undefined } {
  const specBytes = readFile(repository, number, specName, maxSpecBytes);
  const patch = tip === undefined ? readFile(repository, number, patchName, maxQueuedBytes) : undefined;
  if (specBytes === undefined || (tip === undefined && patch === undefined)) throw corrupt(number);
  return { specBytes, patch };
}

function readFile(repository: At, number: number, name: string, maxBytes: number): Buffer | undefined {
  try {
    return readPlainFile(placeOf(repository, nameOf(number), name), maxBytes);
  } catch (cause) {
    throw corrupt(number, cause);
  }
}

function corrupt(number: number, cause?: unknown): WritError {
  return new WritError('OBJECT_CORRUPT', {
    message: `entry ${number} of the merge queue cannot be read`,
    detail: { entry: number },
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Held while records are written. */
function lockRecords(repository: At): Promise<ProcessLock> {
  return lockQueue(repository, 'add.lock', 30_000);
}

/** Held while a process works on the queue. QUEUE_BUSY (detail: pid) after `waitMs`. */
export async function lockQueue(
  repository: At,
  name: 'lock' | 'add.lock' = 'lock',
  waitMs = 0,
): Promise<ProcessLock> {
  await openQueue(repository);
  const directory = await makeDirectories(placeOf(repository));
  return acquireProcessLock(join(directory, name), {
    waitMs,
    busy: (holder) =>
      new WritError('QUEUE_BUSY', {
        message:
          holder === undefined
            ? 'another process works on the merge queue'
            : `process ${holder.pid} on \`${holder.host}\` works on the merge queue`,
        detail: holder === undefined ? {} : { pid: holder.pid, host: holder.host },
      }),
  });
}
