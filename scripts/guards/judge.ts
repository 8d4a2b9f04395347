import { type Guard, within } from './guard.ts';

const kept = 'test/gates/rules/tests-kept.test.ts';
const labelled = 'labelled changes of every language';
const changed = 'test/gates/rules/judge-changed.test.ts';
const attack = 'test/attack/judge/changed-judge.test.ts';

/** Guards of the tests and of what judges. */
export const guards: readonly Guard[] = [
  ...within('gates/tests-kept/judge-case.ts', kept, [
    [
      'a case that is gone is a loss',
      "if (!candidate) return 'TEST_GONE';",
      'if (!candidate) return undefined;',
      labelled,
    ],
    ['a case without assertions is emptied', 'candidate.assertions === 0', 'false', labelled],
    [
      'assertions of constants are none',
      "if (!candidate.saysAnything()) return 'TEST_EMPTIED';",
      '',
      labelled,
    ],
    ['what stands behind a return is cut', 'candidate.unreached > base.unreached', 'false', labelled],
    ['a condition may skip', "if (candidate.skips > base.skips) return 'TEST_MAY_BE_SKIPPED';", '', labelled],
  ]),
  ...within('gates/rules/tests-kept.ts', kept, [
    [
      'a file that is no test keeps no case',
      'isTestFile(file.path, after) &&',
      'true &&',
      'tests-kept: a file that is no test to its name',
    ],
  ]),
  ...within('core/contract/tests-may-go.ts', kept, [
    [
      'a file that is named may not go for that',
      'if (goes.test(before) || (goes.test(after) && isDone.test(after))) return true;',
      'return true;',
      'what the contract says may go',
    ],
    [
      'a chore may not take tests along',
      "intent.changeType === 'chore' && files.every(isDoc)",
      "intent.changeType === 'chore'",
      'what the contract says may go',
    ],
  ]),
  ...within('gates/rules/judge-changed.ts', changed, [
    [
      'nobody reviews it by saying nothing',
      'spec.risk.humanInLoop.required || reviewStep',
      'true || reviewStep',
      'a change of the judge takes an approval',
    ],
    [
      'a test that is named is no judge',
      "if (known && known.role !== 'test') {",
      'if (known) {',
      'what checks execute to judge is found',
    ],
  ]),
  ...within('readers/judges/manifest-scripts.ts', changed, [
    ['hooks go with their script', "['pre', '', 'post']", "['']", 'what checks execute to judge is found'],
  ]),
  ...within('engine/run/judge/reach/text-leads.ts', changed, [
    [
      'what is imported counts',
      'javascriptImports(text).flatMap((one) => resolveJavascript(one, path, files) ?? [])',
      '[]',
      'what checks execute to judge is found',
    ],
  ]),
  ...within('readers/judges/serves-judging.ts', changed, [
    [
      'the product is no judge',
      'if (isTest.test(path) || ofProduct.test(path)) return false;\n  if (tooling',
      'if (tooling',
      'what checks execute to judge is found',
    ],
  ]),
  ...within('readers/judges/tree-links.ts', changed, [
    ['links are followed', 'if (targets.size === 0)', 'if (true)', 'what checks execute to judge is found'],
  ]),
  ...within('readers/judges/completed-name.ts', changed, [
    [
      'a name without its ending is a script',
      'if (last < 0) continue;',
      'continue;',
      'what checks execute to judge is found',
    ],
  ]),
  ...within('gates/rules/judge-changed.ts', changed, [
    [
      'a new file that wins counts',
      'if (via !== undefined) return',
      'if (false) return',
      'what checks execute to judge is found',
    ],
  ]),
  ...within('engine/run/judge/ask-rules.ts', attack, [
    [
      'the rule is told what checks execute',
      '...(judge ? { judge } : {})',
      '...{}',
      'nor by what that script loads',
    ],
  ]),
  ...within('engine/run/judge/compare-executed.ts', 'test/engine/run/judge/compare-executed.test.ts', [
    ['fewer tests are a loss', 'if (is < was)', 'if (false)', 'fewer tests than at the base'],
    ['a test left out is one', 'else if (missed.length > 0)', 'else if (false)', 'a test that is written'],
    ['a file left out is one', 'if (emptied.length > 0)', 'if (false)', 'a file that runs no test any more'],
    [
      'a test that is skipped now is one',
      'if (left.length > 0)',
      'if (false)',
      'fewer tests than at the base',
    ],
  ]),
  ...within('engine/run/judge/ask-further.ts', attack, [
    [
      'suites are compared with the base',
      '...lost.findings, ',
      '',
      'tests that are worked out when they run',
    ],
  ]),
];
