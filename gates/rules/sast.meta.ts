import type { Rule } from '../../core/interfaces/rule.ts';
import { languageGlobs } from '../../readers/source/language.ts';
import { requiresArtifact } from '../formats/required-artifact.ts';

export const meta: Rule = {
  id: 'sast',
  point: 'security',
  module: new URL('./sast.ts', import.meta.url),
  reads: languageGlobs,
  readsArtifacts: true,
  judgesChange: true,
  judgesArtifact: 'sast-report',
  rows: async () => (await import('../sast/rows.ts')).describedRows,
  appliesTo: (spec) => requiresArtifact(spec, 'sast-report'),
  text: {
    about: 'No static analysis reports an error.',
    securitySeverity: '7.0',
    tags: ['security'],
  },
};
