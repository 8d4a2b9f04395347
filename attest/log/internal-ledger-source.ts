/* Log mode `internal-ledger`: opens the user's ledger and keeps it from forking, or the shared ledger of `[log]`. */
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Clock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { type HttpClient, requestHttp } from '../../core/base/net.ts';
import type { LogSource, SealingPlace, TransparencyLog } from '../../core/interfaces/sealing.ts';
import type { RepositoryPlace } from '../../core/interfaces/store.ts';
import { keepObjectReaders } from '../../workspace/git/object-reader.ts';
import {
  fetchedLogRef,
  listRefs,
  logPrefix,
  publishedLogRef,
  type RefUpdate,
  readRef,
  updateRefs,
} from '../../workspace/git/refs.ts';
import { type Repository, runsDirectory } from '../../workspace/git/repository.ts';
import { findUserLedgerKey, openUserLedgerKey } from '../keys/key-signer.ts';
import type { Environment } from '../keys/user-config-dir.ts';
import { auditLedger } from './check-ledger.ts';
import type { SignedCheckpoint } from './checkpoint.ts';
import { forked, type KeptCheckpoints, userCheckpointMemory } from './checkpoint-memory.ts';
import {
  type Continued,
  continueFromMirror,
  copyLedger,
  mirrorLedger,
  mirrorRef,
  type OwnLedger,
  ownHead,
  readMirror,
  readMirrorAt,
  requireSeenEntries,
  signedBy,
} from './git-mirror.ts';
import { createInternalLedger, type InternalLedger } from './internal-ledger.ts';
import { keptLedgerPath, ledgerPath, takeLock } from './ledger-files.ts';
import { ledgerForm, ledgerMode, ledgerSectionOf, type SharedSection } from './log-sections.ts';
import { pinnedLog } from './pinned-log.ts';
import { findStrayRuns, unloggedRuns } from './proven-runs.ts';
import { findToken, sharedLog } from './shared-log-client.ts';
import { isPartOf, type LogVersion, readFrom } from './tiles.ts';
import { parseTlogPolicy } from './witness-policy.ts';

export { userCheckpointMemory };

/**
 * The internal ledger of a repository, signed with the user's ledger key. It does no I/O before the first call. With
 * `mirror`, a git copy follows each append, and a ledger older than the copy continues from it. An append that would
 * fork the log, according to the data that `stored` has in git, is refused.
 */
export function openUserLedger(
  commonDir: string,
  env: Environment,
  clock: Clock,
  mirror?: Repository,
  report: (notice: WritError) => void = () => undefined,
  stored: Repository | undefined = mirror,
): InternalLedger {
  const directory = join(commonDir, ledgerPath);
  const memory = userCheckpointMemory(env);
  return createInternalLedger({
    directory,
    signer: () => openUserLedgerKey(env),
    memory,
    clock,
    beforeAppend: async () => {
      const { publicKeyPem } = await openUserLedgerKey(env);
      if (mirror !== undefined) {
        const followed = await followPublished(mirror, { directory, publicKeyPem, memory });
        if (followed !== undefined) report(ledgerReplaced(followed));
        const continued = await continueFromMirror(mirror, { directory, publicKeyPem, memory });
        if (continued !== undefined) report(ledgerBehind(continued));
      }
      if (stored !== undefined)
        await requireOneHistory(stored, { directory, publicKeyPem }, mirror !== undefined);
    },
    ...(mirror && { afterAppend: (head) => mirrorLedger(mirror, clock, readFrom(directory), head) }),
  });
}

function ledgerBehind({ ref, before, head: { size } }: Continued): WritError {
  const here = before === 0 ? 'there is no ledger here' : `the ledger here has ${before} entries`;
  return new WritError('LEDGER_BEHIND', {
    message: `${here}, and \`${ref}\` has ${size}: writ continues the log in git`,
    detail: { ref, here: before, size },
  });
}

