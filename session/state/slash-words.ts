/** The slash commands in words, as lists and both screens show them. */

/** Placeholders in capitals, optional parts in brackets; what each does. In the order of lists. */
export const slashWords = [
  ['/ask TEXT', 'is answered, and never drafted'],
  ['/draft [TEXT]', 'is drafted, and not only answered; alone: what you said last'],
  ['/shell COMMAND', 'runs a command of yours on a copy of the work tree; or `!COMMAND`'],
  ['/verify [COMMIT|RUN]', 'checks a seal, offline; alone: of the last commit of the thread'],
  [
    '/plan continue [N]',
    'executes the plan of a run that failed too often, with N (1 to 10) up to that many repairs by itself',
  ],
  [
    '/goal start [OBJECTIVE]',
    'works until the objective is verified; without one it goes on with a goal that is blocked',
  ],
  ['/goal status', 'how far the goal is, and what it used'],
  ['/goal cancel [REASON]', 'gives the goal up, and stops its turn'],
  [
    '/budget USD|off',
    'stops the session before it costs more than that over its whole thread; `off`: nothing stops it',
  ],
  ['/network allow|deny', 'what plans are proposed with from now on'],
  [
    '/review [on|off]',
    'on: a change is held until you have reviewed it, and only then on its branch; alone: asks again',
  ],
  [
    '/undo [RUN] [TASK]',
    'lists what taking back a run or one task of it would touch, and takes it back by a run of its own; without RUN: the last one',
  ],
  ['/context dev|review|research', 'what the session is for: only in dev anything is changed'],
  ['/model NAME', 'another model from the next turn on; of another provider: PROVIDER/NAME'],
  [
    '/rewind [N] [talk|files|both]',
    'goes back before the last N messages: what a model is sent (`talk`), the change that came of them (`files`, by `/undo`), or both; alone: lists them',
  ],
  ['/fork [N]', 'a new thread that goes on from here, or from before the last N messages; this one stays'],
  ['/compact', 'shortens what a model is sent of older turns and tool results'],
  ['/clear', 'restarts the conversation in this thread; spec, plans and decisions stay'],
] as const;

/** Every slash command. Several forms can have the same name: the first word, without the slash. */
export const slashCommands = slashWords.map(([form, says]) => ({
  name: /^\/([a-z]+)/.exec(form)?.[1] ?? '',
  form,
  says,
}));
