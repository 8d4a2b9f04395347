import type { ArtifactRecord } from '../../../core/contract/stage.ts';

/** Which of these artifacts plugins of others made; of the engine's own nothing is said. */
export function madeByPlugins(
  artifacts: readonly Pick<ArtifactRecord, 'sha256' | 'plugin'>[],
): readonly { readonly sha256: string; readonly plugin: string }[] {
  return artifacts.flatMap(({ sha256, plugin }) => (plugin === undefined ? [] : [{ sha256, plugin }]));
}
