import { WritError } from '../../core/base/errors.ts';
import type { PluginManifest } from '../../engine/plugin-trust/plugin-manifest.ts';
import { openEngine } from '../command-parts/open-engine.ts';

/** Names that a plugin would bring, by kind. */
interface BroughtNames {
  readonly rules?: readonly string[];
  readonly providers?: readonly string[];
}

/** What a manifest brings. */
export function namesOf({ rules, providers }: PluginManifest): BroughtNames {
  return { rules: rules.map(({ id }) => id), providers: providers.map(({ name }) => name) };
}

/**
 * Nothing of a plugin bears the name of a built-in part of its kind, no rule that of a policy engine, or
 * PLUGIN_INVALID: no run that lists it would begin.
 */
export async function requireFreeIds(
  context: Parameters<typeof openEngine>[0],
  plugin: string,
  { rules = [], providers = [] }: BroughtNames,
): Promise<void> {
  await using engine = await openEngine(context);
  const { policy, provider } = engine.slots;
  const taken = [
    ...rules
      .filter((id) => engine.rules.ids.includes(id) || policy.names.includes(id))
      .map((id) => ['rule', id]),
    ...providers.filter((name) => provider.names.includes(name)).map((name) => ['provider', name]),
  ];
  for (const [kind = '', name] of taken)
    throw new WritError('PLUGIN_INVALID', {
      message: `the ${kind} \`${name}\` of the plugin \`${plugin}\` bears the name of one of ours; give it another`,
      detail: { plugin, [kind]: name },
    });
}
