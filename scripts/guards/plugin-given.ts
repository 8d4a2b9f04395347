import { type Guard, within } from './guard.ts';

const secrets = 'test/bin/commands/plugin-secrets.test.ts';
const names = 'test/engine/plugin-trust/own-names.test.ts';
const refused = 'a run, a plan and a run that goes on are refused without a secret of a plugin';
const used = 'a secret of a plugin is wanted where something that it brings is asked';

/** Names of plugins are their own; their secrets are there before any work, wherever something of theirs is asked. */
export const guards: readonly Guard[] = [
  ...within('engine/plugin-trust/require-own-names.ts', names, [
    [
      'names that two plugins bring',
      'isBuiltIn || other !== undefined',
      'isBuiltIn',
      'where two plugins bring one name, both are told',
    ],
  ]),
  ...within('engine/plugin-trust/open-plugins.ts', 'test/engine/plugin-trust/open-plugins.test.ts', [
    [
      'plugins that are being opened while somebody clears up',
      '  await Promise.allSettled(works);\n',
      '',
      'what one plugin is refused for is thrown when none is being opened any more',
    ],
    [
      'all that are not trusted',
      'refusalOf(plugin, found)',
      'refusalOf(plugin)',
      'every listed plugin that is not trusted is named at once',
    ],
  ]),
  ...within('engine/plugin-trust/taken-names.ts', names, [
    [
      'names of logs that are built in',
      'logs: log.names',
      'logs: log.names.slice(1)',
      'a log of a plugin bears the name of none that is built in',
    ],
  ]),
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
