/* The copy of a ledger in git: writes it, reads it, and continues a ledger from it. */
import { createPublicKey } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { makeTemporary } from '../../store/remove-litter.ts';
import { createCommit } from '../../workspace/git/create-commit.ts';
import { gitLine, runGit } from '../../workspace/git/git.ts';
import { adoptObjects } from '../../workspace/git/import-objects.ts';
import { keepObjectReaders } from '../../workspace/git/object-reader.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import { encodeId } from '../../workspace/git/ref-name.ts';
import { listRefs, logPrefix, readRef, updateRefs } from '../../workspace/git/refs.ts';
import { type Repository, zeroIdOf } from '../../workspace/git/repository.ts';
import { createScratch, type Scratch } from '../../workspace/git/scratch.ts';
import { importTree } from '../../workspace/git/write-tree.ts';
import { auditLedger } from './check-ledger.ts';
import { type Checkpoint, parseCheckpoint, type SignedCheckpoint, verifyCheckpoint } from './checkpoint.ts';
import type { CheckpointMemory } from './checkpoint-memory.ts';
import { writeDurably } from './ledger-files.ts';
import { ledgerKeyFor } from './note.ts';
import {
  corrupt,
  isPartOf,
  isPrefix,
  type LedgerFileReader,
  type LogVersion,
  maxBundleBytes,
  readFrom,
  readSubtrees,
  tilePath,
  tileWidth,
  widthAt,
} from './tiles.ts';

const author = { name: 'writ', email: 'writ@localhost' };

/** Where the mirror of a log is: it travels with the other refs of `refs/ai/`. */
export function mirrorRef(origin: string): string {
  return `${logPrefix}${encodeId(origin)}`;
}

/** Reads the current copy of a log in git, unverified. Returns `undefined` if there is none. */
export async function readMirror(
  repository: Repository,
  origin: string,
): Promise<LedgerFileReader | undefined> {
  const version = await readRef(repository, mirrorRef(origin));
  return version === undefined ? undefined : readMirrorAt(repository, version);
}

/** Reads one version of a mirrored log. */
export function readMirrorAt(repository: Repository, version: string): LedgerFileReader {
  return (path) => readBlob(repository, version, path, maxBundleBytes);
}

/**
 * Updates the mirror of a log to its current checkpoint. Only tiles that changed since the mirrored checkpoint are
 * read and written, and the tiles they replace are removed. The ref moves by compare-and-swap. If another process
 * moved it meanwhile, that process owns the update.
 *
 * Throws LOG_FAILED if the mirrored log is not a prefix of the ledger.
 */
export async function mirrorLedger(
  repository: Repository,
  clock: Clock,
  read: LedgerFileReader,
  head: Checkpoint,
): Promise<void> {
  const ref = mirrorRef(head.origin);
  const old = await readRef(repository, ref);
  const mirrored = old === undefined ? undefined : await readHead(repository, old, ref);
  if (mirrored?.source === head.source) return;
  const from = mirrored?.size ?? 0;
  if (mirrored !== undefined && !(await isPrefix(mirrored, head, readSubtrees(read, head.size)))) {
    throw new WritError('LOG_FAILED', {
      message: `\`${ref}\` holds ${from} entries of another history than the ledger with ${head.size}`,
      detail: { ref, mirrored: from, size: head.size },
      hints: ['if the ledger was put back from a backup, restore it; else remove the ref'],
    });
  }
  const commit = await writeMirror(repository, clock, read, head, { size: from, commit: old });
  const outcome = await updateRefs(repository, [{ ref, old, new: commit }], 'writ: mirror the ledger');
  if (outcome.moved) return;
  const found = outcome.stale[0]?.found;
  const later = found === undefined ? undefined : await readHead(repository, found, ref);
  if (later !== undefined && later.size >= head.size) return;
  throw new WritError('LOG_FAILED', { message: `\`${ref}\` was moved by another process`, detail: { ref } });
}

async function readHead(repository: Repository, version: string, ref: string): Promise<Checkpoint> {
  const bytes = await readBlob(repository, version, 'checkpoint', maxBundleBytes);
  if (bytes === undefined)
    throw new WritError('LOG_FAILED', { message: `\`${ref}\` holds no checkpoint`, detail: { ref } });
  return parseCheckpoint(bytes.toString('utf8'));
}

