import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { connectServer, shownArguments } from '../../../agent/mcp/connect-server.ts';
import { plainSchema } from '../../../agent/mcp/mcp-tools.ts';
import {
  type McpPlace,
  type McpServer,
  type StartedProgram,
  startProgram,
} from '../../../agent/mcp/start-server.ts';
import { replyFaults } from '../../../agent/model-loop/model-turns.ts';
import { long } from '../../rooms/long.ts';
import { serverText } from './mcp-scene.ts';

const server: McpServer = {
  name: 'hostile',
  from: 'policy',
  command: ['node'],
  hosts: [],
  env: {},
  reads: false,
  timeoutSeconds: 60,
};

/** A process of this text, as the sandbox would give it. */
function startHere(t: Test, text: string): StartedProgram {
  const child = spawn(process.execPath, ['-e', text], { stdio: 'pipe', env: {} });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += String(chunk);
  });
  const ended = new Promise<string>((resolve) => {
    child.once('close', (code, signal) =>
      resolve(code === null ? `was ended by ${signal}` : `ended with ${code}`),
    );
  });
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  t.teardown(stop);
  return {
    pipes: { input: child.stdin, output: child.stdout },
    ended,
    said: () => said.trim(),
    network: () => undefined,
    [Symbol.asyncDispose]: stop,
  };
}

async function connect(t: Test, text: string, more: Partial<McpServer> = {}, times?: { startMs: number }) {
  const program = startHere(t, text);
  const connection = await connectServer({ ...server, ...more }, { program }, times);
  t.teardown(() => connection[Symbol.asyncDispose]());
  return connection;
}

const failed = (reason: string, message: RegExp) => ({
  code: 'MCP_SERVER_FAILED',
  message,
  detail: { server: 'hostile', reason },
  hints: [/\w/],
});

t.test('a server that fails at its start is a catalogued error with a next step', async (t) => {
  const cases: readonly (readonly [name: string, text: string, reason: string, message: RegExp])[] = [
    ['dies', "console.error('no such module'); process.exit(3)", 'ended', /ended with 3: no such module$/],
    ['prints a banner', "console.log('Server ready'); setInterval(() => {}, 1000)", 'garbage', /no JSON$/],
    ['sends a list', "console.log('[]'); setInterval(() => {}, 1000)", 'garbage', /no message$/],
    ['nests without end', "console.log('['.repeat(1e5)); setInterval(() => {}, 1000)", 'garbage', /no JSON$/],
    [
      'sends a line of 100 MB',
      "const a = Buffer.alloc(1e6, 32); for (let n = 0; n < 100; n += 1) require('node:fs').writeSync(1, a)",
      'flood',
      /a line of more than 4194304 bytes$/,
    ],
    [
      'has pages without end',
      serverText({ tools: '[]' }).replace('tools: []', "tools: [], nextCursor: 'more' + id"),
      'protocol',
      /does not speak MCP/,
    ],
  ];
  for (const [name, text, reason, message] of cases)
    await t.rejects(connect(t, text), failed(reason, message), name);
  const hangs = connect(t, 'setInterval(() => {}, 1000)', {}, { startMs: 20 });
  await t.rejects(hangs, failed('late', /did not start within 0\.02 s$/));
});

t.test('a server that fails in a call ends that call and every later one', async (t) => {
  const cases: readonly (readonly [name: string, behave: string, reason: string, message: RegExp])[] = [
    ['dies', 'process.exit(7)', 'ended', /ended with 7$/],
    ['hangs', '', 'late', /did not answer `echo` within 0\.3 s$/],
    ['answers another call', 'write({ id: 999, result: { content: [] } })', 'late', /within 0\.3 s$/],
    ['answers what is no result', 'say({ content: 7 })', 'protocol', /does not speak MCP/],
    ['sends half a message and stops', "process.stdout.write('{')", 'late', /within 0\.3 s$/],
  ];
  for (const [name, behave, reason, message] of cases) {
    const { call } = await connect(t, serverText({ behave }), { timeoutSeconds: 0.3 });
    await t.rejects(call('echo', { text: 'a' }), failed(reason, message), name);
    await t.rejects(call('echo', { text: 'b' }), failed(reason, message), `${name}, later`);
  }
});

long('a server that floods in a call is ended', async (t) => {
  const messages = `const one = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x'.repeat(1e6) } }) + '\\n';
    (async () => { for (;;) if (!process.stdout.write(one)) await new Promise((done) => process.stdout.once('drain', done)); })()`;
  const requests = `process.stdin.pause();
    const one = JSON.stringify({ jsonrpc: '2.0', id: 'a'.repeat(1000), method: 'sampling/createMessage', params: {} }) + '\\n';
    (async () => { for (;;) if (!process.stdout.write(one)) await new Promise((done) => process.stdout.once('drain', done)); })()`;
  for (const [behave, message] of [
    [messages, /more than 67108864 bytes in all$/],
    [requests, /does not read what it asks for$/],
  ] as const) {
    const { call } = await connect(t, serverText({ behave }));
    await t.rejects(call('echo', { text: 'a' }), failed('flood', message));
  }
});

