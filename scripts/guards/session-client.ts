import { type Guard, within } from './guard.ts';

const serve = 'test/session/client/serve-requests.test.ts';
const find = 'test/session/client/find-session.test.ts';
const wrong = 'what is no request is told';

/** What stands between a program and the session that it steers. */
export const guards: readonly Guard[] = [
  ...within('session/client/find-session.ts', find, [
    ['a loopback address alone', 'if (isLoopbackBase(base)) return base;', 'return base;', 'what could send'],
    [
      'a session that lives',
      'if (!(await isProcessLockHeld(infoLock, discovery.pid)))',
      'if (discovery.pid === 0)',
      'the session that runs here',
    ],
    [
      'one that is there still',
      '(now) => now.baseUrl === baseUrl',
      '() => true',
      'an address that was found',
    ],
    [
      'its own token alone',
      "infoFile === undefined && mode === 'write'",
      "mode === 'write'",
      'a token goes to',
    ],
    ['a token and nothing else', 'if (/^[\\w-]{43}$/.test(token))', "if (token !== '')", 'what could send'],
  ]),
  ...within('session/client/parse-request.ts', serve, [
    ['an id is a string, a number or null', 'if (!isId(id))', 'if (id === 0)', wrong],
    ['parameters by name', 'if (Array.isArray(params))', 'if (params === id)', wrong],
  ]),
  ...within('session/client/to-question.ts', serve, [
    ['no path in an id', '!plainId.test(interactionId)', "interactionId === ''", wrong],
    ['whole numbers in a query', '!Number.isSafeInteger(params[name])', 'params[name] === null', wrong],
  ]),
  ...within('session/client/each-line.ts', serve, [
    [
      'bounded lines',
      'if (held > maxBytes) parts = [];\n    else parts.push(part);',
      'parts.push(part);\n    held = 0;',
      wrong,
    ],
  ]),
  ...within('session/client/serve-requests.ts', serve, [
    ['no method of an object’s own', '|| !Object.hasOwn(methodRoutes, method)', '', wrong],
    [
      'writes in their order',
      "if (method !== 'task.dispatch') writes = sent.catch(() => undefined);",
      '',
      'everything that was asked',
    ],
    ['the lease that was kept', 'lease !== undefined && needsLease', 'lease === null', 'a program attaches'],
    [
      'the lease that was given back',
      "if ('result' in answer && method === 'controller.detach') lease = undefined;",
      '',
      'a program attaches',
    ],
    ['notifications are not answered', 'if (id !== undefined)\n', 'if (requests > 0)\n', wrong],
  ]),
  ...within('session/client/ask-session.ts', serve, [
    [
      'nothing for whoever listens where a session did',
      'if (isThere === undefined || (await isThere())) return undefined;',
      'if (isThere !== null) return undefined;',
      'where a session ended',
    ],
  ]),
  ...within('session/client/follow-session.ts', serve, [
    [
      'a stream is one',
      "if (!headers['content-type']?.startsWith('text/event-stream')) {",
      'if (status !== 200) {',
      'what nobody could pass on',
    ],
  ]),
  ...within('http/discovery.ts', find, [
    ['a port is one', ' && Number(port) <= 65535', '', 'what could send'],
  ]),
  ...within('session/client/serve-requests.ts', serve, [
    [
      'an answer that cannot be written costs no other',
      '(fault) => say({ id, error: { code: -32603, message: messageOf(fault) } }),',
      '() => say({ id, result: null }),',
      'what nobody could pass on',
    ],
  ]),
  ...within('session/client/keep-feed.ts', serve, [
    [
      'one subscription',
      'if (current !== undefined) return { answer: subscribed };',
      '',
      'requests and events flow',
    ],
    ['silence', 'one?.stop.abort();\n        await one?.ended;', '', 'requests and events flow'],
  ]),
];
