import type { Rule } from '../../core/interfaces/rule.ts';

export const meta: Rule = {
  id: 'artifact-present',
  point: 'every-stage',
  module: new URL('./artifact-present.ts', import.meta.url),
  linear: true,
};
