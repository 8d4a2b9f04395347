import { randomOctets } from '../../core/base/ids.ts';
import { definePlugin } from '../../core/plugin.ts';
import { redact } from './redact.ts';

/** Removes known token formats and private keys from every artifact before it is stored (document 1, privacy.redactionRequired). */
export const redactionPlugin = definePlugin({
  name: 'redaction',
  api: 1,
  enforces: ['constraints.privacy.redactionRequired'],
  setup({ hooks }) {
    // Lives as long as the engine: equal secrets are told apart within a run, and nobody can guess one from its digest later.
    const key = randomOctets(32);
    hooks.artifact.redact.tap((artifact) => {
      const { bytes, redactions } = redact(artifact.bytes, key);
      if (redactions.length === 0) return artifact;
      const count = redactions.reduce((sum, one) => sum + one.count, 0);
      return { ...artifact, bytes, redactions: artifact.redactions + count };
    });
    return undefined;
  },
});
