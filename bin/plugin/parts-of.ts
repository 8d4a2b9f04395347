import { type PartKind, partFields, partKindNames } from '../../engine/plugin-trust/part-fields.ts';
import type { PluginManifest } from '../../engine/plugin-trust/plugin-manifest.ts';

/** What a plugin brings beside rules. */
export function partsOf(manifest: PluginManifest): { kind: PartKind; name: string }[] {
  return partKindNames.flatMap((kind) => manifest[partFields[kind]].map(({ name }) => ({ kind, name })));
}
