import type { WritError } from '../../core/base/errors.ts';
import { definePlugin, type LoadedPlugin } from '../../core/kernel/plugin.ts';
import type { Environment } from '../keys/user-config-dir.ts';
import { createInternalLedgerSource, userCheckpointMemory } from '../log/internal-ledger-source.ts';
import { ledgerMode } from '../log/ledger-section.ts';
import { noLogSource } from '../log/no-log.ts';
import { lazyPublicLog } from '../public/lazy-public-log.ts';
import { publicLogMode } from '../public/public-log-section.ts';
import { createSignerSources } from '../signer/signer-sources.ts';

export interface AttestPluginOptions {
  /** Where the user's keys are and whether this is CI. */
  readonly env: Environment;
  /** `--ephemeral-key`. */
  readonly ephemeralKey: boolean;
  /** Is given what a person should know of and no run fails for. */
  readonly report?: (notice: WritError) => void;
}

/**
 * Signing keys, and the logs `internal-ledger`, `public-log` and `none`. Touches no file before one of them is opened.
 */
export function attestPlugin({ env, ephemeralKey, report }: AttestPluginOptions): LoadedPlugin {
  return definePlugin({
    name: 'attest',
    api: 1,
    enforces: [
      'provenance.requireSlsaProvenance',
      'provenance.transparencyLog.mode=none',
      'provenance.transparencyLog.mode=internal-ledger',
      'provenance.transparencyLog.mode=public-log',
      'provenance.bindings.embedIntentSpecDigest',
      'provenance.bindings.embedEvidenceDigests',
      'provenance.bindings.embedIntentSpecDigest=false',
      'provenance.bindings.embedEvidenceDigests=false',
      'artifacts.required.name=provenance-attestation',
      'artifacts.required.name=transparency-proof',
    ],
    setup({ slots, clock, fetch, secret, files }) {
      const options = { env, ephemeral: ephemeralKey, clock, fetch, secret, files };
      for (const [form, source] of createSignerSources(options)) slots.signer.add(form, source);
      slots.log.add(ledgerMode, createInternalLedgerSource(env, clock, report));
      slots.log.add(publicLogMode, lazyPublicLog(clock, fetch, userCheckpointMemory(env)));
      slots.log.add('none', noLogSource);
      return undefined;
    },
  });
}
