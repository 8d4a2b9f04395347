/* Repeats the log entries of sealed runs that are missing from the published log. */
import { join } from 'node:path';
import { renewEntry } from '../attest/bundle/bundle.ts';
import { findUserLedgerKey } from '../attest/keys/key-signer.ts';
import type { Environment } from '../attest/keys/user-config-dir.ts';
import { openUserLedger } from '../attest/log/internal-ledger-source.ts';
import {
  type KeptLedger,
  ledgerPath,
  listUnsettledLedgers,
  markSettled,
} from '../attest/log/ledger-files.ts';
import { openLogHere, unloggedRuns } from '../attest/log/proven-runs.ts';
import type { Clock } from '../core/base/clock.ts';
import { isWritError } from '../core/base/errors.ts';
import type { TransparencyLog } from '../core/interfaces/sealing.ts';
import type { ObjectStore } from '../core/interfaces/store.ts';
import { sealPaths } from '../store/record/record-paths.ts';
import { openStores, type Stores } from '../store/stores.ts';
import type { Repository } from '../workspace/git/repository.ts';

/**
 * Repository and stores in which log entries are renewed, and the environment with the ledger key that signs the log.
 */
export interface RenewalPlace {
  readonly repository: Repository;
  readonly stores: Stores;
  readonly env: Environment;
  readonly clock: Clock;
}

/**
 * Makes the log entries of sealed runs again that are in no published log, because another machine published its
 * entries first. The sealed commits, and everything that was signed, stay. Returns the refs of the runs. Calling it
 * again completes a call that was killed.
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
    const outcomes = new Map<string, RenewalOutcome>();
    for (const ref of runs) outcomes.set(ref, await renewRun(store.objects, ref, kept, log));
    for (const [ref, outcome] of outcomes) if (outcome === 'renewed') renewed.push(ref);
    // Otherwise each push and fetch would look through all runs again.
    if (![...outcomes.values()].includes('open')) await markSettled(kept);
  }
  return renewed;
}

/** `rolled-back`: the run needs no entry any more. `open`: the entry cannot be made now. */
type RenewalOutcome = 'renewed' | 'rolled-back' | 'open';

async function renewRun(
  objects: ObjectStore,
  ref: string,
  kept: KeptLedger,
  log: TransparencyLog,
): Promise<RenewalOutcome> {
  const version = await objects.version(ref);
  const seals = await objects.readMany(ref, [sealPaths.bundle, sealPaths.renewedBundle, sealPaths.rollback]);
  // Its revocation is in the same log, which was never published.
  if (seals.has(sealPaths.rollback)) return 'rolled-back';
  if (version === undefined) return 'open';
  try {
    const files = await renewEntry(seals, kept, log);
    if (files === undefined) return 'open';
    await objects.writeTree(ref, {
      message: 'writ: log entry made again',
      files,
      keepExisting: true,
      expectedOld: version,
    });
    return 'renewed';
  } catch (fault) {
    // A bundle that cannot be read, or a record that another process changed meanwhile.
    if (isWritError(fault, 'ATTESTATION_MALFORMED') || isWritError(fault, 'EVIDENCE_WRITE_FAILED'))
      return 'open';
    throw fault;
  }
}
