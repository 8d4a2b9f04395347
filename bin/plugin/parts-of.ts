import type { PluginManifest } from '../../engine/plugin-trust/plugin-manifest.ts';

/** What a plugin brings beside rules. */
export function partsOf({
  providers,
  logs,
}: Pick<PluginManifest, 'providers' | 'logs'>): { kind: string; name: string }[] {
  return [
    ...providers.map(({ name }) => ({ kind: 'provider', name })),
    ...logs.map(({ name }) => ({ kind: 'log', name })),
  ];
}
