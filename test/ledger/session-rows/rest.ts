import type { SessionRest } from './session-row.ts';

type Rest = readonly [id: string, section: string, rule: string, later: SessionRest['later'], why: string];

const rows: readonly Rest[] = [
  [
    'terminal /control reclaim',
    'States and transitions',
    'the person at the screen takes the session back',
    'screens',
    'the state takes it back; nobody can say it',
  ],
  [
    'controller cli',
    'Session snapshot',
    'the client at standard input has the session',
    'screens',
    'MCP over stdio opens no session',
  ],
  [
    'initial LocalTui',
    'States and transitions',
    'with browser control the first controller is the screen',
    'screens',
    'there is no screen',
  ],
  [
    'option --codex-port',
    'Options',
    'the port of the P8 app-server',
    'differs',
    'P8 is spoken with over its own input and output, so that there is no port to choose; one in its sandbox would be open to the commands that it runs, which could answer its approvals (decision 0015): PROVIDER_OPTION says so',
  ],
];

/** What is not built, is done otherwise, or is done without a test. */
export const sessionRest: readonly SessionRest[] = rows.map(([id, section, rule, later, why]) => ({
  id,
  section,
  rule,
  later,
  why,
}));
