import type { Rule } from '../../core/interfaces/rule.ts';

export const meta: Rule = {
  id: 'scope',
  point: 'patch',
  module: new URL('./scope.ts', import.meta.url),
  linear: true,
  text: {
    about: 'The change stays within the scope of its contract.',
    tags: ['maintainability'],
  },
};