async function writeMirror(
  repository: Repository,
  clock: Clock,
  read: LedgerFileReader,
  head: Checkpoint,
  before: { readonly size: number; readonly commit: string | undefined },
): Promise<string> {
  const dir = await makeTemporary(repository);
  try {
    const scratch = await createScratch(dir, repository);
    const place: Scratch = { ...scratch, settings: [...scratch.settings, ['core.fsync', 'committed']] };
    const wanted = [...tilesSince(before.size, head.size)];
    const added = await importTree(place, readAll(read, wanted, head), before.commit, repository);
    const gone = [...edgesOf(before.size)].filter((path) => !edgesOf(head.size).has(path));
    const commit = await createCommit(place, {
      tree: await withoutFiles(place, added, gone),
      parents: before.commit === undefined ? [] : [before.commit],
      message: `ledger: ${head.size} entries\n`,
      author,
      committer: author,
      authoredAtMs: clock.now(),
      committedAtMs: clock.now(),
    });
    await adoptObjects(scratch, repository);
    return commit;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** The tree without these files. */
async function withoutFiles(place: Scratch, tree: string, paths: readonly string[]): Promise<string> {
  if (paths.length === 0) return tree;
  await runGit(place, ['read-tree', tree]);
  const removals = paths.map((path) => `0 ${zeroIdOf(place)}\t${path}\0`).join('');
  await runGit(place, ['update-index', '-z', '--index-info'], { input: removals });
  return gitLine(place, ['write-tree']);
}

async function* readAll(
  read: LedgerFileReader,
  paths: readonly string[],
  head: Checkpoint,
): AsyncGenerator<readonly [string, Uint8Array]> {
  for (const path of paths) {
    const bytes = await read(path);
    if (bytes === undefined) throw corrupt('a file is missing', path);
    yield [path, bytes];
  }
  yield ['checkpoint', Buffer.from(head.source)];
}

/** Tiles and bundles of the tree of `to` that are not in the tree of `from`. */
function* tilesSince(from: number, to: number): Generator<string> {
  for (const [kind, level] of levelsOf(to)) {
    const old = Math.floor(from / tileWidth ** level);
    for (let index = Math.floor(old / tileWidth); widthAt(level, index, to) > 0; index += 1)
      if (widthAt(level, index, to) !== widthAt(level, index, from))
        yield tilePath(kind, index, widthAt(level, index, to));
  }
}

/** Partial tiles and bundles of a tree. */
function edgesOf(size: number): ReadonlySet<string> {
  const paths = new Set<string>();
  for (const [kind, level] of levelsOf(size)) {
    const index = Math.floor(Math.floor(size / tileWidth ** level) / tileWidth);
    const width = widthAt(level, index, size);
    if (width > 0) paths.add(tilePath(kind, index, width));
  }
  return paths;
}

function levelsOf(size: number): readonly (readonly [kind: number | 'entries', level: number])[] {
  const levels: [number | 'entries', number][] = [['entries', 0]];
  for (let level = 0; size >= tileWidth ** level; level += 1) levels.push([level, level]);
  return levels;
}

/** A ledger, and the key that signs it. */
export interface OwnLedger {
  readonly directory: string;
  readonly publicKeyPem: string;
  readonly memory: Pick<CheckpointMemory, 'latest'>;
}

/** What a ledger was continued from. */
export interface Continued {
  readonly ref: string;
  /** Entries of the ledger before; 0 where there was none. */
  readonly before: number;
  readonly head: SignedCheckpoint;
}

interface Mirror extends LogVersion<SignedCheckpoint> {
  readonly ref: string;
}

const filesAtOnce = 64;

/**
 * Brings a ledger up to its copy in git, which another machine may have continued. Without a ledger it copies the
 * largest one that the same key signed. The copy is recomputed from its entries and must continue the ledger. Called
 * under the ledger's lock. `undefined` where no copy is newer; LOG_FAILED for one of another history.
 */
export async function continueFromMirror(
  repository: Repository,
  ledger: OwnLedger,
): Promise<Continued | undefined> {
  const { directory } = ledger;
  const own = await ownHead(ledger);
  if (own === 'unreadable') return undefined;
  await using readers = keepObjectReaders();
  const mirror = await findMirror(readers.keep({ ...repository }), ledger, own);
  if (mirror === undefined) return undefined;
  const { ref, head, read } = mirror;
  if (own !== undefined && !(await isPartOf(own, mirror))) {
    throw new WritError('LOG_FAILED', {
      message: `\`${ref}\` holds ${head.size} entries that do not continue the ${own.size} of the ledger here`,
      detail: { ref, mirrored: head.size, size: own.size },
      hints: [`to continue the log in git, move the ledger here away: \`${directory}\``],
    });
  }
  await auditLedger(read, head);
  const before = own?.size ?? 0;
  await copyLedger(directory, read, before, head);
  return { ref, before, head };
}

/** Copies the files that a ledger of `before` entries lacks, its checkpoint last. */
export async function copyLedger(
  directory: string,
  read: LedgerFileReader,
  before: number,
  head: SignedCheckpoint,
): Promise<void> {
  await copyFiles(directory, read, [...tilesSince(before, head.size)]);
  await copyFiles(directory, read, ['checkpoint']);
}

/**
 * Refuses a run if its entry would fork the log: this user has seen log entries that are neither in the local ledger
 * nor in its git copy. Throws LOG_FAILED. Writes nothing.
 */
export async function requireSeenEntries(repository: Repository, ledger: OwnLedger): Promise<void> {
  const own = await ownHead(ledger);
  if (own === 'unreadable') return;
  await using readers = keepObjectReaders();
  const mirror = await findMirror(readers.keep({ ...repository }), ledger, own);
  if (own === undefined || mirror !== undefined) return;
  const seen = await ledger.memory.latest(own);
  if (seen !== undefined && !(await isPartOf(seen, { head: own, read: readFrom(ledger.directory) })))
    throw notAllFetched(mirrorRef(own.origin), seen, own);
}

/** `unreadable`: a damaged ledger, or one of another key, which opening it reports. */
export async function ownHead({
  directory,
  publicKeyPem,
}: Omit<OwnLedger, 'memory'>): Promise<SignedCheckpoint | 'unreadable' | undefined> {
  const bytes = await readFrom(directory)('checkpoint');
  return bytes === undefined ? undefined : (signedBy(publicKeyPem, bytes) ?? 'unreadable');
}

/** The largest copy that continues what is here and all that this user has seen of it. */
async function findMirror(
  repository: Repository,
  { publicKeyPem, memory }: OwnLedger,
  own: SignedCheckpoint | undefined,
): Promise<Mirror | undefined> {
  let largest: Mirror | undefined;
  let behind: WritError | undefined;
  for (const { ref, object } of await listRefs(repository, logPrefix)) {
    if (own !== undefined && ref !== mirrorRef(own.origin)) continue;
    const read = readMirrorAt(repository, object);
    const bytes = await read('checkpoint');
    const head = bytes && signedBy(publicKeyPem, bytes);
    if (head === undefined || mirrorRef(head.origin) !== ref || head.size <= (own?.size ?? 0)) continue;
    // Continuing a copy without entries that this user has seen would fork the log.
    const seen = await memory.latest(head);
    if (seen !== undefined && !(await isPartOf(seen, { head, read }))) {
      behind ??= notAllFetched(ref, seen, head);
      continue;
    }
    if (largest === undefined || head.size > largest.head.size) largest = { ref, head, read };
  }
  if (largest === undefined && behind !== undefined) throw behind;
  return largest;
}

function notAllFetched(ref: string, seen: Checkpoint, { size }: SignedCheckpoint): WritError {
  return new WritError('LOG_FAILED', {
    message: `this user has seen ${seen.size} entries of the log \`${seen.origin}\`, and the ${size} entries here do not contain them: fetch first, \`writ fetch\``,
    detail: { ref, seen: seen.size, size },
    hints: [
      'fetch first: `writ fetch`',
      'if the entries were made in another clone, use `writ push` there, or `writ fetch` if its push was refused',
      `if that clone is lost, start a new log: \`mv .git/writ/ledger .git/writ/ledger-old; git update-ref -d ${ref}\``,
    ],
  });
}

export function signedBy(publicKeyPem: string, checkpoint: Uint8Array): SignedCheckpoint | undefined {
  const source = Buffer.from(checkpoint).toString('utf8');
  try {
    const { origin } = parseCheckpoint(source);
    return verifyCheckpoint(source, [ledgerKeyFor(origin, createPublicKey(publicKeyPem))]);
  } catch (fault) {
    if (isWritError(fault, 'ATTESTATION_MALFORMED') || isWritError(fault, 'VERIFY_REFUTED')) return undefined;
    throw fault;
  }
}

async function copyFiles(directory: string, read: LedgerFileReader, paths: readonly string[]): Promise<void> {
  const temporary = join(directory, 'tmp');
  await mkdir(temporary, { recursive: true });
  for (let at = 0; at < paths.length; at += filesAtOnce) {
    const files = new Map<string, Uint8Array>();
    for (const path of paths.slice(at, at + filesAtOnce)) {
      const bytes = await read(path);
      if (bytes === undefined) throw corrupt('a file is missing', path);
      files.set(path, bytes);
    }
    await writeDurably(directory, files, temporary);
  }
}
