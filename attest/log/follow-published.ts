import { rename, rm } from 'node:fs/promises';
import { WritError } from '../../core/base/errors.ts';
import { fetchedLogRef, publishedLogRef } from '../../engine/vcs/log-refs.ts';
import { keepObjectReaders } from '../../engine/vcs/object-reader.ts';
import { type RefUpdate, readRef, updateRefs } from '../../engine/vcs/refs.ts';
import type { Repository } from '../../engine/vcs/repository.ts';
import { auditLedger } from './audit-ledger.ts';
import type { SignedCheckpoint } from './checkpoint.ts';
import { forked, type KeptCheckpoints } from './checkpoint-memory.ts';
import { copyLedger, type OwnLedger, ownHead, signedBy } from './continue-mirror.ts';
import { mirrorRef, readMirrorAt } from './git-mirror.ts';
import { keptLedgerPath } from './kept-ledgers.ts';
import { isPartOf, type LogVersion } from './log-version.ts';
import { unloggedRuns } from './logged-proof.ts';
import { readFrom } from './read-from.ts';

/** What replaced an unpublished end of the ledger. */
export interface Followed {
  readonly ref: string;
  readonly version: string;
  readonly head: SignedCheckpoint;
  /** Entries of the ledger before. */
  readonly before: number;
  /** Where the ledger before is kept. */
  readonly kept: string;
  /** Refs of the runs whose entries are not in the published log. */
  readonly runs: readonly string[];
}

interface FetchedVersion extends LogVersion<SignedCheckpoint> {
  readonly ref: string;
  readonly version: string;
}

/**
 * Replaces the ledger by a copy in git that another machine with the same key published first, if that copy does not
 * contain the unpublished end of the ledger. The ledger is kept beside it, whole, and the memory forgets the
 * checkpoints of the unpublished end; no other checkpoint is forgotten. Called under the ledger's lock; a process that
 * was killed at any point is repeated. LOG_FAILED if the ledger's own end was published, LOG_FORKED if a third history
 * was seen.
 */
export async function followPublished(
  repository: Repository,
  ledger: OwnLedger & { readonly memory: KeptCheckpoints },
): Promise<Followed | undefined> {
  const { directory, memory } = ledger;
  await finishFollow(directory);
  const head = await ownHead(ledger);
  if (head === undefined || head === 'unreadable') return undefined;
  const own: LogVersion<SignedCheckpoint> = { head, read: readFrom(directory) };
  await using readers = keepObjectReaders();
  const place = readers.keep({ ...repository });
  const theirs = await findDiverged(place, ledger, own);
  if (theirs === undefined) return undefined;
  await auditLedger(theirs.read, theirs.head);
  await requireUnpublished(place, ledger, theirs);
  const unpublished = await sizesOfOwnEnd(memory, own, theirs);
  const runs = await unloggedRuns(place, own, theirs);
  const next = nextOf(directory);
  await rm(next, { recursive: true, force: true });
  await copyLedger(next, theirs.read, 0, theirs.head);
  await memory.forget(head, unpublished);
  await moveRefs(repository, mirrorRef(head.origin), theirs.version);
  const kept = keptLedgerPath(directory, head);
  await rm(kept, { recursive: true, force: true });
  await rename(directory, kept);
  await rename(next, directory);
  const ref = mirrorRef(head.origin);
  return { ref, version: theirs.version, head: theirs.head, before: head.size, kept, runs };
}

/** The published ledger on its way to its place. */
function nextOf(directory: string): string {
  return `${directory}-next`;
}

/** True if there is a ledger, or one on its way to its place. */
export async function isLedgerBegun(directory: string): Promise<boolean> {
  return (await hasCheckpoint(directory)) || (await hasCheckpoint(nextOf(directory)));
}

/** Goes on where a process was killed between the two renames: there is no ledger then. */
async function finishFollow(directory: string): Promise<void> {
  if ((await hasCheckpoint(directory)) || !(await hasCheckpoint(nextOf(directory)))) return;
  await rm(directory, { recursive: true, force: true });
  await rename(nextOf(directory), directory);
}

