import type { Rule } from '../../core/interfaces/rule.ts';

export const meta: Rule = {
  id: 'check-outcome',
  point: 'every-stage',
  module: new URL('./check-outcome.ts', import.meta.url),
  linear: true,
};
