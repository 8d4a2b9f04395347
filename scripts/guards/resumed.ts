import { type Guard, within } from './guard.ts';

const sandboxes = 'test/engine/run/open/sandbox-again.test.ts';

const cancelled = 'test/engine/run/record/cancel-request.test.ts';
const sealing = 'a run that is being sealed';

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
  ...within('engine/run/state/sealing-gate.ts', cancelled, [
    ['what is being sealed is finished', 'if (!isSealing) stop', 'stop', sealing],
    ['what was cancelled is not sealed', '      stop.signal.throwIfAborted();\n', '', sealing],
  ]),
  ...within('engine/run/seal/seal.ts', cancelled, [
    ['a seal asks whether it may begin', '  attempt.means.beginSealing();\n', '', sealing],
  ]),
];
