import { WritError } from '../../core/base/errors.ts';
import type { Repository } from '../../engine/vcs/repository.ts';
import type { SignedCheckpoint } from './checkpoint.ts';
import { forked } from './checkpoint-memory.ts';
import { type OwnLedger, ownHead, signedBy } from './continue-mirror.ts';
import { mirrorRef, readMirror } from './git-mirror.ts';
import { isPartOf } from './log-version.ts';
import { readFrom } from './read-from.ts';
import { findStrayRuns } from './stray-runs.ts';

/**
 * Refuses an entry that would fork the log, as far as what is stored in git shows it: a run, or the copy of the log,
 * shows entries that the ledger does not have. A ledger that follows its copy (`mirrored`) is held to that alone.
 * LOG_FAILED for a ledger that is too old, LOG_FORKED for one of another history. Called under the ledger's lock.
 */
export async function requireOneHistory(
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
