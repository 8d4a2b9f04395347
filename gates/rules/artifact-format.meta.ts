import type { Rule } from '../../core/interfaces/rule.ts';

export const meta: Rule = {
  id: 'artifact-format',
  point: 'every-stage',
  module: new URL('./artifact-format.ts', import.meta.url),
  linear: true,
  readsArtifacts: true,
};
