import { type Guard, within } from './guard.ts';

const hostile = 'test/coder/planner/hostile-drafts.test.ts';
const strict = 'test/engine/spec/stricter.test.ts';
const edited = 'test/coder/planner/edited-drafts.test.ts';
const who = 'test/coder/planner/who-drafts.test.ts';
const waiting = 'test/coder/planner/waiting-drafts.test.ts';

/** What a model that drafts contracts cannot do. */
export const guards: readonly Guard[] = [
  ...within('engine/spec/stricter.ts', strict, [
    [
      'a wish that is looser changes nothing',
      '    if (!granted) continue;\n',
      '',
      '`constraints.security.networkPolicy` only becomes stricter',
    ],
    [
      'a second wish is held to what the first was granted',
      '    before.set(field, value);\n',
      '',
      'a second wish is held to what the first was granted',
    ],
  ]),
  ...within('engine/intent/draft/drafted-contract.ts', hostile, [
    [
      'the risk is at least that of what is touched',
      'const level = higherRisk(risk.level, floor.level);',
      'const level = risk.level;',
      'what a repository says of policy changes none',
    ],
    [
      'words that would let tests go are a question',
      '      ...questionsOfTests(draft),\n',
      '',
      'words that would let tests go',
    ],
    [
      'a check is one plain command',
      'plainCommand.test(command)\n',
      'command !== ""\n',
      'what no contract may say goes back',
    ],
    [
      'a draft without a fast check is none',
      "...(checks.some(({ stage }) => stage === 'fast')",
      '...(checks.length > 0',
      'what no contract may say goes back',
    ],
  ]),
  ...within('engine/run/draft/draft-intent.ts', hostile, [
    [
      'places outside of the repository are no scope',
      '  faults.push(...placeFaults(read.draft, scope));\n',
      '',
      'what no contract may say goes back',
    ],
  ]),
  ...within('engine/run/draft/read-request.ts', hostile, [
    [
      'a request that holds a secret is asked of nobody',
      'if (ownSecretsIn(request).length > 0)',
      'if (ownSecretsIn(request).length > 99)',
      'a request that holds a secret',
    ],
  ]),
  ...within('coder/planner/submit-draft.ts', hostile, [
    [
      'a draft of megabytes is not judged',
      'if (text.length > maxDraftCharacters)',
      'if (text.length > 1e9)',
      'a model that never submits',
    ],
  ]),
  ...within('coder/planner/draft.ts', hostile, [
    [
      'a draft is submitted a few times only',
      ' || submissions === maxSubmissions)',
      ')',
      'a model that never submits',
    ],
  ]),
  ...within('engine/run/draft/open-drafter.ts', who, [
    [
      'who drafts nothing is told so before anything is asked',
      'if (worker !== undefined && draft !== undefined && model !== undefined) return',
      'if (worker !== undefined && model !== undefined) return',
      'a backend that works by itself',
    ],
  ]),
  ...within('engine/run/open/require-citing.ts', who, [
    [
      'citations are not asked of who cannot cite',
      'if (worker?.cites !== false || needed === 0) return;',
      'if (needed >= 0) return;',
      'a backend that cannot cite',
    ],
  ]),
  ...within('engine/run/state/configured-model.ts', who, [
    [
      'a misspelt backend in the configuration is told',
      'if (stray !== undefined)',
      'if (stray === "")',
      'a configuration of models',
    ],
    [
      'a value that a setting does not have is told',
      'if (!values.includes(value))',
      'if (value === "")',
      'a configuration of models',
    ],
    [
      'what a model costs is what the policy commit says',
      'if (price === undefined || id !== model) return',
      'if (price === undefined || id !== "") return',
      'the policy commit says',
    ],
  ]),
  ...within('bin/command-parts/drafted-run.ts', edited, [
    [
      'a draft that was loosened by hand is not worked',
      '  requireStricter({ ...kept, path }, edits);\n',
      '',
      'an edit that is looser',
    ],
  ]),
  ...within('engine/run/draft/edited-draft.ts', edited, [
    [
      'who asked, and what it cost, is not edited',
      'const isFixed = fixed.includes(field);',
      'const isFixed = false;',
      'an edit that is looser',
    ],
    [
      'what the profile lists stays listed',
      'drafted.every((entry) => edited.some((other) => isDeepStrictEqual(entry, other))));',
      'drafted.every(() => edited.some(() => true)));',
      'every field that a draft may only tighten',
    ],
    [
      'risk is not lowered by hand',
      'levels.indexOf(edited) >= levels.indexOf(drafted)',
      'levels.includes(edited) || levels.includes(drafted)',
      'every field that a draft may only tighten',
    ],
  ]),
  ...within('engine/run/draft/why-it-waits.ts', edited, [
    [
      'an edited draft goes on with a person alone',
      'edits.length === 0 ?',
      'edits.length >= 0 ?',
      'low risk that was edited',
    ],
  ]),
  ...within('engine/run/record/plan-state.ts', 'test/coder/planner/drafting-cost.test.ts', [
    [
      'what drafting cost counts towards the cap',
      'costUnits: drafting.costUnits,',
      'costUnits: 0,',
      'drafting alone can take a run past its cap',
    ],
  ]),
  ...within('engine/run/draft/draft-intent.ts', 'test/coder/planner/drafting-cost.test.ts', [
    [
      'drafts before the last one are counted',
      'addSpent(before, (agent ?? turns).taken())',
      '(agent ?? turns).taken()',
      'drafts before the one',
    ],
  ]),
  ...within('engine/run/draft/waiting-drafts.ts', waiting, [
    [
      'a draft whose run begins is not taken away',
      'if (await isRunHeld(runDirectory(repository, runId)))',
      'if (runId === "")',
      'a draft that is cancelled',
    ],
    [
      'a beginning that fits several drafts is none',
      'if (others.length === 0) return first;',
      'if (first !== "") return first;',
      'the beginning of an id',
    ],
    [
      'a damaged draft hides no other',
      "    if (isWritError(fault, 'OBJECT_CORRUPT'))\n",
      "    if (isWritError(fault, 'INTERNAL'))\n",
      'a draft whose run was killed',
    ],
    [
      'a draft whose run was killed before it began still waits',
      "    if (isWritError(fault, 'RUN_NOT_FOUND')) return false;\n",
      '',
      'a draft whose run was killed',
    ],
  ]),
  ...within('engine/run/work/hands/tree-hands.ts', 'test/coder/planner/drafted-run.test.ts', [
    [
      'whoever drafts reads nothing outside of the tree',
      'if (path === undefined)',
      'if (path === null)',
      'a request becomes a draft',
    ],
  ]),
  ...within('engine/plan/plan-advice.ts', 'test/coder/planner/planned-run.test.ts', [
    [
      'advice stays within the scope',
      "verdict === 'in'\n",
      "verdict !== 'in2'\n",
      'advice that would leave the plan',
    ],
    [
      'advice makes no cycle',
      'if (!ordered.ok)',
      'if (ordered.ok === undefined)',
      'advice that would leave the plan',
    ],
    [
      'no step is the objective of another Task',
      'steps.some((step) => objectives.has(step))',
      'steps.length > 1000',
      'advice that would leave the plan',
    ],
  ]),
];
