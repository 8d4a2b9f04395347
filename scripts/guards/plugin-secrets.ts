import { type Guard, within } from './guard.ts';

const secrets = 'test/bin/commands/plugin-secrets.test.ts';
const refused = 'a run, a plan and a run that goes on are refused without a secret of a plugin';
const used = 'a secret of a plugin is wanted where something that it brings is asked';

/** Secrets that plugins declare are there before any work, wherever something of theirs is asked. */
export const guards: readonly Guard[] = [
  ...within('engine/plugin-trust/parts/require-secrets.ts', secrets, [
    ['a missing secret refuses', 'if (first !== undefined)', "if (first === '')", refused],
    ['keys of models are asked for elsewhere', '!keys.includes(one)', 'true', used],
  ]),
  ...within('engine/plugin-trust/open-parts.ts', secrets, [
    ['what nobody asks wants no secret', 'if (isUsed) await', 'await', used],
  ]),
  ...within('engine/run/open/machine-judgements.ts', secrets, [
    ['secrets of plugins before a run', 'requirePartSecrets(judges)', 'undefined', refused],
  ]),
  ...within('engine/run/open/reopen-run.ts', secrets, [
    [
      'secrets of plugins before a run goes on',
      '    if (request.cancel === undefined) await requirePartSecrets(ground);\n',
      '',
      refused,
    ],
  ]),
  ...within('engine/run/open/open-parties.ts', secrets, [
    ['secrets of the plugin of a log', '    await plugins.requireSecrets({ logs: asked });\n', '', used],
  ]),
  ...within('engine/run/state/open-model.ts', secrets, [
    [
      'secrets of the plugin of a model',
      '  if (brought !== undefined) await plugins.requireSecrets({ providers: [name] });\n',
      '',
      used,
    ],
  ]),
];
