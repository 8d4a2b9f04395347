import { heldBy, ofSession, type SessionRow } from './session-row.ts';

const work = ofSession('work/goal');
const stops = ofSession('work/goal-stops');
const heldUp = ofSession('work/goal-held-up');

/** What a goal is, from its beginning to its end (document 2, `--goal`; resolutions, Goal). */
export const goalRows: readonly SessionRow[] = [
  ...heldBy('Goal', work, 'a goal is drafted, confirmed, planned, executed, and achieved', {
    'goal supervisor': 'the loop goes on until the verifier accepts',
    'goal criterion': 'at least one is derived from the objective',
    'goal verifier': 'the checks of the criteria are run by the gate engine',
  }),
  ...heldBy('Goal', work, 'what a model claims is nothing', {
    'goal claims': 'completion that is claimed ends nothing',
  }),
  ...heldBy('Goal', work, 'a criterion that no check verifies blocks', {
    'goal unverifiable': 'never silently accepted: blocked before anybody is asked',
  }),
  ...heldBy('Goal', heldUp, 'money that is used up stops a run', {
    'goal money': 'its budget and what the session tells are one count',
  }),
  ...heldBy('Goal', heldUp, 'a goal whose run waits for approvals', {
    'goal approvals': 'a run that waits for people achieves nothing until they have signed',
  }),
  ...heldBy('Goal', ofSession('tui/goal-in-terminal'), 'a goal that was killed in the middle', {
    'goal resumed': '`--goal` with `--resume` is `/goal start` in that thread',
  }),
  ...heldBy('Goal', stops, 'tokens that are used up stop a run', {
    'goal budget': 'tokens and cost; granted by a person alone, never reset',
  }),
  ...heldBy('Goal', stops, 'time that is used up stops what runs', { 'goal time': 'wall clock of work' }),
  ...heldBy('Goal', stops, 'two runs that leave the same are no progress', {
    'goal progress': 'other files or other failures',
  }),
  ...heldBy('Goal', stops, 'a provider that fails is asked again', { 'goal back-off': 'bounded' }),
  ...heldBy('Goal', ofSession('state/goal-walk'), 'a kill leaves a goal interrupted', {
    'goal after a kill': 'nothing runs by itself',
  }),
  ...heldBy('Options', 'test/bin/code/goal.test.ts', 'a goal that is named at the start is pursued at once', {
    'option --goal': 'boots in goal mode, the same as `/goal start`',
  }),
];
