import type {
  ArtifactName,
  ArtifactStage,
  EffectiveIntentSpec,
} from '../../../core/contract/intentspec.gen.ts';
import type { StageName } from '../../../core/contract/stage.ts';
import type { WritConfig } from '../../config/config.ts';

const artifactStage: Readonly<Record<StageName, ArtifactStage>> = {
  fast: 'per-task',
  integration: 'integration',
  security: 'security',
  release: 'release',
};

/**
 * Adds `[artifacts]` of the policy commit to what a contract requires: names that no contract can say, so that nothing
 * of its own is touched. Pure.
 */
export function withPolicyArtifacts(
  spec: EffectiveIntentSpec,
  { artifacts }: Pick<WritConfig, 'artifacts'>,
): EffectiveIntentSpec {
  if (artifacts.size === 0) return spec;
  const added = [...artifacts].map(([name, { stage, format }]) => ({
    name: name as ArtifactName,
    stage: artifactStage[stage],
    required: true,
    format,
  }));
  return { ...spec, artifacts: { ...spec.artifacts, required: [...spec.artifacts.required, ...added] } };
}
