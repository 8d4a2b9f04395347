import type { Rule } from '../../core/interfaces/rule.ts';

export const meta: Rule = {
  id: 'artifact-declared',
  point: 'every-stage',
  module: new URL('./artifact-declared.ts', import.meta.url),
  linear: true,
};
