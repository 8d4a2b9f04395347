import { type Guard, within } from './guard.ts';

/** What a task leaves behind in its thread decides before its answer is heard, never beside it. */
export const guards: readonly Guard[] = [
  ...within('core/kernel/worker/entry.ts', 'test/core/kernel/worker/pool.test.ts', [
    [
      'what comes at the next turn comes before the answer',
      'setImmediate(() => {',
      'queueMicrotask(() => {',
      'what a task leaves for its next turn',
    ],
  ]),
  ...within('core/kernel/worker/entry.ts', 'test/core/kernel/rules.test.ts', [
    [
      'a rule that leaves a timer has not ended',
      "if (process.getActiveResourcesInfo().some((kind) => kind === 'Timeout' || kind === 'Immediate'))",
      'if (outcome === undefined)',
      'a rule that answers and leaves a timer',
    ],
  ]),
];
