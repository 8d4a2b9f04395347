import { type Guard, within } from './guard.ts';

const usage = 'test/session/work/usage.test.ts';
const metered = 'test/engine/run/work/turns/metered-turns.test.ts';
const notFree = 'what is told to have used nothing';
const spending = 'test/session/work/spending.test.ts';
const converse = 'test/session/state/converse.test.ts';
const gate = 'test/engine/run/work/agent/model-gate.test.ts';
const snapshot = 'test/session/state/snapshot.test.ts';

/** What a session costs: counted once for each reply, and told as it is known. */
export const guards: readonly Guard[] = [
  ...within('engine/run/work/turns/open-turns.ts', metered, [
    [
      'a reply that broke off has been paid for',
      "paid(text.length + calls.length > 0 ? usageOf(usage, request, { text: text.join(''), calls }) : usage);",
      'paid();',
      'a meter hears of every question',
    ],
    ['what broke off untold is guessed', 'text.length + calls.length > 0 ?', 'false ?', notFree],
    ['nothing used is nothing told', ' && told.input + told.output > 0', '', notFree],
  ]),
  ...within('engine/run/work/turns/count-usage.ts', metered, [
    [
      'what a vendor kept of a question is not counted at its full price',
      'cachedBefore = cachedInput;',
      '',
      'a meter hears of every question',
    ],
  ]),
  ...within('session/state/plan-life.ts', usage, [
    [
      'what a plan has cost outlives its next telling',
      'known?.actuals ?? plan.actuals',
      'plan.actuals',
      'every reply is counted',
    ],
  ]),
  ...within('session/work/estimate-steps.ts', 'test/session/work/estimate-steps.test.ts', [
    [
      'what was measured counts more than what is reckoned',
      'known ?? turns * (first',
      'turns * (first',
      'what Tasks of the thread came to',
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
  ...within('session/work/spending.ts', usage, [
    [
      'a session stops at its limit',
      'requireWithin(state(), question, untold);',
      '',
      'a session stops before the question',
    ],
  ]),
  ...within('session/work/spending.ts', spending, [
    ['questions under way count', 'untold += expected;', '', 'questions under way count'],
    ['what was not written down was paid', 'untold += costUsd;', '', 'what could not be written down'],
    [
      'a limit is held or refused',
      'if (costUnits === undefined) throw budgetUnpriced(model, limitUsd);',
      'if (costUnits === undefined) return;',
      'what nobody knows the price of',
    ],
  ]),
  ...within('session/state/change-budget.ts', converse, [
    ['a person alone raises a limit', "isMore && by.kind === 'automation'", 'false', 'a program lowers'],
    [
      'a limit that cannot be held is not set',
      'if (limitUsd !== undefined && settings.model === undefined && ground.isPriced === false)',
      'if (limitUsd === 0)',
      'a program lowers',
    ],
  ]),
  ...within('session/open-session.ts', usage, [
    [
      'a session with a limit that cannot be held is not opened',
      'if (limitUsd !== undefined && isPriced === false)',
      'if (limitUsd === 0)',
      'a limit that cannot be held',
    ],
  ]),
  ...within('engine/run/work/work-attempt.ts', usage, [
    [
      'a run that a limit stopped is told as that',
      "'SESSION_BUDGET_SPENT',",
      '',
      'a session stops before the question',
    ],
  ]),
  ...within('engine/run/work/agent/model-gate.ts', gate, [
    [
      'the questions of a program are counted and refused, too',
      'settle(used);',
      'settle();',
      'a meter hears of the questions of a program',
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
  ...within('session/state/short-budget.ts', 'test/session/work/usage.test.ts', [
    [
      'a budget that is short is told before consent',
      'if (costUsd <= leftUsd) return undefined;',
      'return undefined;',
      'a session stops before the question',
    ],
  ]),
];
