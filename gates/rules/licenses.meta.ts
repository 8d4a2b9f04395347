import type { Rule } from '../../core/interfaces/rule.ts';
import { dependencyFileGlobs } from '../../readers/packages/file-kind.ts';

export const meta: Rule = {
  id: 'licenses',
  point: 'patch',
  module: new URL('./licenses.ts', import.meta.url),
  linear: true,
  judgesWhole: true,
  reads: dependencyFileGlobs,
  readsUnchanged: true,
  scan: { needsBothSides: true, severity: 'warning' },
  appliesTo: ({ constraints }) =>
    constraints.licensing.allowedSpdx.length > 0 || constraints.licensing.forbidNewLicenses,
  text: {
    about: 'New dependencies carry an allowed license.',
    tags: ['supply-chain'],
  },
};
