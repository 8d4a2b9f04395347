import { heldBy, ofSession, type SessionRow } from './session-row.ts';

const section = 'What the service does';
const settings = ofSession('work/settings');

/** Commands that are messages, and what they set. */
export const commandRows: readonly SessionRow[] = [
  ...heldBy(
    section,
    ofSession('work/turns'),
    'a model answers a question from the repository, and the next question includes that dialogue',
    {
      'slash /ask TEXT': 'is answered, and never drafted',
    },
  ),
  ...heldBy(
    section,
    ofSession('work/turns'),
    '`/draft` turns what was answered into a draft, and reminds the model of it',
    { 'slash /draft [TEXT]': 'is drafted, and not only answered' },
  ),
  ...heldBy(
    section,
    ofSession('work/shell'),
    'a shell command of the user runs on a copy of the working tree and changes only the copy',
    {
      'slash /shell COMMAND': 'a command of a person on a copy of the work tree; `!COMMAND` is the same',
    },
  ),
  ...heldBy(
    section,
    ofSession('work/verify'),
    '`/verify` verifies a sealed run or commit and changes nothing',
    {
      'slash /verify [COMMIT|RUN]': 'the seal is verified offline; nothing verified is a failure',
    },
  ),
  ...heldBy(
    section,
    ofSession('work/plan-talk'),
    'after three repairs the user decides how many more are allowed',
    {
      'slash /plan continue [N]': 'goes on with a plan that failed',
    },
  ),
  ...heldBy(
    section,
    ofSession('tui/interrupted-in-terminal'),
    'the question that was put off is answered by `/plan continue`',
    {
      'continue of an interrupted run': 'goes on with the run of the thread that was interrupted',
    },
  ),
  ...heldBy(
    section,
    ofSession('tui/interrupted-in-terminal'),
    'a run finished in the shell is recorded once, at the next start or at `/status`',
    {
      'status of an interrupted run': 'records how a run ended that another process went on with',
    },
  ),
  ...heldBy(
    section,
    ofSession('state/converse'),
    'a session that only reads drops a run, and does not go on with it',
    {
      'question about an interrupted run':
        'goes on, or drops the run; a session that only reads drops it alone',
    },
  ),
  ...heldBy(
    section,
    ofSession('tui/interrupted-in-terminal'),
    'without a person the run is named, and how it goes on',
    {
      'refusal of an interrupted run without a person':
        'exit code 4; the message names the run and both commands',
    },
  ),
  ...heldBy(
    section,
    settings,
    'plans use the network setting, and `allow` is refused where a command could approve itself',
    {
      'slash /network allow|deny': 'what plans are proposed with',
    },
  ),
  ...heldBy(section, settings, 'a change of model or context applies from the next turn', {
    'slash /context dev|review|research': 'what the session is for',
    'slash /model NAME': 'another model of the same provider',
  }),
  ...heldBy(
    section,
    ofSession('state/cut-dialogue'),
    '`/clear` sends nothing old to the model and keeps the thread',
    {
      'slash /clear': 'the conversation starts anew in the same thread',
    },
  ),
  ...heldBy(
    section,
    ofSession('state/cut-dialogue'),
    '`/compact` shortens old turns and tool results, and leaves the last turn whole',
    {
      'slash /compact': 'less of the conversation is sent',
    },
  ),
  ...heldBy(
    section,
    ofSession('work/commands'),
    'a person lists, reads and stops commands that the model runs in the background',
    {
      'slash /ps [N] [stop]': 'lists, shows or stops commands in the background',
    },
  ),
  ...heldBy(
    section,
    ofSession('work/fork'),
    '`/fork` makes a thread that goes on from before a message, and the first one stays',
    {
      'slash /fork [N|ENTRY]': 'a new thread with the beginning of this one',
    },
  ),
  ...heldBy(
    section,
    ofSession('state/cut-dialogue'),
    '`/rewind` goes back before the last messages, in talk, files or both',
    {
      'slash /rewind [N|ENTRY] [talk|files|both]': 'goes back before earlier messages',
    },
  ),
  ...heldBy(
    'Interactions',
    ofSession('tui/local-commands'),
    'hunks of the newest change are numbered, and a review by number reaches the session',
    {
      'terminal hunk review': 'a patch is reviewed by its hunks',
    },
  ),
  ...heldBy(section, ofSession('work/held'), 'a held change is on no branch of the user until it is kept', {
    'slash /review [on|off]': 'holds changes until a person has reviewed them, and asks again',
  }),
  ...heldBy(
    section,
    ofSession('work/undo'),
    '`/undo` lists the files of a run and reverts them by a gated change of its own',
    {
      'slash /undo [RUN] [TASK]': 'lists what taking back a run would touch, and takes it back',
    },
  ),
  ...heldBy(
    section,
    ofSession('work/goal'),
    'a declined goal is blocked, and the user resumes it without a model call',
    {
      'slash /goal start [OBJECTIVE]': 'pursues a goal, or goes on with the one that is blocked',
      'slash /goal status': 'how far it is',
    },
  ),
  ...heldBy(
    section,
    ofSession('work/goal-stops'),
    'a spent time budget stops the running command, which becomes unknown',
    {
      'slash /goal cancel [REASON]': 'gives it up',
    },
  ),
  ...heldBy(
    section,
    ofSession('state/converse'),
    'a program can lower the session budget, but only the user can raise it',
    {
      'slash /budget USD|off': 'where the session stops',
    },
  ),
];
