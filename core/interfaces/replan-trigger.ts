/* The triggers of a replan. */
import type { ReplanTrigger } from './intentspec.gen.ts';

export type { ReplanTrigger } from './intentspec.gen.ts';

/** Triggers for a revision of the Plan (`execution.replan.triggers`), in the order in which reasons list them. */
export const replanTriggers = [
  'evidence-conflict',
  'scope-creep',
  'repeated-test-fail',
  'security-gate-fail',
  'unknown-api',
] as const satisfies readonly ReplanTrigger[];
