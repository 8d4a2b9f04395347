import type { Rule } from '../../core/interfaces/rule.ts';

export const meta: Rule = {
  id: 'require-approvers',
  point: 'release',
  module: new URL('./require-approvers.ts', import.meta.url),
  linear: true,
  // Asked by a policy check alone: only that can wait, and only it says how many.
  appliesTo: () => false,
};
