import type { PluginNeeds } from './manifest-needs.ts';
import { parsePart, partFlag, partSeconds } from './manifest-part.ts';
import type { PluginPackage } from './plugin-package.ts';

/** An evidence policy as the manifest declares it. */
export interface ManifestEvidence {
  /** What `[evidence] plugins` names it by. */
  readonly name: string;
  /** Exports `judge`, and `refuseRetrieval` where that is declared. */
  readonly module: string;
  /** Whether it has a say in when something is looked up outside the repository. */
  readonly refusesRetrieval: boolean;
  /** For one answer. */
  readonly timeoutSeconds: number;
  /** Whether its plugin reaches anybody. */
  readonly hasHosts: boolean;
}

/** Reads one; throws on nonsense. */
export function parseEvidence(
  item: unknown,
  pluginPackage: PluginPackage,
  { hosts }: PluginNeeds,
): ManifestEvidence {
  const more = ['refusesRetrieval', 'timeoutSeconds'];
  const part = parsePart(item, 'an evidence policy', more, pluginPackage);
  return {
    name: part.name,
    module: part.module,
    refusesRetrieval: partFlag(part, 'refusesRetrieval'),
    timeoutSeconds: partSeconds(part),
    hasHosts: hosts.length > 0,
  };
}
