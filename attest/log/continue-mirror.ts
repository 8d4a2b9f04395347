import { createPublicKey } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { keepObjectReaders } from '../../workspace/git/object-reader.ts';
import { listRefs, logPrefix } from '../../workspace/git/refs.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { auditLedger } from './audit-ledger.ts';
import { type Checkpoint, parseCheckpoint, type SignedCheckpoint, verifyCheckpoint } from './checkpoint.ts';
import type { CheckpointMemory } from './checkpoint-memory.ts';
import { writeDurably } from './durable-file.ts';
import { mirrorRef, readMirrorAt, tilesSince } from './git-mirror.ts';
import { ledgerKeyFor } from './ledger-key.ts';
import { isPartOf, type LogVersion } from './log-version.ts';
import { readFrom } from './read-from.ts';
import { corrupt, type LedgerFileReader } from './tile-reader.ts';

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
 * Brings a ledger up to its copy in git, which another machine may have continued. Without a ledger, it takes the
 * largest copy that the same key signed. The copy is recomputed from its entries and must continue what is here.
 * Called under the ledger's lock. `undefined` where no copy is newer; LOG_FAILED for one of another history.
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
 * Refuses a run whose entry could only fork the log: this user has seen entries of the log that neither the ledger here
 * nor its copy in git has. LOG_FAILED. Nothing is written.
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

/** `unreadable`: a damaged ledger, or one of another key, is reported by whoever opens it. */
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
