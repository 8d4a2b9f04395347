import { heldBy, ofSession, type SessionRow } from './session-row.ts';

const section = 'What the service does';
const settings = ofSession('work/settings');

/** Commands that are messages, and what they set. */
export const commandRows: readonly SessionRow[] = [
  ...heldBy(section, ofSession('work/turns'), 'a question is answered', {
    'slash /ask TEXT': 'is answered, and changes nothing',
  }),
  ...heldBy(section, ofSession('work/shell'), 'a command of the person sees the work tree as it is', {
    'slash /shell COMMAND': 'a command of a person on a copy of the work tree; `!COMMAND` is the same',
  }),
  ...heldBy(section, ofSession('work/verify'), 'what a session sealed is verified', {
    'slash /verify [COMMIT|RUN]': 'the seal is verified offline; nothing verified is a failure',
  }),
  ...heldBy(section, ofSession('work/plan-talk'), 'after three repairs', {
    'slash /plan continue [N]': 'goes on with a plan that failed',
  }),
  ...heldBy(section, settings, 'plans are proposed with the network that was set', {
    'slash /network allow|deny': 'what plans are proposed with',
  }),
  ...heldBy(section, settings, 'from the next turn on another model is asked', {
    'slash /context dev|review|research': 'what the session is for',
    'slash /model NAME': 'another model of the same provider',
  }),
  ...heldBy('Interactions', ofSession('tui/local-commands'), 'hunks of the newest change have numbers', {
    'terminal hunk review': 'a patch is reviewed by its hunks',
  }),
  ...heldBy(section, ofSession('work/held'), 'a change that is reviewed is on no branch', {
    'slash /review [on|off]': 'holds changes until a person has reviewed them, and asks again',
  }),
  ...heldBy(section, ofSession('work/undo'), 'what taking back a run would touch', {
    'slash /undo [RUN] [TASK]': 'lists what taking back a run would touch, and takes it back',
  }),
  ...heldBy(section, ofSession('work/goal'), 'a goal that a person declines is blocked', {
    'slash /goal start [OBJECTIVE]': 'pursues a goal, or goes on with the one that is blocked',
    'slash /goal status': 'how far it is',
  }),
  ...heldBy(section, ofSession('work/goal-stops'), 'time that is used up stops what runs', {
    'slash /goal cancel [REASON]': 'gives it up',
  }),
  ...heldBy(section, ofSession('state/converse'), 'a program lowers what a session may cost', {
    'slash /budget USD|off': 'where the session stops',
  }),
];
