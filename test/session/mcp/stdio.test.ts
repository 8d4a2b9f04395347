import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import t from 'tap';
import { long } from '../../rooms/long.ts';
import { launcherOptions, writProgram } from '../../starter/program.ts';
import { until } from '../../waiting/until.ts';
import { personRepository } from '../vcs/person-repository.ts';
import { codeOf, legacyHello, modern, openScene, testIn } from './mcp-scene.ts';

const reading = [
  'read_writ_vcs',
  'validate_spec',
  'plan_spec',
  'scan_change',
  'list_runs',
  'show_run',
  'verify',
];

for (const era of ['legacy', 'modern'] as const)
  testIn(
    era === 'legacy',
    `the official client finds tools and resources and calls them, era ${era}`,
    async (t) => {
      const { root: cwd, git } = personRepository();
      const asked: (readonly string[])[] = [];
      const ask = async (words: readonly string[]) => {
        asked.push(words);
        return { data: { runs: [{ run_id: '0190-a', summary: 'a run' }] } };
      };
      const scene = openScene(t, { cwd, ask });
      const client = await scene.connect(era);
      t.equal(client.getProtocolEra(), era);
      const { tools } = await client.listTools();
      t.strictSame(
        tools.filter(({ annotations }) => annotations?.readOnlyHint === true).map(({ name }) => name),
        reading,
      );
      t.ok(
        tools.every(
          ({ name, inputSchema }) => /^[a-z_]+$/.test(name) && inputSchema.additionalProperties === false,
        ),
      );
      const status = await client.callTool({
        name: 'read_writ_vcs',
        arguments: { command: 'status', args: ['--json'] },
      });
      t.match(status.structuredContent, { command: 'status', state: { branch: 'main', changes: [] } });
      t.match(await client.callTool({ name: 'list_runs' }), {
        structuredContent: { runs: [{ run_id: '0190-a' }] },
      });
      await client.callTool({
        name: 'verify',
        arguments: { targets: [git('rev-parse', 'HEAD').trim(), 'a.txt'] },
      });
      t.strictSame(asked.at(-1)?.slice(0, 2), ['verify', '--']);
      const { resources } = await client.listResources();
      t.strictSame(
        resources.map(({ uri }) => uri),
        ['writ://runs', 'writ://threads', 'writ://runs/0190-a'],
      );
      t.match((await client.readResource({ uri: 'writ://runs' })).contents[0], {
        mimeType: 'application/json',
      });
      await t.rejects(client.readResource({ uri: 'writ://runs/../../etc/passwd' }), { message: /NOT_FOUND/ });
      await t.rejects(client.readResource({ uri: 'file:///etc/passwd' }), { message: /NOT_FOUND/ });
      t.equal(
        codeOf(await client.callTool({ name: 'read_writ_vcs', arguments: { command: 'add', args: ['.'] } })),
        'TOOL_ARGUMENTS',
      );
    },
  );

t.test('`writ code --stdio` answers every request before the end of its input and then exits', async (t) => {
  const { root, env } = personRepository();
  const lines = [
    {
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
    },
    { method: 'notifications/initialized' },
    {
      id: 2,
      method: 'tools/call',
      params: { name: 'read_writ_vcs', arguments: { command: 'log', args: ['--oneline'] } },
    },
    { id: 3, method: 'tools/call', params: { name: 'list_runs' } },
    { id: 4, method: 'tools/call', params: { name: 'show_run', arguments: { run: 'none' } } },
  ].map((line) => `${JSON.stringify({ jsonrpc: '2.0', ...line })}\n`);
  const ran = spawnSync(
    process.execPath,
    [...launcherOptions, writProgram, 'code', '--stdio', '--cwd', root],
    {
      input: lines.join(''),
      env: { ...env, WRIT_DEBUG: '1' },
      encoding: 'utf8',
    },
  );
  const told = ran.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: number; result: Record<string, unknown> });
  t.strictSame(told.map(({ id }) => id).sort(), [1, 2, 3, 4]);
  const of = (id: number) => told.find((one) => one.id === id)?.result;
  t.match(of(1), { protocolVersion: '2025-11-25', serverInfo: { name: 'writ' } });
  t.match(of(2), { structuredContent: { output: /second\n.*first/ } });
  t.match(of(3), { structuredContent: { runs: [] } });
  t.equal(codeOf(of(4)), 'RUN_NOT_FOUND');
  t.notMatch(ran.stdout, new RegExp(root), 'no path of this machine');
  t.equal(ran.status, 0, ran.stderr);
});

