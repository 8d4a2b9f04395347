import type { Rule } from '../../core/interfaces/rule.ts';
import { requiresOfChecks } from '../formats/required-artifact.ts';

export const meta: Rule = {
  id: 'sbom',
  point: 'security',
  module: new URL('./sbom.ts', import.meta.url),
  readsArtifacts: true,
  judgesArtifact: 'sbom',
  appliesTo: (spec) => requiresOfChecks(spec, 'sbom'),
};
