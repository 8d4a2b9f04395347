import type { Rule } from '../../core/interfaces/rule.ts';
import { languageGlobs } from '../../readers/source/language.ts';

export const meta: Rule = {
  id: 'tests-kept',
  point: 'patch',
  module: new URL('./tests-kept.ts', import.meta.url),
  linear: true,
  judgesWhole: true,
  reads: languageGlobs,
  executed: async () => (await import('../tests-kept/executed.ts')).executed,
  scan: { needsBothSides: true, asked: 'where-named' },
  text: {
    about: 'Test cases are kept, and judge as they did.',
    help: 'Keep the case, or let an objective of the contract say that it goes.',
    tags: ['reliability'],
  },
};
