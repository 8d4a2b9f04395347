import type { Rule } from '../../core/interfaces/rule.ts';

export const meta: Rule = {
  id: 'regression',
  point: 'integration',
  module: new URL('./regression.ts', import.meta.url),
  linear: true,
};
