import { type Guard, within } from './guard.ts';

const told = 'test/bin/commands/told-before.test.ts';
const inVain = 'work that would be in vain is told before it begins';
const hostile = 'test/coder/planner/hostile-drafts.test.ts';
const waiting = 'test/coder/planner/waiting-drafts.test.ts';

/** What is told before money is spent on what can never be committed, and how much a draft may hold. */
export const guards: readonly Guard[] = [
  ...within('engine/run/state/approvers-lacking.ts', told, [
    [
      'fewer keys than people are told',
      'if (keys >= needed) return [];',
      'if (keys >= 0) return [];',
      inVain,
    ],
  ]),
  ...within('engine/run/state/rights-lacking.ts', told, [
    [
      'a model without rights is told',
      'if (lacking.length === 0) return [];',
      'if (lacking.length < 9) return [];',
      inVain,
    ],
  ]),
  ...within('engine/run/open/start-run.ts', told, [
    [
      'a run tells it before it works',
      '    for (const issue of inVain(opening)) request.hear?.(issue);\n',
      '',
      inVain,
    ],
    ['the record of a run keeps it', '...(lacking.length === 0 ? {} : { lacking }),', '', inVain],
  ]),
  ...within('engine/intent/draft/intent-draft.ts', hostile, [
    [
      'a draft of too many entries is none',
      'if (tooMany.length > 0) return',
      'if (tooMany.length > 900) return',
      'what no contract may say goes back',
    ],
  ]),
  ...within('engine/intent/draft/intent-draft.ts', waiting, [
    [
      'a question is not longer than a draft that is kept can hold',
      '.slice(0, maxQuestionCharacters)',
      '',
      'a draft that waits says what it could never be committed without',
    ],
  ]),
  ...within('bin/command-parts/drafted-run.ts', waiting, [
    [
      'a draft says what its run lacks',
      '...drafted.lacks, ',
      '',
      'a draft that waits says what it could never be committed without',
    ],
  ]),
];
