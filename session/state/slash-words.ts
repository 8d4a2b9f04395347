/** The slash commands in words, as lists and both screens show them. */

/** Placeholders in capitals, optional parts in brackets; what each does. In the order of lists. */
export const slashWords = [
  ['/ask TEXT', 'asks a question; no change is drafted'],
  ['/draft [TEXT]', 'drafts a spec for a change; alone: from your last message'],
  ['/shell COMMAND', 'runs a command on a copy of the working tree; short form: `!COMMAND`'],
  ['/verify [COMMIT|RUN]', 'verifies a sealed commit, offline; alone: the last commit of the thread'],
  [
    '/plan continue [N]',
    'goes on with an interrupted run, or with a plan that failed; with N (1 to 10), repairs it up to N times',
  ],
  ['/goal start [OBJECTIVE]', 'works until checks prove the objective; alone: continues a blocked goal'],
  ['/goal status', 'shows the progress and the cost of the goal'],
  ['/goal cancel [REASON]', 'ends the goal, and stops its turn'],
  ['/budget USD|off', 'limits the total cost of the thread; `off`: no limit'],
  ['/network allow|deny', 'whether later plans may use the network'],
  [
    '/review [on|off]',
    'on: each change waits for your review before it is committed; alone: opens the review again',
  ],
  [
    '/undo [RUN] [TASK]',
    'shows what undoing a run (or one task of it) changes, then undoes it with a new run; alone: the last run',
  ],
  ['/context dev|review|research', 'sets the purpose of the session; only dev may change files'],
  ['/model NAME', 'uses another model from the next turn on; for another provider: PROVIDER/NAME'],
  [
    '/rewind [N|ENTRY] [talk|files|both]',
    'goes back before the last N messages or ENTRY: what a model is sent (`talk`), the change made since (`files`, by `/undo`), or both; alone: lists them',
  ],
  [
    '/fork [N|ENTRY]',
    'a new thread that goes on from here, from before the last N messages, or from before ENTRY; this one stays',
  ],
  [
    '/ps [N] [stop]',
    'lists the commands that the model runs in the background; N: what that one printed since you last looked; `stop` ends it',
  ],
  ['/compact', 'sends the model a shorter form of older turns and tool results'],
  ['/clear', 'restarts the conversation in this thread; spec, plans and decisions stay'],
] as const;

/** Every slash command. Several forms can have the same name: the first word, without the slash. */
export const slashCommands = slashWords.map(([form, says]) => ({
  name: /^\/([a-z]+)/.exec(form)?.[1] ?? '',
  form,
  says,
}));
