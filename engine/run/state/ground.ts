import type { DigestedThing } from '../../../core/contract/attestor.ts';
import type { SandboxBackend } from '../../../core/contract/sandbox.ts';
import type { Rules } from '../../../core/kernel/rules.ts';
import type { WritConfig } from '../../config/config.ts';
import type { PluginParts } from '../../plugin-trust/open-parts.ts';
import type { Repository } from '../../vcs/repository.ts';
import type { Landing } from './landing.ts';
import type { OpenPolicies } from './open-policies.ts';
import type { OpenScanners } from './open-scanners.ts';

/** What a run stands on: found, checked, and not yet touched. */
export interface Ground extends Landing {
  readonly repository: Repository;
  /** How statements name it. */
  readonly repositoryUri: string;
  /** Committer time of the base commit; 0 for the empty tree. */
  readonly baseTimeMs: number;
  /** `.writ/config.toml` at the policy commit: a patch must not choose its judges. */
  readonly config: WritConfig;
  readonly configBytes: Uint8Array | undefined;
  readonly sandbox: SandboxBackend;
  /** In words, the better ones that are installed here and do not work. */
  readonly passedOver?: readonly string[];
  /** What the contract's platform demands were met by. */
  readonly environment: Readonly<Record<string, string>>;
  /** The engine's, and those of plugins that the repository lists. */
  readonly rules: Rules;
  readonly policies: OpenPolicies;
  readonly scanners: OpenScanners;
  /** What the listed plugins bring beside rules. Closed when the run is given back. */
  readonly plugins: PluginParts;
  /** Listed plugins, policy files, and what pins scanners, for `resolvedDependencies`. */
  readonly dependencies: readonly DigestedThing[];
}
