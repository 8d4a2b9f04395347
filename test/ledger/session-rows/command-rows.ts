import { heldBy, ofSession, type SessionRow } from './session-row.ts';

const section = 'What the service does';
const settings = ofSession('work/settings');

/** Commands that are messages, and what they set. */
export const commandRows: readonly SessionRow[] = [
  ...heldBy(section, ofSession('work/turns'), 'a question is answered', {
    'slash /ask TEXT': 'is answered, and changes nothing',
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
];
