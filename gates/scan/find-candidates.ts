import { defineTask } from '../../core/kernel/worker/task.ts';
import type { run } from './find-candidates-in-thread.ts';

/** Reads the bytes of every file of a piece once, for all rules that say what to look for. */
export const findCandidates = defineTask<typeof run>(
  new URL('./find-candidates-in-thread.ts', import.meta.url),
);
