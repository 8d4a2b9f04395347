import { type Guard, within } from './guard.ts';

const goal = 'test/session/work/goal.test.ts';
const stops = 'test/session/work/goal-stops.test.ts';
const heldUp = 'test/session/work/goal-held-up.test.ts';
const walk = 'test/session/state/goal-walk.test.ts';
const routes = 'test/session/api/goal-routes.test.ts';
const edited = 'test/session/work/edited-contract.test.ts';

/** What holds of a goal: no claim achieves it, nothing is done for it without a person, and one at a time. */
export const guards: readonly Guard[] = [
  ...within('session/work/goal/judge-criteria.ts', goal, [
    [
      'a criterion holds where its checks passed',
      "found.every((status) => status === 'passed')",
      'found.length >= 0',
      'a run that was committed',
    ],
    ['what failed refutes', "found.includes('failed') ? 'refuted' : 'open'", "'open'", 'what a model claims'],
  ]),
  ...within('session/work/goal/supervise.ts', 'test/session/work/goal/supervise.test.ts', [
    [
      'what a step worked counts, however it ends',
      '    await chargeWork(scope);',
      '',
      'what a step worked is counted as its goal`s',
    ],
  ]),
  ...within('session/work/goal/pursue-step.ts', goal, [
    [
      'a Decision.Commit alone achieves a goal',
      "decision?.type === 'commit' && areAccepted(criteria)",
      'areAccepted(criteria.map((one) => ({ ...one, status: "accepted" })))',
      'what a model claims',
    ],
  ]),
  ...within('session/work/goal/hold-goal.ts', goal, [
    [
      'every criterion has a check',
      'if (untied.length === 0) return criteria;',
      'if (untied.length >= 0) return criteria;',
      'a criterion that no check verifies',
    ],
  ]),
  ...within('session/work/run-step.ts', edited, [
    [
      'what is run is what was confirmed',
      'await requireConfirmed(engine, repositoryPath, kept.specBytes);',
      '',
      'a contract that was changed after',
    ],
  ]),
  ...within('session/work/hold-edits.ts', edited, [
    ['looser than the draft is not taken', 'requireStricter({', 'void ({', 'what was edited by hand'],
    [
      'the thread says what was drafted',
      '!== state().draft?.digest',
      "=== ''",
      'what was drafted is what the thread',
    ],
    [
      'who confirms is told what differs',
      'if (edits.length === 0) return;',
      'return;',
      'what was edited by hand',
    ],
  ]),
  ...within('session/work/continue-step.ts', goal, [
    [
      'an edited draft is looked at before it is confirmed',
      'if (stopped !== undefined) return stopped;',
      '',
      'a draft whose check was taken out',
    ],
  ]),
  ...within('session/state/pursue-goal.ts', routes, [
    [
      'one goal at a time',
      "if (goal.status === 'active' || !isSame) throw alreadyActive(goal);",
      '',
      'a goal is started, told and given up',
    ],
    [
      'a context that reads pursues none',
      "if (settings.context !== 'dev')",
      'if (settings.context === null)',
      'a goal is refused',
    ],
    [
      'a goal that is given up stops its turn',
      'pursuedGoal(state) === undefined ? { facts: [], wants: [] } : cancel(state)',
      '{ facts: [], wants: [] }',
      'a goal is started, told and given up',
    ],
  ]),
  ...within('session/state/moved-goal.ts', walk, [
    [
      'what was given up stays so',
      'isOpenGoal(goal) ? { ...goal, ...change } : goal',
      'isOpenGoal(goal) || goal.id ? { ...goal, ...change } : goal',
      'six commands',
    ],
    [
      'no goal is active without its turn',
      "if (goal.turn !== turn || goal.status !== 'active') return goal;",
      'if (goal.turn === turn || goal.turn !== turn) return goal;',
      'six commands',
    ],
  ]),
  ...within('session/state/after-kill.ts', walk, [
    [
      'nothing goes on after a kill',
      "goal?.status === 'active' && ",
      "goal?.status === 'blocked' && ",
      'a kill leaves',
    ],
  ]),
  ...within('session/state/answered-goal.ts', walk, [
    [
      'a person alone grants more',
      "by.kind !== 'automation' || goal.run === undefined",
      "by.kind !== 'automation' || goal.id !== ''",
      'a program is given the first budget',
    ],
    ['Execute alone grants', "if (option === 'execute')", "if (option !== 'cancel')", 'six commands'],
  ]),
  ...within('session/state/goal-budget.ts', walk, [
    [
      'a limit is never less than it was',
      'Math.max(limit.tokens, next.tokens)',
      'next.tokens',
      'a yes grants',
    ],
  ]),
  ...within('session/work/goal/under-budget.ts', stops, [
    [
      'no question beyond the budget',
      'if (reason !== undefined) throw stop(reason);',
      '',
      'tokens that are used up',
    ],
    [
      'what runs ends with its time',
      "() => void stop('budget_time'),",
      '() => undefined,',
      'time that is used up',
    ],
  ]),
  ...within('session/work/goal/pursue-step.ts', 'test/session/work/goal-resumed.test.ts', [
    [
      'a run that is gone on with has no budget of its own',
      'await underBudget(scope, (inner) => resumePlan(inner, runId, plan))',
      '{ done: await resumePlan(scope, runId, plan) }',
      'a run that a killed process left',
    ],
    [
      'a record is verified before it achieves anything',
      'left === undefined ? undefined : await whyDoubted(scope, ran.done)',
      'undefined',
      'no record of a run achieves a goal',
    ],
  ]),
  ...within('session/work/goal/pursue-step.ts', stops, [
    [
      'no progress ends it',
      'else if (trace === goal.trace)',
      "else if (trace === '')",
      'two runs that leave the same',
    ],
    [
      'a run that was stopped goes on',
      'const isLeft =\n    before !== undefined &&',
      'const isLeft =\n    before === null &&',
      'tokens that are used up',
    ],
  ]),
  ...within('session/work/goal/patiently.ts', stops, [
    ['what does not pass is not waited for', '!isPassing(fault) || ', '', 'a provider that refuses'],
    ['a provider is asked again', 'waitMs === undefined || ', 'waitMs !== 0 || ', 'a provider that fails'],
  ]),
  ...within('session/work/goal/supervise.ts', stops, [
    ['a provider that failed is named', "PROVIDER_FAILED: 'provider_failed',", '', 'a provider that fails'],
  ]),
  ...within('session/work/goal/supervise.ts', heldUp, [
    [
      'a session that has cost its limit is named',
      "SESSION_BUDGET_SPENT: 'session_budget',",
      '',
      'a session that has cost',
    ],
  ]),
  ...within('session/work/goal/under-budget.ts', heldUp, [
    [
      'what replies cost counts at once',
      'costUsd: costUnits / unitsPerUsd',
      'costUsd: 0',
      'money that is used up',
    ],
  ]),
  ...within('session/work/goal/pursue-step.ts', heldUp, [
    [
      'a run that waits for people achieves nothing',
      'if (waiting !== undefined) {',
      'if (waiting === null) {',
      'a goal whose run waits for approvals',
    ],
  ]),
  ...within('session/state/reduce.ts', 'test/session/state/converse.test.ts', [
    [
      'no task is at work behind its turn',
      'tasks: state.tasks.map((task) => stoppedTask(task, atMs)),',
      '',
      'no task is at work',
    ],
  ]),
  ...within('session/screen/question/question-body.ts', 'test/session/screen/question-body.test.ts', [
    [
      'who executes knows what it grants',
      "granted === '' ? []",
      "granted !== '' ? []",
      'the question of a goal tells',
    ],
  ]),
  ...within('bin/code/begin-goal.ts', 'test/bin/code/begin-goal.test.ts', [
    [
      'a thread that pursues the goal is asked nothing',
      "if (goal?.status === 'active' && goal.objective === objective) return;",
      '',
      'a goal of the line begins',
    ],
  ]),
  ...within('session/work/continue-step.ts', goal, [
    [
      'a plan is executed that was asked about',
      '(asked === undefined || one.id === asked)',
      '(asked === undefined || one.id !== "")',
      'the plan that is executed',
    ],
  ]),
  ...within('session/channel/mask-words.ts', 'test/session/work/goal-resumed.test.ts', [
    [
      'a goal holds no secret',
      'objective: mask(command.objective), criteria',
      'objective: command.objective, criteria',
      'a goal goes on in other processes',
    ],
  ]),
  ...within('session/state/reduce.ts', 'test/session/work/goal-stops.test.ts', [
    [
      'no task works while its goal is blocked',
      "fact.change.status === 'blocked'",
      'fact.goal === undefined',
      'tokens that are used up stop a run',
    ],
  ]),
];
