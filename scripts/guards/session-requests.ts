import { type Guard, within } from './guard.ts';

const table = 'test/session/hostile/hostile-requests.test.ts';
const rows = 'the table of hostile requests to a session';

/** What a request to a session may say. */
export const guards: readonly Guard[] = [
  ...within('session/api/read-body.ts', table, [
    [
      'a name steers no terminal',
      'said.length > 0 && said.length <= most && !unseemly.test(said)',
      'said.length > 0 && said.length <= most',
      rows,
    ],
    [
      'a criterion steers no terminal',
      'said.length >= least && said.length <= most && !unseemly.test(said)',
      'said.length >= least && said.length <= most',
      rows,
    ],
    ['an answer holds no NUL', "for (const one of given) text('answers', one);", '', rows],
    ['a message says something', "if (said.trim() !== '') return said;", 'return said;', rows],
  ]),
  ...within('http/body-members.ts', table, [
    ['a member that nobody reads', 'if (odd === undefined) return', 'if (odd !== null) return', rows],
  ]),
  ...within('session/api/write-door.ts', table, [
    [
      'a lease token twice is none',
      "tokenDigest: more.length === 0 ? digestOf(given) : ''",
      'tokenDigest: digestOf(given)',
      rows,
    ],
    [
      'a control token twice is none',
      'controlToken !== undefined && more.length === 0 &&',
      'controlToken !== undefined &&',
      rows,
    ],
    [
      'a session that takes nobody',
      'if (ground.attachable.length > 0) return;',
      'if (ground.attachable.length >= 0) return;',
      rows,
    ],
    [
      'who may write is asked first',
      'const body = await exchange.readBody(admit);',
      'const body = await exchange.readBody();\n        admit();',
      rows,
    ],
  ]),
  ...within('http/error-answer.ts', 'test/session/api/session-routes.test.ts', [
    ['names of the wire', 'details: toWireNames(detail)', 'details: detail', 'a lease has 120 writes'],
  ]),
];
