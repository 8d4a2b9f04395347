import type { KeyObject } from 'node:crypto';
import type { BundledProof } from '../bundle/bundled-proof.ts';
import type { Envelope } from '../encoding/dsse.ts';
import { claimOf, requireSameClaim } from '../log/entry-claim.ts';
import { verifyLogEntry } from '../log/log-entry.ts';
import { parsePromisedEntry } from '../log/promised-entry.ts';

/**
 * The entry of a proof, of either form, speaks of this envelope and of the key (and certificate) that verified it.
 * VERIFY_REFUTED (`mismatch`) naming the member; ATTESTATION_MALFORMED.
 */
export function verifyEntryOf(
  { body, promise }: Pick<BundledProof, 'body' | 'promise'>,
  envelope: Envelope,
  key: KeyObject,
  certificate?: Buffer,
): void {
  if (promise === undefined) verifyLogEntry(body, envelope, key);
  else requireSameClaim(parsePromisedEntry(body), claimOf(envelope, key, certificate));
}
