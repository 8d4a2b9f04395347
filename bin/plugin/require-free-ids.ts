import { WritError } from '../../core/base/errors.ts';
import type { PluginManifest } from '../../engine/plugin-trust/plugin-manifest.ts';
import { openEngine } from '../command-parts/open-engine.ts';

/**
 * No rule of a plugin bears the name of a built-in rule or of a policy engine, or PLUGIN_INVALID: no run that lists it
 * would begin.
 */
export async function requireFreeIds(
  context: Parameters<typeof openEngine>[0],
  { name, rules }: Pick<PluginManifest, 'name'> & { readonly rules: readonly { readonly id: string }[] },
): Promise<void> {
  await using engine = await openEngine(context);
  const taken = rules.find(
    ({ id }) => engine.rules.ids.includes(id) || engine.slots.policy.names.includes(id),
  );
  if (taken === undefined) return;
  throw new WritError('PLUGIN_INVALID', {
    message: `the rule \`${taken.id}\` of the plugin \`${name}\` bears the name of one of ours; give it another`,
    detail: { plugin: name, rule: taken.id },
  });
}
