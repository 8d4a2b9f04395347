import type { Rule } from '../../core/interfaces/rule.ts';
import { languageGlobs } from '../../readers/source/language.ts';

/** What it finds fires the trigger `unknown-api`; contracts that do not enable it do not ask. */
export const meta: Rule = {
  id: 'undeclared-api',
  point: 'patch',
  module: new URL('./undeclared-api.ts', import.meta.url),
  reads: languageGlobs,
  appliesTo: ({ execution }) => execution.replan.triggers.includes('unknown-api'),
  scan: { asked: 'where-named', severity: 'warning' },
  text: {
    about: 'Added lines call no API that the contract does not declare.',
    help: 'Name the endpoint in `intent.touchHints.apis`, or do without it.',
    tags: ['maintainability'],
  },
};
