import { type Guard, within } from './guard.ts';

const told = 'test/session/state/told-work.test.ts';
const written = 'a call that is being written';
const changes = 'what a run changes stands in the transcript';
const life = 'test/session/state/plan-life.test.ts';
const approvals = 'test/session/work/approvals.test.ts';

/** Calls that are announced, diffs in a transcript, what a sandbox kept back, what is said in confidence. */
export const guards: readonly Guard[] = [
  ...within('session/state/reduce-tools.ts', told, [
    [
      'what runs is no announcement',
      "toolCalls.filter((one) => one.id !== id || one.status !== 'preview')",
      'toolCalls.filter((one) => one.id !== id)',
      written,
    ],
    [
      'nobody writes behind the end',
      "some(({ status }) => status === 'preview')",
      'some(() => false)',
      written,
    ],
  ]),
  ...within('session/state/reduce-patchset.ts', told, [
    ['a diff is said once', 'if (before === undefined || (', 'if (atMs > 0 || (', changes],
    [
      'a change that is made again is said again',
      "(before.status !== 'proposed' && patchset.status === 'proposed')",
      'false',
      changes,
    ],
    [
      'a diff in a transcript is bounded',
      'if (whole.length <= maxDiff) return',
      'if (maxDiff > 0) return',
      changes,
    ],
    [
      'one call is no change of its own',
      'if (isWhole !== true) return',
      'if (isWhole === false) return',
      changes,
    ],
  ]),
  ...within('engine/run/work/hands/held-back.ts', approvals, [
    [
      'a read-only mount says no',
      '[/read-only file system|\\bEROFS\\b/i,',
      '[/nothing of the kind/,',
      'what the sandbox denied is asked about',
    ],
  ]),
  ...within('engine/run/work/hands/execute-in-workspace.ts', approvals, [
    [
      'a failure is no denial',
      'heldBack(text, network);',
      "(heldBack(text, network) ?? 'x');",
      'what the sandbox denied is asked about',
    ],
  ]),
  ...within('session/work/person-of.ts', 'test/session/work/secret-answer.test.ts', [
    [
      'what is said in confidence is hidden before it is told',
      'if (isSecret && said !== undefined) scope.setting.hide?.(said);',
      '',
      'a secret answer reaches the model that asked',
    ],
    [
      'a secret question says so',
      'isSecret === true ? { secret: true } : {}',
      'isSecret === true ? {} : {}',
      'a secret answer reaches the model that asked',
    ],
  ]),
  ...within('session/state/plan-life.ts', life, [
    [
      'nobody works behind a turn',
      "if (end === 'failed') return",
      "if (end !== 'failed') return",
      'no plan is worked on',
    ],
    [
      'a run that waits goes on',
      'const waits = outcome',
      'const waits = false && outcome',
      'a plan whose run waits for people',
    ],
    [
      'what was not taken was not run',
      'const hasBegun = status',
      'const hasBegun = status !== undefined || status',
      'a plan that is not taken',
    ],
  ]),
  ...within('session/state/reduce.ts', life, [
    [
      'an answer ends a proposal',
      '        plans: answeredPlans(state.plans, asked, fact.answer.option, atMs),\n',
      '',
      'a plan that is not taken',
    ],
  ]),
];
