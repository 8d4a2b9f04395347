/* Names the task that evaluates a rule, for the pool. */
import type { run } from './evaluate-rule-in-thread.ts';
import { defineTask } from './task.ts';

export const evaluateRuleTask = defineTask<typeof run>(
  new URL('./evaluate-rule-in-thread.ts', import.meta.url),
);
