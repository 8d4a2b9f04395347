import { type Guard, within } from './guard.ts';

const walk = 'test/session/state/walk.test.ts';
const talk = 'test/session/state/converse.test.ts';
const channel = 'test/session/channel/open-channel.test.ts';
const thread = 'test/session/thread/killed-thread.test.ts';
const routes = 'test/session/api/session-routes.test.ts';
const each = 'seven commands in every order, with a screen';

/** What holds in every state of a session. */
export const guards: readonly Guard[] = [
  ...within('session/state/control.ts', walk, [
    [
      'whoever attaches anew is asked anew',
      'holderOf(lease) === state.holder ? [] : takenOver(state, moment)',
      '[]',
      each,
    ],
    [
      'one lease at a time',
      'if (held.kind !== kind || held.clientId !== clientId)',
      'if (held.kind !== kind)',
      each,
    ],
    [
      'the screen waits for the lease',
      "if (held !== undefined)\n      throw conflict('a client",
      "if (held === null)\n      throw conflict('a client",
      each,
    ],
    [
      'a stale token is none',
      '!equalSecret(held.tokenDigest, proof.tokenDigest)',
      'held.tokenDigest === undefined',
      each,
    ],
    [
      'automation shows the control token',
      "if (kind === 'automation') requireControlToken(controlToken);",
      '',
      each,
    ],
    ['a first word was somebody else’s', 'needsConfirmation: _, ...metadata', '...metadata', each],
  ]),
  ...within('session/state/decide.ts', walk, [
    ['a lease runs out', 'state.lease.expiresAtMs <= nowMs', 'state.lease.expiresAtMs < 0', each],
  ]),
  ...within('session/state/converse.ts', walk, [
    ['an answer comes once', "if (asked.status !== 'pending')", "if (asked.status === 'cancelled')", each],
    [
      'everything is allowed by a second word',
      "if (option === 'allow_all_commands' && needsConfirmation !== option)",
      "if (option === 'allow_all_commands' && needsConfirmation === null)",
      each,
    ],
  ]),
  ...within('session/state/require-idle.ts', walk, [
    ['a busy session takes no message', 'if (isBusy(state)) throw', 'if (state.noteFor) throw', each],
  ]),
  ...within('session/state/interaction.ts', walk, [
    [
      'nothing is filled in',
      'if (option === undefined || !named.includes(option)) {',
      'if (option === "") {',
      each,
    ],
    ['no contradiction', 'if (approved !== undefined && (', 'if (approved === null && (', each],
  ]),
  ...within('session/state/take-report.ts', walk, [
    ['a turn that ends asks nothing more', '          ...left,\n', '', each],
  ]),
  ...within('session/channel/open-channel.ts', channel, [
    [
      'on disk before it has happened',
      'if (lasting.length > 0) await thread.append(lasting);',
      'if (lasting.length > 0) void thread.append(lasting).catch(() => {});',
      'what is wanted is done after',
    ],
    [
      'one after the other',
      'const taken = last.then(() => take(masked));',
      'const taken = take(command);',
      'commands are taken one after',
    ],
    [
      'a lease ends by timer',
      'wakeAtExpiry();\n    for',
      'void wakeAtExpiry;\n    for',
      'a lease ends by timer',
    ],
    [
      'whoever waits for a report waits for no other',
      'waiting?.hurry();\n      return taken;',
      'return taken;',
      'whoever waits for a report does not',
    ],
    [
      'a command waits for nothing that is mentioned',
      'waiting?.hurry();\n    waiting = undefined;',
      'waiting = undefined;',
      'whoever waits for a report does not',
    ],
    [
      'no mention is left behind',
      'waiting?.hurry();\n      await last;',
      'await last;',
      'whoever waits for a report does not',
    ],
    [
      'what breaks ends its turn',
      "await send({ turn, type: 'end', end: 'failed'",
      "if (turn === '') await send({ turn, type: 'end', end: 'failed'",
      'an effect that breaks',
    ],
  ]),
  ...within('session/channel/mask-words.ts', channel, [
    ['what a tool is given', '(masked(words, mask) as typeof words)', 'words', 'words of tools are masked'],
    ['what was answered', "|| fact.type === 'noted'", '', 'a known secret in an answer'],
  ]),
  ...within('session/state/take-report.ts', channel, [
    [
      'tools that were stopped are unknown',
      "state.toolCalls.filter(({ status }) => status === 'running')",
      "[].filter(({ status }) => status === 'running')",
      'whoever waits for a report does not',
    ],
  ]),
  ...within('session/work/watch-runs.ts', 'test/session/work/watch-runs.test.ts', [
    [
      'told before it acts',
      "if (!isLooking(request)) return told?.tell({ type: 'tool', ...use });",
      '',
      'a call that may have an effect waits',
    ],
  ]),
  ...within('session/thread/open-thread.ts', thread, [
    [
      'whose thread it is',
      'if (!journal.isAuthentic) throw',
      "if (threadId === '') throw",
      'a thread that somebody else wrote',
    ],
  ]),
  ...within('session/state/interaction.ts', talk, [
    [
      'answers whole or not at all',
      "if (question.kind === 'request_user_input') requireAnswers(question, answers);",
      "if (question.kind === 'request_user_input') void answers;",
      'answers are taken whole',
    ],
    [
      'secrets are kept nowhere',
      'secret === true ? [id] : []',
      'secret === null ? [id] : []',
      'answers are taken whole',
    ],
  ]),
  ...within('session/state/said-fact.ts', talk, [
    [
      'one text under one id',
      'if (before === undefined || before === text)',
      'if (before === undefined || before !== null)',
      'the same command twice',
    ],
  ]),
  ...within('session/state/converse.ts', talk, [
    [
      'who only reads opens nothing',
      "if (context !== 'dev')",
      'if (context === undefined)',
      'where a context only reads',
    ],
  ]),
  ...within('session/api/write-door.ts', routes, [
    [
      'tokens before words',
      'requireWriter(isOver',
      'if (proof.tokenDigest === null) requireWriter(isOver',
      'refusals come in one order',
    ],
    ['so many writes', "count(proof.tokenDigest ?? '');", '', 'a lease has 120 writes'],
    [
      'one control token',
      'matchesToken(given, controlToken)',
      "given !== ''",
      'an automation shows both tokens',
    ],
  ]),
];
