import { type Guard, within } from './guard.ts';

const usage = 'test/session/work/usage.test.ts';
const metered = 'test/engine/run/work/turns/metered-turns.test.ts';
const snapshot = 'test/session/state/snapshot.test.ts';

/** What a session costs: counted once for each reply, and told as it is known. */
export const guards: readonly Guard[] = [
  ...within('engine/run/work/turns/open-turns.ts', metered, [
    [
      'a reply that broke off has been paid for',
      'paid(usage);\n      throw fault;',
      'paid();\n      throw fault;',
      'a meter hears of every question',
    ],
  ]),
  ...within('engine/run/work/turns/count-usage.ts', metered, [
    [
      'what a vendor kept of a question is not counted at its full price',
      'cachedBefore = cachedInput;',
      '',
      'a meter hears of every question',
    ],
  ]),
  ...within('session/state/usage.ts', snapshot, [
    [
      'what has no price is said to have none',
      '(costUsd === undefined || before.unpriced === true ? { unpriced: true } : {})',
      '{}',
      'a snapshot has the fields',
    ],
  ]),
  ...within('session/state/reduce.ts', snapshot, [
    [
      'of a turn that is over only the whole grows',
      'fact.turn === turn ? withUsed',
      'fact.turn !== undefined ? withUsed',
      'a snapshot has the fields',
    ],
  ]),
  ...within('session/work/run-step.ts', usage, [
    [
      'the work of a run is counted',
      'personOf(scope, ground),\n    watch: watchWork(scope, plan),\n    meter: scope.meter(plan.id),',
      'personOf(scope, ground),\n    watch: watchWork(scope, plan),',
      'every reply is counted',
    ],
  ]),
];
