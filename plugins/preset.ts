import { artifactsPlugin } from '../attest/artifacts/plugin.ts';
import { type AttestPluginOptions, attestPlugin } from '../attest/plugin.ts';
import type { LoadedPlugin } from '../core/kernel/plugin.ts';
import { gatesPlugin } from '../gates/plugin.ts';
import { cedarPlugin } from './cedar/plugin.ts';
import { redactionPlugin } from './redaction/plugin.ts';
import { sandboxPlugin } from './sandbox-plugin.ts';
import { storePlugin } from './store-plugin.ts';

/** Every built-in, in the order in which they are set up and asked. */
export function preset(options: AttestPluginOptions): readonly LoadedPlugin[] {
  return [
    sandboxPlugin, //     where checks run: bubblewrap, unshare, none
    storePlugin, //       where runs are kept: git-native, external-local
    gatesPlugin, //       check kinds, and one rule per reason a gate can fail
    cedarPlugin, //       policy engine: Cedar
    redactionPlugin, //   no secret reaches an artifact
    artifactsPlugin(options), // patchset, sbom, sca-report, release-notes
    attestPlugin(options), // keys, provenance, transparency log
  ];
}
