import { type Guard, within } from './guard.ts';

const goal = 'test/session/work/goal.test.ts';
const routes = 'test/session/api/goal-routes.test.ts';

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
      "if (ground.context !== 'dev')",
      'if (ground.context === null)',
      'a goal is refused',
    ],
    [
      'a goal that is given up stops its turn',
      'pursuedGoal(state) === undefined ? { facts: [], wants: [] } : cancel(state)',
      '{ facts: [], wants: [] }',
      'a goal is started, told and given up',
    ],
  ]),
];
