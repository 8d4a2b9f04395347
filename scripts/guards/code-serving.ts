import { type Guard, within } from './guard.ts';

const elsewhere = 'test/http/answer-elsewhere.test.ts';
const notice = 'a browser elsewhere gets the notice';
const log = 'test/session/log/open-log.test.ts';
const logged = 'a log is a file of this user alone';
const serve = 'test/session/serve/serve-session.test.ts';
const served = 'a session is served with what it runs on';
const taken = 'a port that is taken ends the start';

/** What serves a session, and what is told of it. */
export const guards: readonly Guard[] = [
  ...within('http/loopback-server.ts', elsewhere, [
    [
      'peers elsewhere have no routes',
      'elsewhere !== undefined && !isLoopbackPeer(request.socket.remoteAddress)',
      'elsewhere !== undefined && !isLoopbackPeer(request.socket.remoteAddress) && request.url === ""',
      'a server for all addresses',
    ],
  ]),
  ...within('http/answer-elsewhere.ts', elsewhere, [
    [
      'a known route is refused',
      'if (known.some((one) => isSame(one, parts)))',
      'if (known.length === 0)',
      notice,
    ],
    ['below a route is no page', '!tops.has(parts[1]) && ', '', notice],
    ['a file is no page', ' && !isAsset(parts)', '', notice],
    [
      'the notice is for people',
      "if (mode !== undefined) return mode === 'navigate' && dest === 'document';",
      '',
      notice,
    ],
  ]),
  ...within('http/send-page.ts', elsewhere, [
    ['a page runs nothing', "\"default-src 'none'; style-src", '"default-src *; style-src', notice],
  ]),
  ...within('session/log/open-log.ts', log, [
    ['no link is followed', ' | O_NOFOLLOW', '', logged],
    ['a log is a file', "if (!found.isFile()) throw new Error('it is not a regular file');", '', logged],
    ['nobody else reads it', 'if ((found.mode & 0o077) !== 0) fchmodSync(handle, 0o600);', '', logged],
    ['one event is one line', 'printable(String(value))', 'String(value)', logged],
  ]),
  ...within('session/serve/read-diagnostics.ts', serve, [
    [
      'a failure is told by its code alone',
      "/^([A-Z][A-Z0-9_]{2,60})(?::|$)/.exec(content)?.[1] ?? 'TURN_FAILED'",
      'content',
      served,
    ],
  ]),
  ...within('session/serve/serve-session.ts', serve, [
    ['what was opened is closed again', '    await unwind();\n    throw fault;', '    throw fault;', taken],
    [
      'MCP has its port before there is a thread',
      `    const mcp = await serveMcp(setting, place, () => session);
    undo.push(mcp.close);
    ports.mcp = portOf(mcp.mcpUrl);
    const opened = await setting.open();
`,
      `    const opened = await setting.open();
    const mcp = await serveMcp(setting, place, () => session);
    undo.push(mcp.close);
    ports.mcp = portOf(mcp.mcpUrl);
`,
      taken,
    ],
  ]),
];
