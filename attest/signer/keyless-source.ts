import type { SignerSource } from '../../core/contract/signer.ts';
import type { Capabilities } from '../../core/kernel/capabilities.ts';
import { type KeylessKey, signerForms } from './signer-forms.ts';

/**
 * A key of this run alone, certified for the identity in an OIDC token; by whom, `fulcio_url` says, else the signing
 * config of `[log]`.
 */
export function keylessSource(
  capabilities: Pick<Capabilities, 'clock' | 'fetch' | 'secret'>,
): SignerSource<KeylessKey> {
  return {
    ...signerForms.keyless,
    open: async (_, place) => (await import('./keyless-key.ts')).openKeyless(place, capabilities),
  };
}
