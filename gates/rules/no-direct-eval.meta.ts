import type { Rule } from '../../core/interfaces/rule.ts';
import { languageGlobs } from '../../readers/source/language.ts';

export const meta: Rule = {
  id: 'no-direct-eval',
  point: 'patch',
  module: new URL('./no-direct-eval.ts', import.meta.url),
  linear: true,
  reads: languageGlobs,
  appliesTo: (spec) => spec.security.outputHandling.noDirectEval,
  text: {
    about: 'Added lines do not execute text directly.',
    securitySeverity: '8.8',
    tags: ['security', 'external/cwe/cwe-95'],
  },
};