/** Notice that the ledger now follows the published log. */
function ledgerReplaced({ ref, head: { size }, before, kept, runs }: Followed): WritError {
  const again =
    runs.length === 0
      ? ''
      : `; the log entry of ${runs.map((run) => `\`${run}\``).join(', ')} is not in the published log: \`writ push\` makes it again`;
  return new WritError('LEDGER_REPLACED', {
    message: `another machine published \`${ref}\` with ${size} entries first: writ continues that log, and keeps the unpublished ledger of ${before} entries in \`${kept}\`${again}`,
    detail: { ref, size, before, kept, runs },
  });
}

/**
 * If another machine published the log first, makes the local ledger follow it. The log must be the user's, and the
 * local ledger must have an unpublished end. With `onContinued` it also copies entries that only the git copy has. Does
 * nothing without a ledger or its key.
 */
export async function followPublishedLedger(
  repository: Repository,
  env: Environment,
  clock: Clock,
  onContinued?: (continued: Continued) => void,
): Promise<Followed | undefined> {
  const directory = join(repository.commonDir, ledgerPath);
  if (!(await isLedgerBegun(directory))) return undefined;
  const signer = await findUserLedgerKey(env);
  if (signer === undefined) return undefined;
  const { publicKeyPem } = signer;
  const own = { directory, publicKeyPem, memory: userCheckpointMemory(env) };
  const lock = await takeLock(directory, clock);
  try {
    const followed = await followPublished(repository, own);
    const continued = onContinued && (await continueFromMirror(repository, own));
    if (continued) onContinued(continued);
    return followed;
  } finally {
    await lock.release();
  }
}

/**
 * Log mode `internal-ledger`. Opening fails if this user cannot append to the ledger, or only by forking a log.
 * Opening creates nothing, but a ledger may follow its copy in git.
 */
export function createInternalLedgerSource(
  env: Environment,
  clock: Clock,
  report?: (notice: WritError) => void,
  outside: SharedAccess = { fetch: requestHttp },
): LogSource {
  return {
    ...ledgerForm,
    open: async (place) => {
      const { commonDir, repository } = place;
      const { shared } = ledgerSectionOf(place);
      if (shared !== undefined) return openShared(place, shared, env, clock, outside);
      const mirror = ledgerSectionOf(place).mirror === 'git' ? repository : undefined;
      const ledger = openUserLedger(commonDir, env, clock, mirror, report, repository);
      const directory = join(commonDir, ledgerPath);
      const signer = await findUserLedgerKey(env);
      if (mirror !== undefined && signer !== undefined && !place.dry) {
        const followed = await followPublishedLedger(mirror, env, clock);
        if (followed !== undefined) report?.(ledgerReplaced(followed));
        const { publicKeyPem } = signer;
        await requireSeenEntries(mirror, { directory, publicKeyPem, memory: userCheckpointMemory(env) });
      }
      const isHere = (await readFrom(directory)('checkpoint')) !== undefined;
      if (!isHere && (signer === undefined || !(await hasCopy(mirror)))) return ledger;
      if (signer === undefined) {
        throw new WritError('LEDGER_FOREIGN', { detail: { directory } });
      }
      if (isHere) await ledger.head();
      if (!place.dry) await ledger.requireAppendable();
      return ledger;
    },
  };
}

/** How a shared ledger is reached. */
export interface SharedAccess {
  readonly fetch: HttpClient;
  /** A secret of the repository's vault, else of the user's. */
  readonly vault?: ((repository: RepositoryPlace, name: string) => Promise<string | undefined>) | undefined;
}

/**
 * Opens the shared ledger of `[log]`. Sends no request. CONFIG_INVALID for a policy that is no file of the policy
 * commit, LEDGER_TOKEN without a token in the environment and the vault.
 */
async function openShared(
  place: SealingPlace,
  { url, vkey, policy: path }: SharedSection,
  env: Environment,
  clock: Clock,
  outside: SharedAccess,
): Promise<TransparencyLog> {
  const bytes = path === undefined ? undefined : await place.readPolicy(path);
  if (path !== undefined && bytes === undefined)
    throw new WritError('CONFIG_INVALID', {
      message: `\`[log] policy\` is \`${path}\`, which is no file of the policy commit`,
      detail: { issues: [{ path: 'log.policy', message: 'no such file' }] },
    });
  const token = (): Promise<string> => findToken(url, env, (name) => outside.vault?.(place.repository, name));
  if (!place.dry) await token();
  const log = sharedLog({
    url,
    vkey,
    http: outside.fetch,
    token,
    clock,
    policy: bytes && parseTlogPolicy(bytes),
  });
  const name = new URL(url).host;
  const title = `the shared ledger \`${name}\``;
  return pinnedLog({ mode: ledgerMode, name, title, vkey, memory: userCheckpointMemory(env) }, log);
}

