import { messageOf, WritError } from '../base/errors.ts';
import type { SealingParties } from '../contract/attestor.ts';
import type { AdmittedContract } from './admit-contract.ts';
import type { Ground } from './prepare-ground.ts';
import type { WritEngine } from './writ-engine.ts';

/** Opens key and log before any work, so that a run which could never be sealed is refused at once. */
export async function openParties(
  engine: WritEngine,
  contract: AdmittedContract,
  ground: Ground,
): Promise<SealingParties | undefined> {
  const { provenance, artifacts } = contract.effective;
  const listed = artifacts.required.some(
    ({ name, required }) => required && name === 'provenance-attestation',
  );
  if (!provenance.requireSlsaProvenance && !listed) return undefined;
  const signer = await engine.slots.signer.pick('key');
  const log = await engine.slots.log.pick(provenance.transparencyLog.mode);
  try {
    return {
      signer: await signer.open(ground.config.signer.key),
      log: await log.open({ commonDir: ground.repository.commonDir }),
    };
  } catch (fault) {
    if (fault instanceof WritError) throw fault;
    throw new WritError('SIGNER_FAILED', {
      message: `the signing key could not be opened: ${messageOf(fault)}`,
      cause: fault,
    });
  }
}
