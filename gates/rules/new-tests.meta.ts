import type { Rule } from '../../core/interfaces/rule.ts';
import { languageGlobs } from '../../readers/source/language.ts';
import { asksNewTests } from '../new-tests/new-cases.ts';

export const meta: Rule = {
  id: 'new-tests',
  point: 'patch',
  module: new URL('./new-tests.ts', import.meta.url),
  linear: true,
  judgesWhole: true,
  reads: languageGlobs,
  executed: async () => (await import('../new-tests/executed.ts')).executed,
  scan: { needsBothSides: true, asked: 'where-named' },
  appliesTo: asksNewTests,
  text: {
    about: 'A fix brings at least one new test case.',
    tags: ['reliability'],
  },
};
