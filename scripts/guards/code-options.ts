import { type Guard, within } from './guard.ts';

const options = 'test/bin/code/options.test.ts';
const agents = 'test/session/agents/agents.test.ts';

/** What options of a session and agent profiles are held to. */
export const guards: readonly Guard[] = [
  ...within('bin/code/refuse-conflicts.ts', options, [
    [
      'what does not go together',
      'said.has(one) && said.has(other)',
      "said.has(one) && other === ''",
      'options that contradict each other',
    ],
    [
      'who steers is here',
      '...(parseLoopbackAddress(host) === undefined ? [remoteHost] : []),',
      '',
      'options that contradict each other',
    ],
  ]),
  ...within('bin/code/code-line.ts', options, [
    [
      'a goal says something, and not too much',
      'if (size > 0 && size <= maxObjectiveBytes)',
      'if (size < Number.MAX_VALUE)',
      'options that contradict each other',
    ],
    [
      'an address is no name',
      "if (isIP(plain) !== 0 && !plain.includes('%'))",
      "if (plain !== '')",
      'options that contradict each other',
    ],
  ]),
  ...within('bin/code/read-session-options.ts', options, [
    [
      'who only reads has no network',
      "ofSession === 'dev' ? (line.networkAccess ?? 'deny') : 'deny'",
      "line.networkAccess ?? 'deny'",
      'a session is filled in',
    ],
    [
      'a profile opens nothing',
      "line.context === undefined || line.context === 'dev' ? (reading ?? 'dev') : line.context",
      "line.context ?? reading ?? 'dev'",
      'a session is filled in',
    ],
    [
      'no browser from elsewhere by default',
      "provider === 'codex' && isLocal",
      "provider === 'codex' && isLocal !== undefined",
      'a session is filled in',
    ],
  ]),
  ...within('session/agents/find-agent.ts', agents, [
    [
      'a name leads nowhere else',
      'if (!isAgentName(name)) return undefined;',
      "if (name === '\\0') return undefined;",
      'a profile is unknown',
    ],
    [
      'a project’s profile is not wider in its context',
      'readsOnly(behind) && !readsOnly(project) ? behind.context : project.context',
      'project.context',
      'a project’s profile gets no right',
    ],
    [
      'a project’s profile is not wider in its tools',
      "behind.tools === 'read' ? 'read' : project.tools",
      'project.tools',
      'a project’s profile gets no right',
    ],
    [
      'who starts a session',
      'if (profile?.primary) return profile;',
      'if (profile) return profile;',
      'a profile is unknown',
    ],
  ]),
  ...within('session/agents/parse-agent.ts', agents, [
    ['no key that nobody knows', 'table.end();', '', 'what is malformed is refused'],
    [
      'words of the format alone',
      'if (found !== undefined) return found;',
      'return found ?? (given as Word);',
      'what is malformed is refused',
    ],
  ]),
  ...within('bin/code/session-ground.ts', 'test/bin/code/session-ground.test.ts', [
    ['Codex asks a person nothing', 'provider !== codexWorker', 'true', 'a session offers all eight'],
  ]),
  ...within('bin/code/refuse-conflicts.ts', 'test/bin/code/options.test.ts', [
    [
      'a goal is pursued or refused',
      "  ['goal', 'stdio', 'no model is asked there, and nobody would pursue it'],\n",
      '',
      'options that contradict each other',
    ],
  ]),
  ...within('bin/code/read-session-options.ts', 'test/bin/code/code.test.ts', [
    [
      'what does not count beside --stdio is told',
      "if (mode !== 'stdio') return;",
      "if (mode !== 'terminal') return;",
      'what has nothing to act on beside',
    ],
  ]),
];
