import { producedAt } from '../../../core/contract/gate-of.ts';
import type { EffectiveIntentSpec } from '../../../core/contract/intentspec.gen.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import type { Ground } from '../state/ground.ts';

/**
 * Throws what a built-in producer of a required artifact lacks on this machine, such as ADVISORIES_MISSING. Artifacts
 * that a check or a plugin makes are left out, and so are all if a scanner may deliver one.
 */
export async function requireArtifacts(
  { slots: { artifact } }: Pick<WritEngine, 'slots'>,
  spec: EffectiveIntentSpec,
  config: Pick<Ground['config'], 'artifacts' | 'scanners'>,
): Promise<void> {
  if (config.scanners.size > 0) return;
  for (const entry of spec.artifacts.required) {
    const { name, required } = entry;
    if (!required || producedAt(spec, entry) !== undefined || config.artifacts.has(name)) continue;
    if (artifact.names.includes(name)) (await artifact.pick(name)).requireReady?.();
  }
}
