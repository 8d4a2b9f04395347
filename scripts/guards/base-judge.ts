import { type Guard, within } from './guard.ts';

const rule = 'test/gates/rules/judge-changed.test.ts';
const attack = 'test/attack/judge/policy-judge.test.ts';
const expectations = 'test/engine/run/judge/expectations/compare-expectations.test.ts';
const baseTests = 'test/attack/judge/base-tests.test.ts';
const asked = 'the tests of the base are asked';
const less = 'a case of the base that fails on the candidate';
const nobody = 'where nobody reviews a change of the judge';

/** Guards of the judge of the policy commit, which judges too. */
export const guards: readonly Guard[] = [
  ...within('engine/run/judge/second-run/judge-by-policy.ts', attack, [
    [
      'what it fails, fails',
      "severity: 'error',\n        message: `it passes",
      "severity: 'note',\n        message: `it passes",
      nobody,
    ],
    [
      'what its runs hand on goes to its runs',
      'judge.judges(task.check.id) || differs',
      'judge.judges(task.check.id)',
      nobody,
    ],
  ]),
  ...within('engine/run/judge/second-run/policy-judge.ts', attack, [
    [
      'the product that a judge leads to is once the candidate has it',
      'sure.length > 0 && sure.length < laid.length',
      'false',
      nobody,
    ],
  ]),
  ...within(
    'engine/run/judge/second-run/may-be-judged.ts',
    'test/engine/run/judge/second-run/may-be-judged.test.ts',
    [
      ['tooling judges', '&& !isTooling(path)', '', 'what a script leads to'],
      ['what a recipe names judges', '!ofCommands.test(via) && ', '', 'what a script leads to'],
    ],
  ),
  ...within('engine/run/judge/run-stage.ts', attack, [
    [
      'second runs go on from second runs',
      'last?.atPolicy?.carried ?? last?.carried',
      'last?.carried',
      nobody,
    ],
  ]),
  ...within('engine/run/judge/second-run/lay-judge.ts', attack, [
    [
      'what is new and would win is taken away',
      'leaves.set(laid.path, await leafOf(attempt, laid, entries.get(laid.path)));',
      'if (entries.has(laid.path)) leaves.set(laid.path, entries.get(laid.path));',
      nobody,
    ],
  ]),
  ...within(
    'engine/run/judge/second-run/lay-parts.ts',
    'test/engine/run/judge/second-run/lay-parts.test.ts',
    [['parts that are new go', 'else own.delete(name);', '', 'the named parts are those']],
  ),
  ...within('gates/rules/judge-changed.ts', rule, [
    [
      'what is not listed is laid, too',
      'lay: left.flatMap(({ lay }) => lay)',
      'lay: []',
      'where nobody reviews it a run',
    ],
    [
      'who runs nothing lets nothing pass',
      'reach !== undefined && stage',
      'stage',
      'where nobody reviews it a run',
    ],
  ]),
  ...within('engine/vcs/write-tree.ts', 'test/engine/vcs/write-tree.test.ts', [
    [
      'what is taken away goes before what is laid',
      'if (leaf === undefined) await takeAway(place, root, partsOf(path));',
      '',
      'what shall be nothing',
    ],
  ]),
  ...within('engine/run/judge/expectations/loses-assertions.ts', expectations, [
    ['swallowing is a loss', 'if (is.swallows > was.swallows) return true;', '', less],
    [
      'what nothing came for is a loss',
      'if (come.length === 0) return true;',
      'if (come.length === 0) return false;',
      less,
    ],
    [
      'of a statement that stands twice, one may go',
      'left.set(text, count - 1);',
      '',
      'of a statement that stands twice',
    ],
    [
      'saying it otherwise is none',
      'return gone.some(',
      'return true || gone.some(',
      'another expectation is told',
    ],
  ]),
  ...within('engine/run/judge/expectations/compare-expectations.ts', expectations, [
    ['a helper that says nothing is found', 'return !isSeen && around();', 'return false;', less],
    ['what failed at the base says nothing', '!failedBefore.has(name) && ', '', 'only what ran well'],
    ['those that are not named count', '(isCut && around()) ||', '', 'where more failed than are named'],
  ]),
  ...within('engine/run/judge/ask-further.ts', baseTests, [
    ["the base's tests speak", '...(tests?.findings ?? []), ', '', asked],
  ]),
  ...within(
    'engine/run/judge/second-run/policy-judge.ts',
    'test/engine/run/judge/second-run/policy-judge.test.ts',
    [
      [
        'an answer that is another stops the run',
        'if (found.length !== expected)',
        'if (false)',
        'a rule that says something else',
      ],
    ],
  ),
  ...within(
    'engine/run/judge/expectations/base-tests.ts',
    'test/engine/run/judge/expectations/base-tests.test.ts',
    [['no case is there twice', 'leaves.set(path, undefined);', '{}', 'changed files of tests stand']],
  ),
  ...within(
    'engine/run/judge/second-run/judge-by-policy.ts',
    'test/engine/run/judge/second-run/judge-by-policy.test.ts',
    [
      [
        'a failure under a changed judge is not tolerated',
        'findings: neverTolerated(attempt, task)',
        'findings: []',
        'a failure under a changed judge',
      ],
    ],
  ),
];
