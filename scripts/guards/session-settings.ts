import { type Guard, within } from './guard.ts';

const settings = 'test/session/state/settings.test.ts';
const work = 'test/session/work/settings.test.ts';
const door = 'test/session/client/local-door.test.ts';

/** What holds between a session and its screens: their door, and what is changed while it lasts. */
export const guards: readonly Guard[] = [
  ...within('session/client/local-door.ts', door, [
    [
      'a snapshot is made once for each state',
      'if (shown?.of !== state) shown',
      'shown',
      'a screen sees each change once',
    ],
    ['what is pasted is bounded', '      requireSmall(said);\n', '', 'what a person pastes is held'],
    ['answers are bounded', '      requireSmall(given);\n', '', 'what a person pastes is held'],
    ['messages have their form', '...readMessage(said)', '...said', 'what a person pastes is held'],
    ['answers have their form', 'readAnswer({ ...given })', 'given', 'a screen answers what is asked'],
  ]),
  ...within('session/state/settings/change-settings.ts', settings, [
    [
      'a turn stays the session that it is',
      'if (change.context !== undefined || change.model !== undefined) requireIdle(state);',
      '',
      'in the middle of a turn',
    ],
    [
      'what only reads opens no network',
      "if (change.networkAccess === 'allow' && before.context !== 'dev')",
      'if (change.networkAccess === undefined && change.context === undefined && change.model === undefined)',
      'every way to write a context',
    ],
    [
      'an agent that reads reads',
      'if (onlyReads)',
      'if (onlyReads === undefined)',
      'what was started to read',
    ],
    [
      'no program makes it write',
      "if (context !== 'dev' && by.kind === 'automation')",
      "if (context === undefined && by.kind === 'automation')",
      'what was started to read',
    ],
  ]),
  ...within('session/state/settings/session-settings.ts', settings, [
    [
      'what only reads has no network',
      "settings.context === 'dev' ? settings : { ...settings, networkAccess: 'deny' }",
      'settings',
      'every way to write a context',
    ],
    [
      'an agent that reads reads on',
      " || (onlyReads && before.context === 'dev')",
      '',
      'a thread goes on with its settings',
    ],
    [
      'a model is one of its provider',
      "named.includes('model') || !isSameProvider",
      "named.includes('model')",
      'a thread goes on with its settings',
    ],
  ]),
  ...within('session/state/slash/model.ts', settings, [
    ['a model id is one word', 'id.test(rest) ?', "rest !== '' ?", 'what is no value of a setting'],
  ]),
  ...within('session/channel/open-channel.ts', work, [
    [
      'no network where a command could approve itself',
      'if (requireApart !== undefined && opensNetwork(now, command)) await requireApart();',
      '',
      'plans are proposed with the network',
    ],
  ]),
  ...within('session/state/opens-network.ts', work, [
    [
      'the toggle opens it',
      "command.given.selectedOption === 'network' &&",
      'false &&',
      'plans are proposed with',
    ],
    [
      'a setting opens it',
      "spoken?.kind === 'set' && spoken.change.networkAccess === 'allow'",
      "spoken?.kind === 'plan-continue'",
      'plans are proposed with',
    ],
  ]),
  ...within('session/work/open-work.ts', work, [
    [
      'a step goes by the settings of then',
      'workSettingFor(setting, world.state().settings)',
      'workSettingFor(setting, world.state().ground)',
      'plans are proposed with',
    ],
    [
      'what only reads plans nothing',
      "world.state().settings.context === 'dev'",
      "world.state().ground.context === 'dev'",
      'from the next turn on',
    ],
  ]),
];
