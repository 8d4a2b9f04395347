import { defineTask } from './task.ts';
import type { run } from './warm-in-thread.ts';

/** Has a thread started, and rules' modules (file URLs) loaded into it. */
export const warmTask = defineTask<typeof run>(new URL('./warm-in-thread.ts', import.meta.url));
