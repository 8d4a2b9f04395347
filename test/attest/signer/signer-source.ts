import { createSignerSources, type SignerSourcesOptions } from '../../../attest/attestor/plugin.ts';
import type { SealingPlace, Signer, SignerKey } from '../../../core/interfaces/sealing.ts';

/** The sources of keys as an engine asks them: by the form of the key. */
export function createSignerSource(options: SignerSourcesOptions) {
  const sources = createSignerSources(options);
  return {
    async open(key: SignerKey & Readonly<Record<string, unknown>>, place?: SealingPlace): Promise<Signer> {
      const source = sources.get(key.form);
      if (!source) throw new Error(`no source of \`${key.form}\``);
      return source.open(key, place);
    },
  };
}
