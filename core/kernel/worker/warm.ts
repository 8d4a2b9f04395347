/* Starts a worker thread ahead of its first task, with rules loaded into it. */
import { defineTask } from './task.ts';
import type { run } from './warm-in-thread.ts';

export const warmTask = defineTask<typeof run>(new URL('./warm-in-thread.ts', import.meta.url));
