import type { SessionRest } from './session-row.ts';

type Rest = readonly [id: string, section: string, rule: string, later: SessionRest['later'], why: string];

const rows: readonly Rest[] = [
  [
    'default --codex-port',
    'Options',
    'random',
    'differs',
    'without the option the app-server of P8 is spoken with over its own input and output: there is no port, which is safer than one that nobody chose (decision 0015)',
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