async function hasCopy(mirror: Repository | undefined): Promise<boolean> {
  return mirror !== undefined && (await listRefs(mirror, logPrefix)).length > 0;
}

/**
 * Refuses an entry that would fork the log, as far as what is stored in git shows it: a run, or the copy of the log,
 * shows entries that the ledger does not have. Where it follows its copy (`mirrored`), entries of runs that were made
 * here may be lost to the copy, and are made again; those of a run from elsewhere show that the copy is too old.
 * LOG_FAILED for a ledger that is too old, LOG_FORKED for one of another history. Called under the ledger's lock.
 */
async function requireOneHistory(
  repository: Repository,
  ledger: Omit<OwnLedger, 'memory'>,
  mirrored: boolean,
): Promise<void> {
  const { directory, publicKeyPem } = ledger;
  const head = await ownHead(ledger);
  if (head === undefined || head === 'unreadable') return;
  const bytes = await (await readMirror(repository, head.origin))?.('checkpoint');
  const copy = bytes && signedBy(publicKeyPem, bytes);
  if (copy?.origin === head.origin && !mirrored) {
    if (!(await isPartOf(copy, { head, read: readFrom(directory) })))
      throw apart(mirrorRef(head.origin), copy, head);
  }
  const isOfHere = ({ ref }: { readonly ref: string }): boolean =>
    existsSync(join(runsDirectory(repository), basename(ref)));
  // Runs up to the size of the copy may have been in a fork before their entries were made again.
  const strays = (await findStrayRuns(repository, publicKeyPem, directory, head))
    .filter((one) => one.checkpoint.size > (copy?.size ?? 0) && !(mirrored && isOfHere(one)))
    .sort((a, b) => b.checkpoint.size - a.checkpoint.size);
  const [largest] = strays;
  if (largest) throw apart(largest.ref, largest.checkpoint, head);
}

function apart(ref: string, found: SignedCheckpoint, own: SignedCheckpoint): WritError {
  const { origin } = own;
  const hints = [
    'put back the newest `.git/writ/ledger`: from the machine or the cache that made the last entries',
    'or let git carry the log: `[log] mirror = "git"`; run and `writ push` where the newest ledger is, then `writ fetch` here',
    `if its entries are lost, start a new log: \`mv .git/writ/ledger .git/writ/ledger-old; git update-ref -d ${mirrorRef(origin)}\``,
  ];
  if (found.size > own.size)
    return new WritError('LOG_FAILED', {
      message: `your key signed ${found.size} entries of the log \`${origin}\` (\`${ref}\`), and the ledger here has ${own.size}: the next entry would fork the log`,
      detail: { ref, origin, found: found.size, size: own.size },
      hints,
    });
  return new WritError('LOG_FORKED', {
    message: `your key signed ${found.size} entries of the log \`${origin}\` (\`${ref}\`) that are not those of the ledger here`,
    detail: { ...forked(found, own).detail, ref },
    hints,
  });
}

/** What replaced an unpublished end of the ledger. */
interface Followed {
  readonly ref: string;
  readonly version: string;
  readonly head: SignedCheckpoint;
  /** Entries of the ledger before. */
  readonly before: number;
  /** Where the ledger before is kept. */
  readonly kept: string;
  /** Refs of the runs without an entry in the published log. */
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
async function followPublished(
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
async function isLedgerBegun(directory: string): Promise<boolean> {
  return (await hasCheckpoint(directory)) || (await hasCheckpoint(nextOf(directory)));
}

/** Completes the replacement if a process was killed between the two renames, which leaves no ledger. */
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

/** Entries that a remote had must stay in the log, even if the same key signed another history. */
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