long(
  'the MCP server exits when its output is closed, and escapes line separators in its answers',
  async (t) => {
    const { root, env } = personRepository();
    const child = spawn(
      process.execPath,
      [...launcherOptions, writProgram, 'code', '--stdio', '--cwd', root],
      { env, stdio: 'pipe' },
    );
    t.teardown(() => child.kill());
    const say = (id: string, method: string) =>
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...modern(1, method), id })}\n`);
    say('a\u2028b\u0085c', 'tools/list');
    const [line] = await once(child.stdout, 'data');
    t.match(String(line), /"id":"a\\u2028b\\u0085c"/);
    child.stdout.destroy();
    child.stdin.on('error', () => {});
    say('again', 'tools/list');
    const ended = await once(child, 'close', { signal: AbortSignal.timeout(30_000) });
    t.strictSame(ended, [0, null], 'its input is still open');
  },
);

t.test('an invalid message gets a JSON-RPC error, and the server reads the next one', async (t) => {
  const { root: cwd } = personRepository();
  const scene = openScene(t, { cwd });
  legacyHello(scene);
  await scene.answer('hello');
  const hostile = [
    ['{', -32_700],
    ['\u0000', -32_700],
    ['{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32_700],
    ['\ufeff{}', -32_700],
    [`${'['.repeat(5000)}`, -32_700],
    [`{"jsonrpc":"2.0","id":1,"method":"ping","params":${'{"a":'.repeat(100)}1${'}'.repeat(100)}}`, -32_700],
    ['[]', -32_600],
    ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32_600],
    ['"text"', -32_600],
    ['null', -32_600],
    ['{}', -32_600],
    ['{"jsonrpc":"1.0","id":1,"method":"ping"}', -32_600],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32_600],
    ['{"jsonrpc":"2.0","id":1,"method":5}', -32_600],
    ['{"jsonrpc":"2.0","id":1.5}', -32_600],
    [`{"x":"${'x'.repeat(5_000_000)}"}`, -32_600],
  ] as const;
  for (const [line, code] of hostile) {
    const before = scene.lines.length;
    scene.say(`${line}\r\n`);
    scene.send({ id: `after ${before}`, method: 'ping' });
    t.match(await scene.answer(`after ${before}`), { result: {} }, line.slice(0, 60));
    t.match(scene.lines.slice(before), [{ error: { code } }, { id: `after ${before}` }], line.slice(0, 60));
  }
  scene.send({ id: 'no', method: 'no/such' });
  t.match(await scene.answer('no'), { error: { code: -32_601 } });
  scene.send({ id: 'wrong', method: 'tools/call', params: { name: 5 } });
  t.match(await scene.answer('wrong'), { error: { code: -32_602 } });
  scene.say('\n \r\n\n');
  scene.send({ method: 'notifications/no-such' });
  scene.send({ method: 'notifications/cancelled', params: { requestId: 'nobody' } });
  scene.send({ id: 'last', method: 'ping' });
  t.match(await scene.answer('last'), { result: {} });
});

t.test('a message may arrive byte by byte, and the server ends with its input', async (t) => {
  const { root: cwd } = personRepository();
  const scene = openScene(t, { cwd });
  for (const byte of `${JSON.stringify({ jsonrpc: '2.0', ...modern(7, 'tools/list') })}\n`) scene.say(byte);
  t.match(await scene.answer(7), { result: { tools: [{ name: 'run_writ_vcs' }] } });
  scene.end();
  await scene.served;
});

t.test('a question to a client that has gone is answered with an error, and the server ends', async (t) => {
  const { root: cwd } = personRepository();
  const scene = openScene(t, { cwd });
  const params = {
    protocolVersion: '2025-06-18',
    capabilities: { elicitation: {} },
    clientInfo: { name: 'raw', version: '1' },
  };
  scene.send({ id: 'hello', method: 'initialize', params });
  scene.send({ method: 'notifications/initialized' });
  const call = { name: 'run_writ_vcs', arguments: { command: 'switch', args: ['-c', 'more'] } };
  scene.send({ id: 'call', method: 'tools/call', params: call });
  await until(() => scene.lines.some(({ method }) => method === 'elicitation/create'), 'a question');
  scene.end();
  t.match(await scene.answer('call'), { result: { isError: true } });
  await scene.served;
});

t.test('invalid or undeclared tool arguments are refused with `TOOL_ARGUMENTS`', async (t) => {
  const { root: cwd } = personRepository();
  const scene = openScene(t, { cwd, approval: { policy: 'allow-all' } });
  const client = await scene.connect('modern');
  const wrong: readonly (readonly [name: string, given: object])[] = [
    ['run_writ_vcs', {}],
    ['run_writ_vcs', { command: 'status', args: 'x' }],
    ['run_writ_vcs', { command: 'status', args: [1] }],
    ['run_writ_vcs', { command: 'status', args: [['x']] }],
    ['run_writ_vcs', { command: 'push' }],
    ['run_writ_vcs', { command: ['status'] }],
    ['run_writ_vcs', { command: 'status', actor: 'root' }],
    ['run_writ_vcs', { command: 'status', cwd: '/' }],
    ['run_writ_vcs', { command: 'status', approved: true }],
    ['run_writ_vcs', { command: 'diff', args: ['a\u0000b'] }],
    ['run_writ_vcs', { command: 'diff', args: Array.from({ length: 65 }, () => 'x') }],
    ['read_writ_vcs', { command: 'commit', args: ['-m', 'x'] }],
    ['read_writ_vcs', { command: 'branch', args: ['made'] }],
    ['validate_spec', { path: '/etc/passwd' }],
    ['validate_spec', { path: '../x' }],
    ['validate_spec', { path: '-' }],
    ['validate_spec', { path: '' }],
    ['plan_spec', { path: 'a.txt', provider: 'x' }],
    ['scan_change', { range: 5 }],
    ['list_runs', { limit: 0 }],
    ['list_runs', { limit: 1.5 }],
    ['show_run', { run: '--help' }],
    ['show_run', { run: '../x' }],
    ['verify', { targets: [] }],
    ['verify', { targets: ['--key=x'] }],
    ['verify', { targets: ['/etc/passwd'] }],
    ['verify', { targets: ['-'] }],
  ];
  for (const [name, given] of wrong) {
    const result = await client.callTool({ name, arguments: { ...given } });
    t.equal(codeOf(result), 'TOOL_ARGUMENTS', `${name} ${JSON.stringify(given).slice(0, 80)}`);
    t.notMatch(JSON.stringify(result), /\bat .*\.ts|node_modules/, 'no stack');
  }
  t.equal(codeOf(await client.callTool({ name: '__proto__' })), 'TOOL_UNKNOWN');
});
