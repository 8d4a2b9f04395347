import { toFields } from '../../core/base/parse-fields.ts';
import type { PluginNeeds } from './manifest-needs.ts';
import { parseModule, parseName } from './manifest-part.ts';
import { parseSeconds } from './manifest-seconds.ts';
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

const defaultSeconds = 60;

/** Reads one; throws on nonsense. */
export function parseEvidence(
  item: unknown,
  pluginPackage: PluginPackage,
  { hosts }: PluginNeeds,
): ManifestEvidence {
  const fields = toFields(item, 'an evidence policy', [
    'name',
    'module',
    'refusesRetrieval',
    'timeoutSeconds',
  ]);
  const name = parseName(fields, 'an evidence policy');
  const { refusesRetrieval = false } = fields;
  if (typeof refusesRetrieval !== 'boolean')
    throw new TypeError(`evidence policy \`${name}\`: expected \`refusesRetrieval\` to be true or false`);
  return {
    name,
    module: parseModule(fields, `evidence policy \`${name}\``, pluginPackage),
    refusesRetrieval,
    timeoutSeconds: parseSeconds(fields).timeoutSeconds ?? defaultSeconds,
    hasHosts: hosts.length > 0,
  };
}
