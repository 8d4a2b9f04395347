import { type Guard, within } from './guard.ts';

const request = 'test/http/guard-request.test.ts';
const table = 'test/service/hostile-requests.test.ts';
const files = 'test/http/private-files.test.ts';
const sql = 'test/engine/store/sql.test.ts';
const paths = 'test/service/mark-paths.test.ts';
const rows = 'the table of hostile requests';

/** Who may ask the service, and what it stores. */
export const guards: readonly Guard[] = [
  ...within('http/guard-request.ts', request, [
    [
      'peers elsewhere',
      'if (!isLoopbackPeer(remoteAddress)) {',
      'if (remoteAddress === 0) {',
      'a peer elsewhere',
    ],
    ['a Host of another name', ' || !isLoopbackHost(host)) {', ') {', 'a Host that is missing'],
    ['two Hosts', ' || moreHosts.length > 0 || ', ' || ', 'a Host that is missing'],
    [
      'a page of another origin',
      'return foreignOrigin(request, host);',
      'return undefined;',
      'a browser is let in',
    ],
  ]),
  ...within('http/read-json-body.ts', table, [
    ['a body too long, as announced', 'Number(announced) > limits.maxBytes', 'Number(announced) < 0', rows],
    ['a body too long, as it comes', 'if (size > maxBytes) settle(', 'if (size < 0) settle(', rows],
    [
      'another content type',
      'if (types.length === 1 && plain && encodings.length === 0) return;',
      'return;',
      rows,
    ],
  ]),
  ...within('http/loopback-server.ts', table, [
    [
      'one name for what is served',
      'return plainTarget.test(url) ? undefined :',
      'return plainTarget ? undefined :',
      rows,
    ],
  ]),
  ...within('service/routes.ts', table, [
    ['the token', ' || !matchesToken(given, token)) throw', ') throw', rows],
    ['two tokens', 'if (more.length > 0 || !', 'if (!', rows],
  ]),
  ...within('service/read-request.ts', table, [
    ['names of our own', 'if (isBuiltIn(notification.type.trim()))', 'if (isBuiltIn(String(0)))', rows],
  ]),
  ...within('http/private-files.ts', files, [
    [
      'a directory that leads elsewhere',
      'requireOwnDirectory(path, await lstat(path));',
      'await lstat(path);',
      'a link, a file or somebody',
    ],
    [
      'files that others can read',
      '(status.mode & 0o077) !== 0)\n',
      '(status.mode & 0) !== 0)\n',
      'every other kind of file',
    ],
  ]),
  ...within('service/mark-paths.ts', paths, [
    [
      'what Windows takes for a way out',
      'mark === undefined || leavesOnWindows(mark)',
      'mark === undefined',
      'what Windows would take',
    ],
  ]),
  ...within('engine/store/sql.ts', sql, [
    [
      'the journal mode that survives a kill',
      "if (mode !== 'wal') throw",
      "if (mode === '') throw",
      'a library that answers',
    ],
  ]),
];
