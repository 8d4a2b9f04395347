import type { Rule } from '../../core/interfaces/rule.ts';
import { requiresByStage } from '../formats/required-artifact.ts';

export const meta: Rule = {
  id: 'sca',
  point: 'security',
  module: new URL('./sca.ts', import.meta.url),
  readsArtifacts: true,
  judgesArtifact: 'sca-report',
  appliesTo: (spec) => requiresByStage(spec, 'sca-report', 'security'),
  text: {
    about: 'No dependency has a known vulnerability.',
    securitySeverity: '7.0',
    tags: ['security', 'external/cwe/cwe-1395'],
  },
};
