import { type Guard, within } from './guard.ts';

const pure = 'test/engine/run/decide/blame.test.ts';
const runs = 'test/engine/run/work/guilty-tasks.test.ts';
const told = 'test/engine/store/record/retries.test.ts';

/** Who is tried again for a merged candidate, and that the record bears it out. */
export const guards: readonly Guard[] = [
  ...within('engine/run/decide/blame.ts', pure, [
    [
      'who edited the file under its earlier name is guilty too',
      'for (const earlier of earlierNames.get(name) ?? []) names.add(earlier);',
      '{ if (earlierNames.has(name)) break; }',
      'blame: renamed by one and edited by another',
    ],
    [
      'what a command or a suite reports blames nobody',
      "kind === 'policy' && required && status === 'failed'",
      "kind !== '' && required && status === 'failed'",
      'only errors of rules that name a file',
    ],
  ]),
  ...within('engine/run/decide/blame.ts', pure, [
    ['what a decision names is bounded', 'found.slice(0, maxNamed)', 'found', 'ten thousand findings'],
  ]),
  ...within('engine/run/decide/picked-tasks.ts', pure, [
    [
      'the retries of the guilty count',
      'if (blame && blame.tasks.length > 0) return blame.tasks;',
      '',
      'one of the guilty without a retry left',
    ],
  ]),
  ...within('engine/run/decide/replay-run.ts', runs, [
    [
      'replay lays the blame again',
      "same(file, '/blame', blame, input.blame);",
      '',
      'who wrote what is refused',
    ],
  ]),
  ...within('engine/run/work/replan.ts', runs, [
    [
      'work that is gone on from stays beneath',
      'if (done) state.beneath = [...state.beneath, done];',
      'if (done) state.beneath = [...state.beneath];',
      'who wrote what is refused',
    ],
  ]),
  ...within('attest/verify/evidence-source.ts', runs, [
    [
      'content of candidates that were handed back is deletable',
      '|candidate-\\d+\\/)?artifacts',
      ')?artifacts',
      'who wrote what is refused',
    ],
  ]),
  ...within('engine/store/record/retries.ts', told, [
    [
      'retries that are told are bounded',
      'record.first.length > maxRetriesTold',
      'record.first.length < 0',
      'retries that are not what they must be',
    ],
  ]),
];
