import type { SessionRest } from './session-row.ts';

type Rest = readonly [id: string, section: string, rule: string, later: SessionRest['later'], why: string];

const rows: readonly Rest[] = [
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
