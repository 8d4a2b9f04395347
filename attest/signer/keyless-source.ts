import { serviceUrlFault } from '../../core/base/service-url.ts';
import type { SignerSource } from '../../core/contract/signer.ts';
import type { Capabilities } from '../../core/kernel/capabilities.ts';

/**
 * A key of this run alone, certified for the identity in an OIDC token; by whom, `fulcio_url` says, else the signing
 * config of `[log]`.
 */
export function keylessSource(
  capabilities: Pick<Capabilities, 'clock' | 'fetch' | 'secret'>,
): SignerSource<{ readonly form: 'keyless' }> {
  return {
    usage: 'keyless',
    settings: [
      {
        key: 'fulcio_url',
        name: 'fulcioUrl',
        parse(text) {
          const fault = serviceUrlFault(text);
          return fault === undefined ? { value: text.replace(/\/+$/, '') } : { expected: fault };
        },
        misplaced: 'only `key = "keyless"` asks for certificates',
      },
    ],
    parse: (rest) => (rest === undefined ? { form: 'keyless' } : undefined),
    open: async (_, place) => (await import('./keyless-key.ts')).openKeyless(place, capabilities),
  };
}