async function hasCheckpoint(directory: string): Promise<boolean> {
  return (await readFrom(directory)('checkpoint')) !== undefined;
}

/** The largest copy of the same log, fetched or in its mirror, that has other entries than the ledger. */
async function findDiverged(
  place: Repository,
  { publicKeyPem }: OwnLedger,
  own: LogVersion<SignedCheckpoint>,
): Promise<FetchedVersion | undefined> {
  const { origin } = own.head;
  let largest: FetchedVersion | undefined;
  for (const ref of [mirrorRef(origin), fetchedLogRef(mirrorRef(origin))]) {
    const found = await readVersion(place, ref, publicKeyPem);
    if (found === undefined || found.head.origin !== origin) continue;
    if (found.head.size <= (largest?.head.size ?? 0)) continue;
    const together = own.head.size <= found.head.size ? isPartOf(own.head, found) : isPartOf(found.head, own);
    if (!(await together)) largest = found;
  }
  return largest;
}

async function readVersion(
  place: Repository,
  ref: string,
  publicKeyPem: string,
): Promise<FetchedVersion | undefined> {
  const version = await readRef(place, ref);
  if (version === undefined) return undefined;
  const read = readMirrorAt(place, version);
  const bytes = await read('checkpoint');
  const head = bytes && signedBy(publicKeyPem, bytes);
  return head && { ref, version, head, read };
}

/** What a remote had must stay in the log, whoever signed something else. */
async function requireUnpublished(
  place: Repository,
  { publicKeyPem, directory }: OwnLedger,
  theirs: FetchedVersion,
): Promise<void> {
  const published = await readVersion(place, publishedLogRef(mirrorRef(theirs.head.origin)), publicKeyPem);
  if (published === undefined || (await isPartOf(published.head, theirs))) return;
  throw new WritError('LOG_FAILED', {
    message: `\`${theirs.ref}\` holds ${theirs.head.size} entries without the ${published.head.size} that were published before: the log was rewritten at the remote`,
    detail: { ref: theirs.ref, found: theirs.head.size, published: published.head.size, directory },
    hints: [
      'keep both: the log signed two histories, and both were published',
      `if the remote was restored from a backup, put the log back from a clone that has all of it: \`git push --force REMOTE ${mirrorRef(theirs.head.origin)}\`, then \`writ fetch\` here`,
      `else start a new log: \`mv .git/writ/ledger .git/writ/ledger-old; git update-ref -d ${mirrorRef(theirs.head.origin)}\``,
    ],
  });
}

/**
 * Sizes that were seen of the ledger's end only. The seen sizes are one history: below one that the published log
 * contains, it contains all.
 */
async function sizesOfOwnEnd(
  memory: KeptCheckpoints,
  own: LogVersion<SignedCheckpoint>,
  theirs: LogVersion,
): Promise<readonly number[]> {
  const ownEnd: number[] = [];
  for (const size of (await memory.sizes(own.head)).toReversed()) {
    const seen = await memory.at(own.head, size);
    if (seen === undefined) continue;
    if (await isPartOf(seen, theirs)) break;
    if (!(await isPartOf(seen, own))) {
      const fault = forked(seen, theirs.head);
      throw new WritError('LOG_FORKED', { message: fault.message, detail: fault.detail, cause: fault });
    }
    ownEnd.push(size);
  }
  return ownEnd;
}

/** The mirror is the published version from now on. */
async function moveRefs(repository: Repository, ref: string, version: string): Promise<void> {
  const to = async (name: string, next: string | undefined): Promise<RefUpdate> => ({
    ref: name,
    old: await readRef(repository, name),
    new: next,
  });
  const updates = [
    await to(ref, version),
    await to(publishedLogRef(ref), version),
    await to(fetchedLogRef(ref), undefined),
  ].filter((update) => update.old !== update.new);
  const outcome = await updateRefs(repository, updates, 'writ: follow the published log');
  if (!outcome.moved)
    throw new WritError('LOG_FAILED', {
      message: `\`${ref}\` was moved by another process`,
      detail: { ref },
    });
}
