import { type Guard, within } from './guard.ts';

const consent = 'test/session/mcp/consent.test.ts';
const stdio = 'test/session/mcp/stdio.test.ts';
const http = 'test/session/mcp/http.test.ts';
const answers = 'test/session/mcp/tool-answer.test.ts';
const asked = 'test/session/mcp/ask-writ.test.ts';
const lets = 'a change is made only where';
const once = 'an answer counts once';
const letIn = 'nobody without the token';
const form = 'arguments of another form';

/** What stands between a client of the Model Context Protocol and the person's repository. */
export const guards: readonly Guard[] = [
  ...within('session/mcp/consent.ts', consent, [
    ['`never` asks nobody', "if (policy === 'never')", "if (policy === 'untrusted')", lets],
    ['a context that reads', 'if (readsOnly())', 'if (readsOnly() === undefined)', lets],
    ['a no is a no', 'if (answer.approved) return;', 'if (answer.approved || digest) return;', lets],
    ['a controller’s no is one', "if (said === 'denied')", "if (said === 'silence')", lets],
    ['nobody is no yes', "if (said === 'approved') return;", "if (said !== 'denied') return;", lets],
    ['an answer is to its question', 'answer.digest === digest && ', '', once],
    ['an answer counts once', ' && !used.has(answer.nonce)', '', once],
  ]),
  ...within('session/mcp/open-mcp-server.ts', consent, [
    ['nobody makes an answer up', 'requestState: { verify: codec.verify },', '', once],
    [
      'one change after the other',
      'tool.reads ? act() : shared.inTurn(act)',
      'act()',
      'calls that change something',
    ],
  ]),
  ...within('session/mcp/read-arguments.ts', stdio, [
    ['nothing that nobody declared', 'if (stranger !== undefined)', 'if (stranger === null)', form],
    ['each of its form', 'if (!isSound(spec, value))', 'if (isSound(spec, value) === undefined)', form],
  ]),
  ...within('session/mcp/tools/vcs-tools.ts', stdio, [
    [
      'what only reads changes nothing',
      "throw refusedWords('this tool changes nothing: `run_writ_vcs` does');",
      'return changeBy(read.change, given, call);',
      form,
    ],
  ]),
  ...within('session/mcp/tools/writ-tools.ts', stdio, [
    ['files inside', "if (!isInside || path.startsWith('-'))", 'if (path === undefined)', form],
  ]),
  ...within('session/mcp/line-transport.ts', stdio, [
    [
      'the last answers',
      'if (waiting.size === 0) void transport.close();\n    else timer',
      'if (waiting.size >= 0) void transport.close();\n    else timer',
      'the command answers what came before',
    ],
    ['strict JSON', "if (isWritError(fault, 'INVALID_BODY')) return undefined;", '', 'what is no message'],
  ]),
  ...within('bin/code/serve-stdio.ts', stdio, [
    [
      'it ends with its reader',
      'void print.taken().then((isRead) => isRead || unread.abort());',
      '',
      'it ends when nobody reads',
    ],
    ['a message is one line to everybody', 'escapeJson(line)', 'line', 'it ends when nobody reads'],
  ]),
  ...within('session/mcp/cut-lines.ts', stdio, [
    ['a line has an end', 'if (held > maxBytes)', 'if (held > maxBytes * 9)', 'what is no message'],
  ]),
  ...within('session/mcp/mcp-routes.ts', http, [
    ['the token', 'if (!isBearer(request, token))', "if (token === '')", letIn],
    ['who goes away', "request.socket.on('end', leave);", '', 'who goes away ends'],
  ]),
  ...within('session/mcp/serve-mcp-http.ts', http, [
    [
      'one token is not written over',
      "await takeTokenPlace(directory, server.baseUrl.replace(/^.*:/, ''))",
      "{ file: directory.concat('/mcp-token'), giveBack: async () => {} }",
      'a session beside another one',
    ],
  ]),
  ...within('session/mcp/tool-answer.ts', answers, [
    [
      'no words of a fault of ours',
      "if (fault.code === 'INTERNAL')",
      "if (fault.code === 'USAGE')",
      'a refusal has code',
    ],
  ]),
  ...within('session/mcp/hide-places.ts', answers, [
    ['no home', ".replaceAll(homedir(), '~')", '', 'a refusal has code'],
  ]),
  ...within('session/mcp/resources.ts', answers, [
    [
      'ids are plain',
      'const isPlain = id === undefined || plainId.test(id);',
      'const isPlain = true;',
      'evidence of a run',
    ],
  ]),
  ...within('bin/mcp/ask-writ.ts', asked, [
    ['commands that change nothing', '.filter(({ name }) => open.has(name))', '', 'a command that is asked'],
  ]),
];
