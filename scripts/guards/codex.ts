import { type Guard, within } from './guard.ts';

const hostile = 'test/coder/codex/hostile-server.test.ts';
const inSandbox = 'test/coder/codex/program-in-sandbox.test.ts';
const gate = 'test/engine/run/work/agent/model-gate.test.ts';
const lines = 'test/engine/run/work/agent/bounded-lines.test.ts';
const answered = 'each request is answered';
const session = 'test/session/work/codex.test.ts';
const drafts = 'Codex drafts, plans and makes the change';

/** What a program that works by itself may do: what it was allowed. */
export const guards: readonly Guard[] = [
  ...within('coder/codex/thread.ts', hostile, [
    [
      'threads that do not ask',
      "if (begun.approvalPolicy !== 'untrusted')",
      'if (begun.approvalPolicy === 0)',
      'a thread that would act without asking is not worked with',
    ],
    [
      'answers after the signal to stop',
      '      signal.throwIfAborted();\n',
      '',
      'told to stop, it is interrupted and its answer does not count',
    ],
    [
      'what the engine saw of the model',
      '  if (failure !== undefined) {',
      '  if (failure === null) {',
      'why a turn failed is what the engine saw of the model',
    ],
  ]),
  ...within('coder/codex/work.ts', hostile, [
    ['plans that are none', "plan.trim() === '')", 'false)', 'until there is a plan it may only look'],
  ]),
  ...within('coder/codex/draft.ts', session, [
    [
      'whoever drafts only reads',
      "thread.take({ text, mode: 'read', enough })",
      "thread.take({ text, mode: 'default', enough })",
      drafts,
    ],
  ]),
  ...within('engine/run/draft/reading-agent.ts', session, [
    [
      'what drafting with a program costs',
      'taken: gate.taken,',
      'taken: () => ({ ...gate.taken(), turns: 0, tokensUsed: 0 }),',
      drafts,
    ],
    ['a copy that is thrown away', 'opened.defer(() => removeWorkspace(root));', '', drafts],
  ]),
  ...within('engine/run/record/run-litter.ts', 'test/engine/run/record/run-litter.test.ts', [
    [
      'a copy that is looked at',
      ' && !(await isRunHeld(path));',
      ';',
      'gc removes what killed runs left and nothing else',
    ],
  ]),
  ...within('session/work/continue-step.ts', session, [
    [
      'a plan is asked about',
      '!setting.executesUnasked ||',
      'setting.executesUnasked === undefined ||',
      drafts,
    ],
    [
      'plan mode that was turned off',
      '!setting.executesUnasked ||',
      'true ||',
      'without plan mode a confirmed contract',
    ],
  ]),
  ...within('coder/codex/approvals.ts', hostile, [
    ['input for a command that runs', "(kind ?? 'command') === 'command' && ", '', answered],
    ['commands elsewhere', "if (textOf(cwd)?.replace(/\\/$/, '') !== workspace)", 'if (cwd === 0)', answered],
    ['roots to be granted', 'params.grantRoot || ', '', answered],
    [
      'patches before the plan',
      'params.grantRoot || isPlanning()',
      'params.grantRoot',
      'until there is a plan it may only look',
    ],
    ['targets of moved files', ", { kind: 'write', path: target, bytes }", '', answered],
  ]),
  ...within('coder/codex/app-server.ts', hostile, [
    [
      'silence',
      'else give(codexFault(`it said nothing',
      'else void (codexFault(`it said nothing',
      'what says anything but',
    ],
    ['requests that nobody knows', '        result === undefined\n', '        result === null\n', answered],
  ]),
  ...within('engine/run/work/agent/judge-agent-use.ts', inSandbox, [
    [
      'bounds that nobody holds',
      'return { ...judged, refusal: unheld(bound) };',
      'return judged;',
      'a command under a rule with bounds',
    ],
  ]),
  ...within('engine/run/work/agent/start-agent.ts', inSandbox, [
    [
      'agents that others take hold of',
      '      untraced: true,\n',
      '',
      'a command takes no hold of the agent',
    ],
  ]),
  ...within('engine/run/work/agent/bounded-lines.ts', lines, [
    ['octets in all', 'if (all > maxBytes)', 'if (all < 0)', 'a flood ends at each of its bounds'],
    ['lines in all', 'if (lines > maxLines)', 'if (lines < 0)', 'a flood ends at each of its bounds'],
  ]),
  ...within('engine/tool/line-cutter.ts', lines, [
    ['a line', 'if (held > maxBytes) throw', 'if (held < 0) throw', 'a flood ends at each of its bounds'],
  ]),
  ...within('engine/run/work/agent/model-gate.ts', gate, [
    [
      'other places than the model',
      "if (request.method !== 'POST' || request.url !== path)",
      "if (request.method !== 'POST')",
      'whatever is no question is refused',
    ],
    [
      'questions without a bound',
      'if (size > maxQuestionBytes) return undefined;',
      '',
      'whatever is no question is refused',
    ],
    ['another model', '{ ...prepared, model,', '{ model, ...prepared,', 'a question leaves with the key'],
    [
      'secrets in questions',
      "typeof value === 'string' ? mask(value) : value",
      'value',
      'a question leaves with the key',
    ],
    [
      'fences',
      '(text) => untrustedText(promptInjection, text)',
      '(text) => text',
      'a question leaves with the key',
    ],
    ['turns', 'if (turns >= maxTurns)', 'if (turns < 0)', 'it is asked again where the table says so'],
    [
      'replies without an end',
      'if (!isUsed && failure === undefined)',
      'if (failure === null)',
      'a reply that is cut or has no end is none',
    ],
  ]),
];
