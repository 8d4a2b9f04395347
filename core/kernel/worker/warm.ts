import { defineTask } from './task.ts';
import type { run } from './warm-in-thread.ts';

/** Starts a thread and loads rules' modules (file URLs) into it. */
export const warmTask = defineTask<typeof run>(new URL('./warm-in-thread.ts', import.meta.url));
