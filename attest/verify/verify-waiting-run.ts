import { sha256Hex } from '../../core/base/digest.ts';
import { isWritError } from '../../core/base/errors.ts';
import { parseBundle } from '../bundle/bundle.ts';
import { verifyEnvelope } from '../encoding/dsse.ts';
import { keyIdOf, parsePublicKey } from '../encoding/public-key.ts';
import { waitingRunType } from '../statement/waiting-run.ts';
import { readAttestation } from './read-attestation.ts';

/**
 * Whether one of these keys (PEM) signed, for that run, exactly these bytes under these names. False for whatever
 * cannot be read, is signed by another key, or speaks of another run or of other files; KEY_UNUSABLE for a key that is
 * none.
 */
export function verifyWaitingRun(
  bundle: Uint8Array,
  runId: string,
  files: ReadonlyMap<string, Uint8Array>,
  keys: readonly string[],
): boolean {
  const known = keys.map(parsePublicKey);
  try {
    const { envelope } = parseBundle(bundle);
    const key = known.find((one) => keyIdOf(one) === envelope.keyId);
    if (!key) return false;
    const payload = verifyEnvelope(envelope, key);
    const { predicateType, predicate, subjects } = readAttestation(envelope.payloadType, payload);
    if (predicateType !== waitingRunType || predicate.run_id !== runId) return false;
    const signed = new Map(subjects.map(({ name, digest }) => [name, digest.get('sha256')]));
    return (
      files.size > 0 &&
      signed.size === files.size &&
      [...files].every(([name, bytes]) => signed.get(name) === sha256Hex(bytes))
    );
  } catch (fault) {
    if (isWritError(fault)) return false;
    throw fault;
  }
}
