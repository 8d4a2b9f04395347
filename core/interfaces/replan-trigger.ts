import type { ReplanTrigger } from './intentspec.gen.ts';

export type { ReplanTrigger } from './intentspec.gen.ts';

/** What may cause a revision of the Plan (document 1, Execution policy), in the order in which reasons name them. */
export const replanTriggers = [
  'evidence-conflict',
  'scope-creep',
  'repeated-test-fail',
  'security-gate-fail',
  'unknown-api',
] as const satisfies readonly ReplanTrigger[];
