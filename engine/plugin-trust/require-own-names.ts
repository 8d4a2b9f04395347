import { WritError } from '../../core/base/errors.ts';
import { type PartField, type PartKind, partFields, partKindNames } from './part-fields.ts';
import type { PluginManifest } from './plugin-manifest.ts';

/** Names that are given away, by the field of a manifest that would bring such a one. */
export type TakenNames = { readonly [F in PartField | 'rules']?: readonly string[] };

/**
 * Nothing that these plugins bring bears the name of a built-in one of its kind, or of what another plugin brings: else
 * SLOT_DUPLICATE, which names both owners. What a stage check finds bears its name as the rule.
 */
export function requireOwnNames(manifests: readonly PluginManifest[], taken: TakenNames): void {
  const owners = new Map<string, Brought>();
  for (const one of manifests.flatMap(broughtBy)) {
    const { plugin, kind, field, name } = one;
    const key = `${kind === 'stage-check' ? 'rule' : kind} ${name}`;
    const other = owners.get(key);
    const isBuiltIn = taken[field]?.includes(name) === true;
    if (isBuiltIn || other !== undefined) {
      const owner = isBuiltIn
        ? 'one that is built in'
        : `the ${other?.kind} \`${name}\` of plugin \`${other?.plugin}\``;
      throw new WritError('SLOT_DUPLICATE', {
        message: `the ${kind} \`${name}\` of plugin \`${plugin}\` bears the name of ${owner}`,
        detail: { slot: kind, name, plugins: isBuiltIn ? [plugin] : [other?.plugin, plugin] },
        hints: [
          isBuiltIn
            ? 'nothing that is built in is replaced: the plugin needs another name for it'
            : 'list one of the two in `[[plugins]]`',
        ],
      });
    }
    owners.set(key, one);
  }
}

interface Brought {
  readonly plugin: string;
  readonly kind: PartKind | 'rule';
  readonly field: PartField | 'rules';
  readonly name: string;
}

function broughtBy(manifest: PluginManifest): readonly Brought[] {
  const plugin = manifest.name;
  return [
    ...manifest.rules.map(({ id }): Brought => ({ plugin, kind: 'rule', field: 'rules', name: id })),
    ...partKindNames.flatMap((kind) => {
      const field = partFields[kind];
      return manifest[field].map(({ name }): Brought => ({ plugin, kind, field, name }));
    }),
  ];
}
