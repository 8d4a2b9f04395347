import type { run } from './judge-rule-in-thread.ts';
import { defineTask } from './task.ts';

export const evaluateRuleTask = defineTask<typeof run>(new URL('./judge-rule-in-thread.ts', import.meta.url));
