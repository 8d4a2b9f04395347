import { type Guard, within } from './guard.ts';

const hostile = 'test/coder/code/hostile-server.test.ts';
const runs = 'test/coder/code/code-tools.test.ts';
const places = 'places outside the workspace, hidden ones';
const own = 'a server of the repository';

/** What language servers may say, see and be. */
export const guards: readonly Guard[] = [
  ...within('engine/run/work/lsp/frames.ts', hostile, [
    [
      'a head has an end',
      'if (end > frameBounds.head || (end === -1 && rest.length > frameBounds.head))',
      'if (end < -1)',
      'a server that sends text',
    ],
    [
      'a message has one length',
      '/^[0-9]{1,9}$/.test(text) && lengths.length === 1 ? Number(text) : -1',
      'Number(text)',
      'a server that sends two lengths',
    ],
    [
      'a message is no larger than that',
      'if (length > frameBounds.message)',
      'if (length < 0)',
      'a server that announces a huge message',
    ],
    [
      'nor deeper',
      'if (isDeeperThan(body, frameBounds.depth))',
      'if (body.length < 0)',
      'a server that nests without end',
    ],
    [
      'there are not more of them',
      'if (messages > frameBounds.messages)',
      'if (messages < 0)',
      'a server that floods with messages',
    ],
  ]),
  ...within('engine/run/work/lsp/connection.ts', hostile, [
    [
      'only what was asked is answered',
      "typeof id === 'number' ? open.get(id) : undefined",
      'open.values().next().value',
      'an answer to another question is none',
    ],
    [
      'not everything is answered without end',
      'if (requests > maxRequests)',
      'if (requests < 0)',
      'a server that floods with requests',
    ],
    [
      'nor are answers to nothing taken',
      'if (strays > maxStrays)',
      'if (strays < 0)',
      'a server that answers what nobody asked',
    ],
  ]),
  ...within('engine/run/work/lsp/places.ts', hostile, [
    ['a link leads to nothing hidden', '!shows(path) || !shows(real)', '!shows(path)', places],
    ['version control is no place', 'isOwn(path) || isOwn(real) || ', '', places],
    [
      'a place outside is none',
      "if (real === undefined || real === '.') return undefined;",
      'if (real === undefined) return path;',
      places,
    ],
  ]),
  ...within('engine/run/work/lsp/texts.ts', hostile, [
    [
      'text of others steers no terminal',
      ".replace(/[^\\P{Cc}\\n\\t]/gu, ' ')",
      '',
      'text of others holds no control characters',
    ],
  ]),
  ...within('engine/run/work/lsp/server-answers.ts', hostile, [
    ['no edit is said to be made', 'applied: false', 'applied: true', 'what a server wants done is not done'],
  ]),
  ...within('engine/run/work/lsp/start-server.ts', runs, [
    [
      'it writes nothing',
      '{ source: place.workspace, target: inside, writable: false }',
      '{ source: place.workspace, target: inside, writable: true }',
      own,
    ],
    [
      'what is hidden it does not see',
      'for (const path of covered)',
      'for (const path of covered.slice(covered.length))',
      'what the rules hide is in no answer',
    ],
    [
      'no program of the change is taken for it',
      'if (from !== undefined && !laid.has(from.directory))',
      'if (laid.has(from?.source ?? inside))',
      'what a change puts where a server would come from',
    ],
  ]),
  ...within('engine/run/work/lsp/source-files.ts', runs, [
    ['nor does it see version control', "path === '.git' || !shows(path)", '!shows(path)', own],
  ]),
  ...within('engine/run/work/lsp/open-code.ts', runs, [
    [
      'nothing is let loose without a sandbox',
      '|| !asksModel || sandbox.unconfined',
      '|| !asksModel',
      'without a sandbox there are no such tools',
    ],
    ['one that fails again and again is not asked', 'if (deaths >= maxDeaths)', 'if (deaths < 0)', own],
  ]),
  ...within('engine/tool/acl/guard-tool.ts', runs, [
    [
      'a question about code writes nothing',
      "'query', ...codeActions",
      "'query'",
      'each constraint of a rule for language servers',
    ],
  ]),
];
