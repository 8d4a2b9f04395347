import { type Guard, within } from './guard.ts';

const talk = 'test/session/work/plan-talk.test.ts';
const approvals = 'test/session/work/approvals.test.ts';
const resumed = 'test/session/work/resumed.test.ts';
const turns = 'test/session/work/turns.test.ts';
const tasks = 'test/session/api/task-routes.test.ts';

/** What holds while a turn works: drafts, plans, runs and the tool calls of their models. */
export const guards: readonly Guard[] = [
  ...within('session/state/converse.ts', 'test/session/state/converse.test.ts', [
    [
      'a plan is executed where something may be changed',
      "if (answer.option === 'execute' && state.settings.context !== 'dev')",
      "if (answer.option === 'execute' && state.settings.context === undefined)",
      'a plan of a session that only reads now',
    ],
  ]),
  ...within('session/tui/card/press-card.ts', 'test/session/tui/card.test.ts', [
    [
      'a question answers nothing before it could be read',
      'if (nowMs - card.shownAtMs < deafForMs)',
      'if (nowMs < card.shownAtMs)',
      'a key that was pressed before',
    ],
    [
      'pasted text answers nothing',
      "if (key.type === 'paste' || key.ctrl || key.alt) return { card, isElse: true };",
      "if (key.type === 'paste') return { card, given: { selectedOption: 'approve' } };\n  if (key.ctrl || key.alt) return { card, isElse: true };",
      'pasted text answers nothing',
    ],
  ]),
  ...within('session/tui/open-screen.ts', 'test/session/tui/screen-says.test.ts', [
    [
      'nobody is led out of a session to none',
      'if (thread !== undefined) ended.resolve({ resume: thread });',
      'if (thread === undefined) ended.resolve({ resume: word });',
      'a thread that there is not',
    ],
  ]),
  ...within('session/tui/view/press-view.ts', 'test/session/tui/press-view.test.ts', [
    [
      'who has begun to type answers nothing',
      "return { view: { ...view, card: { ...card, focus: 'away' } }, effects };",
      'return { view, effects };',
      'a word that is typed at a question',
    ],
  ]),
  ...within('session/state/converse.ts', 'test/session/state/converse.test.ts', [
    [
      'words that no turn takes are not said',
      'boundRequest(spoken.text);',
      '',
      'what is too long for any turn',
    ],
  ]),
  ...within('session/state/converse.ts', talk, [
    [
      'a plan is held to its work tree',
      "if (answer.option === 'execute' && asked.metadata.workspace !== workspace)",
      "if (answer.option === 'execute' && asked.metadata.workspace === null)",
      'a plan is executed on the work tree',
    ],
  ]),
  ...within('session/state/converse.ts', tasks, [
    [
      'a browser dispatches nobody',
      "if (by.kind !== 'automation') throw new WritError('AUTOMATION_CONTROLLER_REQUIRED');",
      '',
      'a browser dispatches nobody',
    ],
  ]),
  ...within('session/state/slash/plan-continue.ts', talk, [
    ['no more repairs than the cap', 'limit <= repairs.cap', 'limit <= 9999', 'after three repairs'],
  ]),
  ...within('session/work/run-step.ts', talk, [
    ['repairs end', 'if (attempt >= limit) {', 'if (attempt > 8) {', 'after three repairs'],
  ]),
  ...within('session/work/run-step.ts', turns, [
    [
      'a note on a line is passed on',
      'noted.length === 0 ? advice :',
      'noted.length >= 0 ? advice :',
      'a request is',
    ],
  ]),
  ...within('engine/run/work/advise-plan.ts', turns, [
    [
      'a confirmed plan is the one that is worked',
      'if (advice !== undefined) return confirmedPlan(run, draft, advice);',
      '',
      'a request is',
    ],
  ]),
  ...within('engine/run/work/tools/open-tools.ts', approvals, [
    [
      'a person is asked',
      '(await hooks.tool.guard.call(request)) ??\n      (await consented(judged));',
      '(await hooks.tool.guard.call(request));',
      'a person is asked about',
    ],
  ]),
  ...within('engine/run/work/hands/open-hands.ts', approvals, [
    [
      'what is asked about is the bytes that would be written',
      'changeOf(place.workspace, wanted, judged)',
      'Promise.resolve(undefined)',
      'each question about a file shows',
    ],
  ]),
  ...within('session/work/ask-consent.ts', approvals, [
    [
      'no answer but consent lets a call go',
      "if (grants.take(use)?.verdict === 'go') return 'go';",
      "return 'go';",
      'a person is asked about',
    ],
    ['a denial that stops, stops', "if (option === 'abort') return 'abort';", '', 'whoever denies and stops'],
  ]),
  ...within('session/work/run-step.ts', talk, [
    [
      'no network without the self-test',
      "if (networkAccess === 'allow') requireApart('allow', await setting.selfTest.result());",
      '',
      'no run gets a network',
    ],
  ]),
  ...within('session/self-test/try-to-approve.ts', 'test/session/self-test/try-to-approve.test.ts', [
    [
      'what was not tried is not shown',
      '(isTried && reached.length === 0)',
      'reached.length === 0',
      'a sandbox that lets it',
    ],
    [
      'whoever is reached opens no network',
      '(isTried && reached.length === 0)',
      'isTried',
      'a sandbox that lets it',
    ],
  ]),
  ...within('session/channel/open-channel.ts', 'test/session/channel/open-channel.test.ts', [
    [
      'nothing overtakes what was sent before it',
      'waiting = undefined;\n    const taken',
      'const taken',
      'reports that wait together',
    ],
  ]),
  ...within('session/channel/mask-words.ts', 'test/session/work/canaries.test.ts', [
    [
      'words of clients are masked',
      'return { ...command, text: mask(command.text) };',
      'return command;',
      'no byte that',
    ],
    ['reports are masked', 'return masked(command, mask) as Command;', 'return command;', 'no byte that'],
    ['answers are masked', "fact.type === 'answered' ?", "fact.type === 'opened' ?", 'no byte that'],
  ]),
  ...within('session/work/watch-runs.ts', resumed, [
    [
      'what was stopped has not failed',
      "outcome === 'failed' && told?.signal.aborted ? 'unknown' : ",
      '',
      'a turn that is cancelled',
    ],
  ]),
  ...within('session/api/write-door.ts', tasks, [
    [
      'another lease is told before its body is looked at',
      "if (isForAutomation && by.kind !== 'automation')",
      'if (isForAutomation === undefined && by.kind === undefined)',
      'a browser dispatches nobody',
    ],
  ]),
];
