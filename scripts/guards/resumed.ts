import { type Guard, within } from './guard.ts';

const sandboxes = 'test/engine/run/open/sandbox-again.test.ts';

/** What a run that goes on in another process may build upon. */
export const guards: readonly Guard[] = [
  ...within('engine/run/judge/open-workspace.ts', sandboxes, [
    [
      'all checks ran in one sandbox',
      'if (judgedIn !== ground.sandbox.name) throw new WorkspaceLost();',
      '',
      'a run that goes on in another sandbox',
    ],
  ]),
  ...within('engine/run/open/sandbox-again.ts', sandboxes, [
    ['a claim takes no sandbox away', "if (!own) return 'auto';", '', 'who names no sandbox'],
  ]),
];
