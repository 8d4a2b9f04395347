import { coderPlugin } from '../agent/plugin.ts';
import { userSecrets } from '../api/vault/user-secrets.ts';
import { type AttestPluginOptions, attestPlugin } from '../attest/attestor/plugin.ts';
import type { LoadedPlugin } from '../core/kernel/plugin.ts';
import { gatesPlugin } from '../gates/plugin.ts';
import { providersPlugin } from '../providers/plugin.ts';
import { artifactsPlugin } from './artifacts/plugin.ts';
import { evidencePlugin } from './evidence/plugin.ts';
import { policyEnginesPlugin } from './policy-engines/plugin.ts';
import { recordedWorkerPlugin } from './recorded-worker/plugin.ts';
import { redactionPlugin } from './redaction/plugin.ts';
import { sandboxPlugin } from './sandbox/plugin.ts';
import { storePlugin } from './store/plugin.ts';
import { supplyChainPlugin } from './supply-chain/plugin.ts';

/** Every built-in plugin, in the order of set-up and of calls. */
export function preset(options: AttestPluginOptions): readonly LoadedPlugin[] {
  return [
    sandboxPlugin, //     where checks run: bubblewrap, unshare, none
    recordedWorkerPlugin, // worker: answers from a recording
    providersPlugin, //   model backends
    coderPlugin, //       worker: a model does the Tasks
    evidencePlugin, //    which sources count, by `evidence.strategy`
    storePlugin(userSecrets(options.env)), // where runs are kept: git-native, external-local, external-s3
    gatesPlugin, //       check kinds, and one rule per reason a gate can fail
    policyEnginesPlugin, // policy engines: Cedar, CEL, Rego
    redactionPlugin, //   no secret reaches an artifact
    artifactsPlugin, //   patchset, release-notes
    supplyChainPlugin(options), // sbom, sca-report
    attestPlugin({ ...userSecrets(options.env), ...options }), // keys, provenance, transparency log
  ];
}
