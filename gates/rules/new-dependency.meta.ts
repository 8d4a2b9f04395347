import type { Rule } from '../../core/interfaces/rule.ts';
import { dependencyFileGlobs } from '../../readers/packages/file-kind.ts';

export const meta: Rule = {
  id: 'new-dependency',
  point: 'patch',
  module: new URL('./new-dependency.ts', import.meta.url),
  linear: true,
  judgesWhole: true,
  reads: dependencyFileGlobs,
  readsUnchanged: true,
  scan: { needsBothSides: true, severity: 'warning' },
  text: {
    about: 'New dependencies are allowed and reviewed.',
    securitySeverity: '5.0',
    tags: ['security', 'supply-chain'],
  },
};
