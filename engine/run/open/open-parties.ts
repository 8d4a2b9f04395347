import { messageOf, WritError } from '../../../core/base/errors.ts';
import type { SealingParties } from '../../../core/contract/attestor.ts';
import type { SealingPlace } from '../../../core/contract/sealing-place.ts';
import type { AdmittedContract } from '../../intent/admit-contract.ts';
import { isAttested } from '../../spec/is-attested.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import { readBlob } from '../../vcs/blobs.ts';
import type { Ground } from '../state/ground.ts';

/** Trusted roots and signing configs are a few kilobytes. */
const maxFileBytes = 1024 * 1024;

/**
 * Opens key and log before any work, so that a run which could never be sealed is refused at once. With `dry` no key is
 * made: a throw-away one stands for it.
 */
export async function openParties(
  engine: WritEngine,
  contract: AdmittedContract,
  ground: Pick<Ground, 'config' | 'repository' | 'policy' | 'plugins'>,
  dry = false,
): Promise<SealingParties | undefined> {
  const { provenance } = contract.effective;
  if (!isAttested(contract.effective)) return undefined;
  const { config, repository, policy, plugins } = ground;
  const { mode } = provenance.transparencyLog;
  const { key } = config.signer;
  const keys = await engine.slots.signer.pick(key.form);
  const logs = await engine.slots.log.pick(mode);
  const asked: string[] = [];
  const place: SealingPlace = {
    repository,
    commonDir: repository.commonDir,
    logMode: mode,
    config: { signer: config.signer, log: config.log },
    ...(dry ? { dry } : {}),
    outsideLog(name) {
      asked.push(name);
      return plugins.logs.get(name);
    },
    readPolicy: (path) => readBlob(repository, policy.tree, path, maxFileBytes),
  };
  try {
    const signer = await keys.open(key, place);
    const log = await logs.open(place, signer);
    await plugins.requireSecrets({ logs: asked });
    return { signer, log };
  } catch (fault) {
    if (fault instanceof WritError) throw fault;
    throw new WritError('SIGNER_FAILED', {
      message: `the signing key could not be opened: ${messageOf(fault)}`,
      cause: fault,
    });
  }
}
