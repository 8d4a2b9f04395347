import type { Rule } from '../../core/interfaces/rule.ts';

export const meta: Rule = {
  id: 'suppressions',
  point: 'patch',
  module: new URL('./suppressions.ts', import.meta.url),
  linear: true,
  text: {
    about: 'Inline suppressions are seen by a reviewer.',
    tags: ['maintainability'],
  },
};
