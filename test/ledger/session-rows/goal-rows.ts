import { heldBy, ofSession, type SessionRow } from './session-row.ts';

const work = ofSession('work/goal');

/** What a goal is, from its beginning to its end (document 2, `--goal`; resolutions, Goal). */
export const goalRows: readonly SessionRow[] = [
  ...heldBy('Goal', work, 'a goal is drafted, confirmed, planned, executed, and achieved', {
    'goal supervisor': 'the loop goes on until the verifier accepts',
    'goal criterion': 'at least one is derived from the objective',
    'goal verifier': 'the checks of the criteria are run by the gate engine',
  }),
  ...heldBy('Options', 'test/bin/code/goal.test.ts', 'a goal that is named at the start is pursued at once', {
    'option --goal': 'boots in goal mode, the same as `/goal start`',
  }),
];
