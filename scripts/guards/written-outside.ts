import { type Guard, within } from './guard.ts';

const written = 'test/engine/run/judge/written-outside.test.ts';
const runs = 'test/engine/run/work/guilty-tasks.test.ts';

/** What is told of what a check wrote outside the scope. */
export const guards: readonly Guard[] = [
  ...within('engine/run/judge/written-outside.ts', written, [
    ['as much is looked at as the bound says', 'if (left < 0) break;', '', 'many files are counted'],
    ['as many are named', 'this.#kept.splice(named);', '', 'many files are counted'],
    ['names are cut', 'path.length > most ?', 'path.length < 0 ?', 'names with control characters'],
    ['tokens in names are taken out', 'path: maskPath(path)', 'path', 'a token in a name'],
    [
      'what could not be looked at makes it a lower bound',
      'if (listing === undefined) isComplete = false;',
      '',
      'a link is told and not followed',
    ],
  ]),
  ...within('engine/run/decide/replay-stages.ts', runs, [
    [
      'evidence and gate report say the same',
      "compared(path, '/wrote_outside', check?.wroteOutside, object.wrote_outside) ??",
      '',
      'who wrote what is refused',
    ],
  ]),
];
