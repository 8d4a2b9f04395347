import { join } from 'node:path';
import { renewEntry } from '../attest/bundle/renew-entry.ts';
import type { Environment } from '../attest/keys/user-config-dir.ts';
import { findUserLedgerKey } from '../attest/keys/user-keys.ts';
import { openUserLedger } from '../attest/log/internal-ledger-source.ts';
import { type KeptLedger, listUnsettledLedgers, markSettled } from '../attest/log/kept-ledgers.ts';
import { ledgerPath } from '../attest/log/ledger-path.ts';
import { openLogHere, unloggedRuns } from '../attest/log/logged-proof.ts';
import type { Clock } from '../core/base/clock.ts';
import { isWritError } from '../core/base/errors.ts';
import type { ObjectStore } from '../core/contract/object-store.ts';
import type { TransparencyLog } from '../core/contract/transparency-log.ts';
import { openStores, type Stores } from '../engine/store/open-stores.ts';
import { sealPaths } from '../engine/store/record/seal-paths.ts';
import type { Repository } from '../engine/vcs/repository.ts';

/** Where log entries are made again, and whose ledger key signs the log. */
export interface RenewalPlace {
  readonly repository: Repository;
  readonly stores: Stores;
  readonly env: Environment;
  readonly clock: Clock;
}

/**
 * Makes the log entries again of sealed runs that are in no published log, because another machine published its
 * entries first; the sealed commits, and all that was signed, stay. Answers the refs of the runs. A process that was
 * killed is repeated.
 */
export async function renewEntries(place: RenewalPlace): Promise<readonly string[]> {
  const { repository, stores, env, clock } = place;
  const unsettled = await listUnsettledLedgers(join(repository.commonDir, ledgerPath));
  if (unsettled.length === 0 || (await findUserLedgerKey(env)) === undefined) return [];
  const store = (await openStores(stores, repository, clock)).find(({ beside }) => beside === undefined);
  if (store === undefined) return [];
  const log = openUserLedger(repository.commonDir, env, clock, repository);
  const renewed: string[] = [];
  for (const kept of unsettled) {
    const published = await openLogHere(repository, kept.head.origin);
    if (published === undefined) continue;
    const runs = await unloggedRuns(repository, kept, published);
    const done: string[] = [];
    for (const ref of runs) if (await renewRun(store.objects, ref, kept, log)) done.push(ref);
    renewed.push(...done);
    if (done.length === runs.length) await markSettled(kept);
  }
  return renewed;
}

async function renewRun(
  objects: ObjectStore,
  ref: string,
  kept: KeptLedger,
  log: TransparencyLog,
): Promise<boolean> {
  const version = await objects.version(ref);
  const seals = await objects.readMany(ref, [sealPaths.bundle, sealPaths.renewedBundle, sealPaths.rollback]);
  // What was taken back is revoked in the same log, which nobody has.
  if (version === undefined || seals.has(sealPaths.rollback)) return false;
  try {
    const files = await renewEntry(seals, kept, log);
    if (files === undefined) return false;
    await objects.writeTree(ref, {
      message: 'writ: log entry made again',
      files,
      keepExisting: true,
      expectedOld: version,
    });
    return true;
  } catch (fault) {
    // A bundle that cannot be read, or a run that somebody moved meanwhile.
    if (isWritError(fault, 'ATTESTATION_MALFORMED') || isWritError(fault, 'EVIDENCE_WRITE_FAILED'))
      return false;
    throw fault;
  }
}
