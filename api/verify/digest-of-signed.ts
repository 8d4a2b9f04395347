import { parseAnyBundle } from '../../attest/bundle/any-bundle.ts';
import { preAuthEncoding } from '../../attest/encoding/dsse.ts';
import { sha256Hex } from '../../core/base/digest.ts';
import { isWritError } from '../../core/base/errors.ts';

/**
 * SHA-256, hex, of what the signature of an attestation covers: that is what a log holds of it. `undefined` for what is
 * no attestation.
 */
export function digestOfSigned(bytes: Uint8Array): string | undefined {
  try {
    const { content } = parseAnyBundle(bytes);
    if (content.kind === 'message') return content.digest.toString('hex');
    return sha256Hex(preAuthEncoding(content.payloadType, content.payload));
  } catch (fault) {
    if (isWritError(fault, 'ATTESTATION_MALFORMED') || isWritError(fault, 'VERIFY_NOTHING')) return undefined;
    throw fault;
  }
}
