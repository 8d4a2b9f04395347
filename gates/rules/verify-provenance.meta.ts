import type { Rule } from '../../core/interfaces/rule.ts';

export const meta: Rule = {
  id: 'verify-provenance',
  point: 'release',
  module: new URL('./verify-provenance.ts', import.meta.url),
  linear: true,
  // Asked by a policy check alone: a contract without one has its seal verified all the same.
  appliesTo: () => false,
};
