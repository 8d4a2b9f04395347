import { renewSeals } from '../attest/attestor/renew-seals.ts';
import { sealingForms } from '../attest/attestor/sealing-forms.ts';
import { parseBundle } from '../attest/bundle/bundle.ts';
import type { Environment } from '../attest/keys/user-config-dir.ts';
import { findUserSigningKey } from '../attest/keys/user-keys.ts';
import { openUserLedger } from '../attest/log/internal-ledger-source.ts';
import { createSignerSources } from '../attest/signer/signer-sources.ts';
import type { Clock } from '../core/base/clock.ts';
import { isWritError } from '../core/base/errors.ts';
import type { Signer } from '../core/contract/signer.ts';
import { parseConfig } from '../engine/config/config.ts';
import { openStores, type Stores } from '../engine/store/open-stores.ts';
import { sealPaths } from '../engine/store/record/seal-paths.ts';
import { parseObject } from '../engine/store/stored-object.ts';
import { readBlob } from '../engine/vcs/blobs.ts';
import type { Repository } from '../engine/vcs/repository.ts';

/** Where runs are renewed, and whose keys sign. */
export interface RenewalPlace {
  readonly repository: Repository;
  readonly stores: Stores;
  readonly env: Environment;
  readonly clock: Clock;
}

/**
 * Logs sealed runs again whose log entry the published log does not have, if their key is at hand; the sealed commits
 * stay. `runs` are refs. Answers the refs that were renewed; of the others, the spec is to be run again.
 */
export async function renewProofs(
  { repository, stores, env, clock }: RenewalPlace,
  runs: readonly string[],
): Promise<readonly string[]> {
  const store = (await openStores(stores, repository, clock)).find(({ beside }) => beside === undefined);
  const log = openUserLedger(repository.commonDir, env, clock, repository);
  const renewed: string[] = [];
  for (const ref of store === undefined ? [] : runs) {
    const { objects } = store as NonNullable<typeof store>;
    const version = await objects.version(ref);
    if (version === undefined) continue;
    const paths = (await objects.list(ref)).map(({ path }) => path);
    const files = await objects.readMany(ref, paths);
    // What was taken back is revoked in the log that nobody has.
    if (files.has(sealPaths.rollback)) continue;
    const signer = await findSigner(repository, env, files);
    if (signer === undefined) continue;
    try {
      await objects.writeTree(ref, {
        message: 'writ: log entry renewed',
        files: await renewSeals(files, { signer, log }),
        keepExisting: true,
        expectedOld: version,
      });
      renewed.push(ref);
    } catch (fault) {
      // A run that does not fit its seals, or that somebody else moved, stays as it is.
      if (!isWritError(fault, 'VERIFY_REFUTED') && !isWritError(fault, 'EVIDENCE_WRITE_FAILED')) throw fault;
    }
  }
  return renewed;
}

/** The key that sealed a run: as the policy of the run configures it; `undefined` if that is another one here. */
async function findSigner(
  repository: Repository,
  env: Environment,
  files: ReadonlyMap<string, Uint8Array>,
): Promise<Signer | undefined> {
  const [run, bundle] = [files.get('run.json'), files.get(sealPaths.bundle)];
  if (run === undefined || bundle === undefined) return undefined;
  try {
    const { policy_commit: policy } = parseObject('run', run);
    const bytes = policy === null ? undefined : await readBlob(repository, policy, '.writ/config.toml');
    const { key } = parseConfig(bytes, sealingForms).signer;
    // A certified key is made for one run.
    if (key.form === 'keyless') return undefined;
    const source = createSignerSources({ env, ephemeral: false }).get(key.form);
    const signer = await (key.form === 'default' ? findUserSigningKey(env) : source?.open(key));
    return signer?.keyId === parseBundle(bundle).envelope.keyId ? signer : undefined;
  } catch (fault) {
    if (isWritError(fault)) return undefined;
    throw fault;
  }
}
