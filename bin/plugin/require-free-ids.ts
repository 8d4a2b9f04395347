import { WritError } from '../../core/base/errors.ts';
import { type PartField, partFields } from '../../engine/plugin-trust/part-fields.ts';
import type { PluginManifest } from '../../engine/plugin-trust/plugin-manifest.ts';
import { takenNames } from '../../engine/plugin-trust/taken-names.ts';
import { openEngine } from '../command-parts/open-engine.ts';

/** Names that a plugin would bring, by the field of its manifest. */
type BroughtNames = { readonly [F in PartField | 'rules']?: readonly string[] };

/** What a manifest brings. */
export function namesOf(manifest: PluginManifest): BroughtNames {
  const parts = Object.values(partFields).map((field) => [field, manifest[field].map(({ name }) => name)]);
  return { rules: manifest.rules.map(({ id }) => id), ...Object.fromEntries(parts) };
}

/**
 * Nothing of a plugin bears the name of a built-in part of its kind, no rule that of a policy engine, or
 * PLUGIN_INVALID: no run that lists it would begin.
 */
export async function requireFreeIds(
  context: Parameters<typeof openEngine>[0],
  plugin: string,
  names: BroughtNames,
): Promise<void> {
  await using engine = await openEngine(context);
  const ours = takenNames(engine);
  const kinds = [['rule', 'rules'], ...Object.entries(partFields)] as const;
  const taken = kinds.flatMap(([kind, field]) =>
    (names[field] ?? []).filter((name) => ours[field].includes(name)).map((name) => [kind, name]),
  );
  for (const [kind = '', name] of taken)
    throw new WritError('PLUGIN_INVALID', {
      message: `the ${kind} \`${name}\` of the plugin \`${plugin}\` bears the name of one of ours; give it another`,
      detail: { plugin, [kind]: name },
    });
}