t.test('errors of a call, and content that is no text, are told in words', async (t) => {
  const behave = `const answers = {
    fails: { isError: true, content: [{ type: 'text', text: 'bad argument' }] },
    mixed: { content: [
      { type: 'image', data: 'aGk=', mimeType: 'image/png\\u001b' },
      { type: 'resource', resource: { uri: 'a:b', text: 'of a resource' } },
      { type: 'resource', resource: { uri: 'a:c', blob: 'aGk=', mimeType: 'application/zip' } },
      { type: 'resource_link', uri: 'a:d', name: 'd' },
      { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' } ] },
    structured: { content: [], structuredContent: { sum: 3 } },
    long: { content: [{ type: 'text', text: 'x'.repeat(1e6) }] },
  };
  if (call.name === 'unknown') write({ id, error: { code: -32602, message: 'no such tool' } });
  else say(answers[call.name])`;
  const { call, tools, version } = await connect(t, serverText({ behave }));
  t.equal(version, '1.2.3');
  t.match(tools, [{ name: 'echo', description: 'Repeats it.' }]);
  t.strictSame(await call('fails', {}), { isError: true, text: 'bad argument' });
  t.match(await call('unknown', {}), { isError: true, text: /no such tool/ });
  t.equal(
    (await call('mixed', {})).text,
    [
      '[left out: image of type image/png?]',
      'of a resource',
      '[left out: a resource of type application/zip]',
      '[left out: a link to the resource a:d]',
      '[left out: audio of type audio/wav]',
    ].join('\n'),
  );
  t.equal((await call('structured', {})).text, '{"sum":3}');
  const { text } = await call('long', {});
  t.equal(text.length, 65_536 + '\n[cut: the first 65536 characters]'.length);
});

t.test('a server has at most 128 tools, and gets no capability of a client', async (t) => {
  const start = 'let seen;';
  const behave = 'say({ content: [{ type: "text", text: JSON.stringify(seen) }] })';
  const tools =
    "Array.from({ length: 500 }, (_, at) => ({ name: 'tool' + at, inputSchema: { type: 'object' } }))";
  const text = serverText({ start, behave, tools }).replace(
    "if (method === 'initialize')",
    "if (method === 'initialize') seen = params.capabilities;\n  if (method === 'initialize')",
  );
  const connection = await connect(t, text);
  t.equal(connection.tools.length, 128);
  t.equal((await connection.call('tool0', {})).text, '{}');
});

t.test('an output schema of a server is never compiled', async (t) => {
  const tools =
    "[{ name: 'echo', inputSchema: { type: 'object' }, outputSchema: { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } } }]";
  const behave = "say({ content: [], structuredContent: { a: 'a'.repeat(40) + 'b' } })";
  const { call } = await connect(t, serverText({ tools, behave }));
  t.strictSame(await call('echo', {}), { isError: false, text: `{"a":"${'a'.repeat(40)}b"}` });
});

t.test('a directory that is, holds or is part of the repository is not shown to a server', async (t) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'writ-mcp-')));
  t.teardown(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, 'repository', 'inside'), { recursive: true });
  symlinkSync(join(root, 'repository', 'inside'), join(root, 'link'));
  const place = { privateRoot: root, repositoryRoot: join(root, 'repository') } as McpPlace;
  for (const directory of ['', '/repository', '/repository/inside', '/link', '/none'])
    await t.rejects(
      startProgram(place, { ...server, directory: `${root}${directory}` }, {}, () => true),
      failed('refused', /names a `directory` that/),
      directory,
    );
});

t.test('a schema of a server is rebuilt without what could be run or misread', async (t) => {
  const schema = {
    type: 'object',
    $ref: 'https://example.com/schema',
    $defs: { a: {} },
    required: ['text', 'text', 'none'],
    additionalProperties: false,
    properties: {
      text: {
        type: 'string',
        pattern: '(a+)+$',
        description: 'Say \u001b[31mit\u202e',
        format: 'uri',
        maxLength: 9,
      },
      many: { type: 'array', items: { type: ['string', 'null', 'evil'], enum: ['a', 'a', 'b'] } },
      either: { oneOf: [{ type: 'string' }, { $ref: '#' }, 7] },
      '__proto__ ': { type: 'string' },
    },
  };
  const made = plainSchema(schema, (text) => text);
  t.strictSame(made, {
    type: 'object',
    properties: {
      text: { type: 'string', description: 'Say  [31mit ', maxLength: 9 },
      many: { type: 'array', items: { type: ['string', 'null'], enum: ['a', 'b'] } },
      either: { anyOf: [{ type: 'string' }, {}, {}] },
    },
    required: ['text'],
  });
  let deep: object = { type: 'string' };
  for (let depth = 0; depth < 100; depth += 1) deep = { type: 'object', properties: { a: deep } };
  t.ok(JSON.stringify(plainSchema(deep, (text) => text)).length < 500);
  for (const odd of [undefined, 7, [], { properties: [] }, { type: 'string', required: 'a', enum: [{}] }])
    t.match(
      plainSchema(odd, (text) => text),
      { type: 'object' },
    );
  await replyFaults([{ name: 'a', description: '', parameters: made }]);
});

t.test('the arguments of a call are masked before they are cut and escaped', async (t) => {
  const secret = 'a"b\\c-secret';
  const mask = (text: string) => text.replaceAll(secret, '[masked]');
  const given = { id: 7, [secret]: [`x ${secret}`, { deep: secret }], long: 'y'.repeat(5000) };
  const shown = shownArguments(given, mask);
  t.match(shown, '{"id":7,"[masked]":["x [masked]",{"deep":"[masked]"}],"long":"yyy');
  t.equal(shown.length, 2000);
});
