import { heldBy, ofSession, type SessionRow } from './session-row.ts';

const work = ofSession('work/goal');
const stops = ofSession('work/goal-stops');
const heldUp = ofSession('work/goal-held-up');

/** What a goal is, from its beginning to its end (document 2, `--goal`; resolutions, Goal). */
export const goalRows: readonly SessionRow[] = [
  ...heldBy(
    'Goal',
    work,
    'a goal is drafted, confirmed, planned, executed and achieved by the gates that ran its checks',
    {
      'goal supervisor': 'the loop goes on until the verifier accepts',
      'goal criterion': 'at least one is derived from the objective',
      'goal verifier': 'the checks of the criteria are run by the gate engine',
    },
  ),
  ...heldBy(
    'Goal',
    work,
    'a failed check refutes a criterion despite the claim of the model, and the goal goes on',
    {
      'goal claims': 'completion that is claimed ends nothing',
    },
  ),
  ...heldBy('Goal', work, 'a criterion that no check verifies blocks the goal before any question', {
    'goal unverifiable': 'never silently accepted: blocked before anybody is asked',
  }),
  ...heldBy(
    'Goal',
    heldUp,
    'a spent cost budget stops a run before the next model call until the user grants more',
    {
      'goal money': 'its budget and what the session tells are one count',
    },
  ),
  ...heldBy(
    'Goal',
    heldUp,
    'a goal whose run waits for approvals is blocked, and achieved once they are signed',
    {
      'goal approvals': 'a run that waits for people achieves nothing until they have signed',
    },
  ),
  ...heldBy(
    'Goal',
    ofSession('tui/goal-in-terminal'),
    'a goal that was killed during its run continues that run after a resume',
    {
      'goal resumed': '`--goal` with `--resume` is `/goal start` in that thread',
    },
  ),
  ...heldBy(
    'Goal',
    stops,
    'a spent token budget stops a run before the next model call until the user continues it',
    {
      'goal budget': 'tokens and cost; granted by a person alone, never reset',
    },
  ),
  ...heldBy('Goal', stops, 'a spent time budget stops the running command, which becomes unknown', {
    'goal time': 'wall clock of work',
  }),
  ...heldBy(
    'Goal',
    stops,
    'two runs with the same result block the goal with `no_progress` until the user says how to go on',
    {
      'goal progress': 'other files or other failures',
    },
  ),
  ...heldBy('Goal', stops, 'a failing provider is retried after a delay and then blocks the goal', {
    'goal back-off': 'bounded',
  }),
  ...heldBy(
    'Goal',
    ofSession('state/goal-walk'),
    'a kill interrupts a goal unless its draft or plan waits for an answer',
    {
      'goal after a kill': 'nothing runs by itself',
    },
  ),
  ...heldBy(
    'Options',
    'test/bin/code/goal.test.ts',
    '`--goal` starts a goal at once and waits at the first user confirmation',
    {
      'option --goal': 'boots in goal mode, the same as `/goal start`',
    },
  ),
];
