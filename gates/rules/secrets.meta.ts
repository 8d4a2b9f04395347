import type { Rule } from '../../core/interfaces/rule.ts';

export const meta: Rule = {
  id: 'secrets',
  point: 'patch',
  module: new URL('./secrets.ts', import.meta.url),
  linear: true,
  readsStanding: true,
  findsSecrets: true,
  text: {
    about: 'Added lines hold no credential.',
    securitySeverity: '8.0',
    tags: ['security', 'external/cwe/cwe-798'],
  },
};
