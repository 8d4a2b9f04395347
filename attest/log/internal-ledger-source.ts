import { join } from 'node:path';
import type { Clock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import type { LogSource } from '../../core/contract/transparency-log.ts';
import type { Repository } from '../../engine/vcs/repository.ts';
import type { Environment } from '../keys/user-config-dir.ts';
import { findUserLedgerKey, openUserLedgerKey } from '../keys/user-keys.ts';
import type { SignedCheckpoint } from './checkpoint.ts';
import { forked } from './checkpoint-memory.ts';
import {
  type Continued,
  continueFromMirror,
  type OwnLedger,
  ownHead,
  requireSeenEntries,
  signedBy,
} from './continue-mirror.ts';
import { type Followed, followPublished, isLedgerBegun } from './follow-published.ts';
import { mirrorLedger, mirrorRef, readMirror } from './git-mirror.ts';
import { createInternalLedger, type InternalLedger } from './internal-ledger.ts';
import { takeLock } from './ledger-lock.ts';
import { ledgerPath } from './ledger-path.ts';
import { ledgerForm, ledgerSectionOf } from './ledger-section.ts';
import { isPartOf } from './log-version.ts';
import { readFrom } from './read-from.ts';
import { findStrayRuns } from './stray-runs.ts';
import { userCheckpointMemory } from './user-checkpoint-memory.ts';

export { userCheckpointMemory };

const lockWaitMs = 15_000;

/**
 * The internal ledger of a repository, signed with the user's ledger key. Nothing is touched before its first call.
 * With `mirror`, git carries a copy that follows each append; a ledger that is older than the copy continues from it.
 * Nothing is appended that would fork the log by what is `stored` in git of it.
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

/** How a command says that the ledger follows the published log from now on. */
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
 * Lets the ledger of a repository follow the log that another machine published first, if it is the user's and has an
 * unpublished end; with `continues` it also takes entries that only the copy in git has. Without a ledger or its key
 * nothing happens.
 */
export async function followPublishedLedger(
  repository: Repository,
  env: Environment,
  clock: Clock,
  continues = false,
): Promise<Followed | undefined> {
  const directory = join(repository.commonDir, ledgerPath);
  if (!(await isLedgerBegun(directory))) return undefined;
  const signer = await findUserLedgerKey(env);
  if (signer === undefined) return undefined;
  const { publicKeyPem } = signer;
  const own = { directory, publicKeyPem, memory: userCheckpointMemory(env) };
  const lock = await takeLock(directory, clock, lockWaitMs);
  try {
    const followed = await followPublished(repository, own);
    if (continues) await continueFromMirror(repository, own);
    return followed;
  } finally {
    await lock.release();
  }
}

/**
 * Log mode `internal-ledger`. A ledger that this user cannot append to, or only by forking a log, is refused when it is
 * opened. Opening makes nothing, except that a ledger follows its copy in git.
 */
export function createInternalLedgerSource(
  env: Environment,
  clock: Clock,
  report?: (notice: WritError) => void,
): LogSource {
  return {
    ...ledgerForm,
    open: async (place) => {
      const { commonDir, repository } = place;
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
      if ((await readFrom(directory)('checkpoint')) === undefined) return ledger;
      if (signer === undefined) {
        throw new WritError('LEDGER_FOREIGN', { detail: { directory } });
      }
      await ledger.head();
      if (!place.dry) await ledger.requireAppendable();
      return ledger;
    },
  };
}

/**
 * Refuses an entry that would fork the log, as far as what is stored in git shows it: a run, or the copy of the log,
 * shows entries that the ledger does not have. A ledger that follows its copy (`mirrored`) is held to that alone.
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
  if (copy?.origin === head.origin) {
    if (mirrored) return;
    if (!(await isPartOf(copy, { head, read: readFrom(directory) })))
      throw apart(mirrorRef(head.origin), copy, head);
  }
  // Runs up to the size of the copy may have stood in a fork before their entries were made again.
  const strays = (await findStrayRuns(repository, publicKeyPem, directory, head))
    .filter(({ checkpoint }) => checkpoint.size > (copy?.size ?? 0))
    .sort((a, b) => b.checkpoint.size - a.checkpoint.size);
  const [largest] = strays;
  if (largest) throw apart(largest.ref, largest.checkpoint, head);
}

function apart(ref: string, found: SignedCheckpoint, own: SignedCheckpoint): WritError {
  const { origin } = own;
  const hints = [
    'put back the newest `.git/writ/ledger`: from the machine or the cache that made the last entries',
    'or let git carry the log: `[log] mirror = "git"`; run and `writ push` where the newest ledger is, then `writ fetch` here',
    'if its entries are lost, start a new log: `mv .git/writ/ledger .git/writ/ledger-old`',
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
