import type { ArtifactStage } from './intentspec.gen.ts';
import type { StageName } from './stage.ts';

/** Which gate stage checks an artifact's existence (document 1, `required[].stage`). */
export const gateOf: Readonly<Record<ArtifactStage, StageName>> = {
  'per-task': 'fast',
  integration: 'integration',
  security: 'security',
  release: 'release',
};
