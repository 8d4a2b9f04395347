import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { makeSample } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { faultsOf } from '../faults-of.ts';
import { runLine } from '../host.ts';
import { startWrit } from '../start-writ.ts';

const key = 'key-of-nobody-1234567890';

const inForce = `[session]
approval_policy = "untrusted"
mcp = ["notes"]

[hooks]
end = ["/policy/end.sh"]

[mcp.notes]
command = ["node", "server.js"]

[mcp.wiki]
url = "https://mcp.example.com/mcp"
`;

function scene(t: Test) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const env = { ...sample.env, GEMINI_API_KEY: key };
  return { root: sample.root, git: sample.git, env, bare: sample.env };
}

t.test('`writ code --web-only` prints one line of JSON, serves until SIGTERM and cleans up', async (t) => {
  const { root, git, env } = scene(t);
  mkdirSync(join(root, '.writ'), { recursive: true });
  writeFileSync(join(root, '.writ/config.toml'), inForce);
  git('add', '--all');
  git('commit', '--quiet', '--message', 'Policy');
  const argv = ['code', '--web-only', '--port', '0', '--mcp-port', '0', '--control', 'write', '--json'];
  const started = startWrit(argv, { cwd: root, env: { ...env, WRIT_LOG_FILE: 'own.log' } });
  await started.until(() => started.out().endsWith('\n'));
  const { data } = JSON.parse(started.out());
  t.strictSame(faultsOf('code', data), []);
  t.match(data, { provider: 'gemini', pid: started.pid, working_dir: root });
  const get = async (path: string) =>
    (await fetch(`${data.base_url}${path}`)).json() as Promise<Record<string, unknown>>;
  t.match(await get('/api/code/session'), {
    threadId: data.thread_id,
    provider: { provider: 'gemini', managed: false },
    capabilities: { messageInput: true, providerSessionResume: true },
    controller: { kind: 'none', canWrite: false, loopbackOnly: true },
    status: 'idle',
  });
  const diagnostics = await get('/api/code/diagnostics');
  t.match(diagnostics, {
    pid: started.pid,
    key: { name: 'GEMINI_API_KEY', source: 'the environment' },
    logFile: join(root, 'own.log'),
    ports: { web: Number(new URL(data.base_url).port), mcp: Number(new URL(data.mcp_url).port) },
    approvalPolicy: 'untrusted',
    mcp: [
      { server: 'notes', from: 'policy', state: 'not_started', reach: 'no network, no files', tools: [] },
      { server: 'wiki', from: 'policy', state: 'refused', reach: 'reaches mcp.example.com', why: /mcp/ },
    ],
    policy: [
      { key: 'approval_policy', value: 'untrusted', from: '[session] of the repository' },
      { key: 'mcp', value: ['notes'], from: '[session] of the repository' },
    ],
    hooks: ['hook `end` of the policy commit (`end.sh`)'],
  });
  t.notMatch(JSON.stringify(diagnostics), key, 'never the key itself');
  t.match((await get('/api/code/threads')).items, [{ id: data.thread_id, archived: false }]);
  const token = readFileSync(data.token_file, 'utf8');
  const attached = await fetch(`${data.base_url}/api/code/controller/attach`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-svc-control-token': token },
    body: JSON.stringify({ clientId: 'script', kind: 'automation' }),
  });
  t.equal(attached.status, 200);

  const port = new URL(data.base_url).port;
  const second = await runLine(['code', '--web-only', '--port', port, '--mcp-port', '0'], commands, {
    cwd: root,
    env,
  });
  t.match(second, { code: 128, err: new RegExp(`PORT_UNAVAILABLE: port ${port} `) });
  const rival = ['code', '--web-only', '--port', '0', '--mcp-port', '0', '--control', 'write'];
  t.match(await runLine(rival, commands, { cwd: root, env }), {
    code: 128,
    err: new RegExp(`CONTROL_INSTANCE_CONFLICT: process ${started.pid} .*${data.base_url}`),
  });

  started.child.kill('SIGTERM');
  t.equal(await started.ended, 0);
  t.equal(started.out().split('\n').length, 2, 'nothing follows');
  t.strictSame(readdirSync(join(root, '.writ', 'code')).sort(), ['.gitignore', 'control.lock']);
  const log = readFileSync(join(root, 'own.log'), 'utf8');
  t.match(log, /INFO {2}writ::http: listening .*INFO {2}writ::session: closed/s);
  t.notMatch(log, new RegExp(`${key}|${token}`));
});

long('a session prints its address at the start and its `writ graph` command at the end', async (t) => {
  const { root, env } = scene(t);
  const started = startWrit(['code', '--web', '--port=0', '--mcp-port=0'], { cwd: root, env });
  await started.until(() => started.out().includes('\n'));
  const [, thread = ''] =
    /^serving thread (\S+) on http:\/\/127\.0\.0\.1:\d+, Ctrl\+C ends it\n$/.exec(started.out()) ?? [];
  started.child.kill('SIGINT');
  t.equal(await started.ended, 0);
  t.equal(started.out().split('\n')[1], `writ graph ${thread}`);
  const graph = await runLine(['graph', thread, '--json'], commands, { cwd: root, env });
  t.equal(JSON.parse(graph.out).data.thread_id, thread);
});

t.test('resuming an unknown thread reports its id and creates nothing', async (t) => {
  const { root, env } = scene(t);
  const thread = '01a2071a-0000-7000-8000-000000000000';
  const line = `code --resume ${thread} --port 0 --mcp-port 0 --json`;
  const ran = await runLine(line.split(' '), commands, { cwd: root, env, terminal: true });
  t.equal(ran.code, 1);
  t.match(JSON.parse(ran.out), {
    ok: false,
    error: {
      code: 'THREAD_NOT_FOUND',
      message: new RegExp(`\`${thread}\``),
      details: { thread_id: thread },
    },
  });
  t.notOk(existsSync(join(root, '.git', 'writ', 'threads', thread)));
});

t.test('`writ code --stdio` warns about exactly the options that have no effect', async (t) => {
  const { root, bare } = scene(t);
  const told = async (words: string) => {
    const ran = await runLine(`code --stdio ${words}`.trim().split(' '), commands, { cwd: root, env: bare });
    t.match(ran, { code: 0, out: '' }, words);
    return ran.err.split('\n').flatMap((line) => /^`(--[a-z-]+)` does not count/.exec(line)?.[1] ?? []);
  };
  t.strictSame(await told('--port 5 --host ::1 --mcp-port 6 --control-info-file i'), [
    '--port',
    '--host',
    '--mcp-port',
    '--control-info-file',
  ]);
  t.strictSame(await told('--provider kimi --model m'), ['--provider', '--model']);
  t.strictSame(await told('--context review --approval-policy never --approval-ttl 5'), []);
  t.notOk(existsSync(join(root, 'i')));
});

long('a session that cannot be opened is refused before anything is created', async (t) => {
  const { root, env, bare } = scene(t);
  const rows: readonly (readonly [string, number, RegExp, object?])[] = [
    ['code', 128, /TERMINAL_REQUIRED/],
    ['code --web-only', 128, /PROVIDER_KEY_MISSING: provider `gemini` has no key: `GEMINI_API_KEY`/, bare],
    ['code --web-only --provider kimi', 128, /`KIMI_API_KEY`/],
    ['code --web-only --provider nobody', 129, /SLOT_UNKNOWN/],
    ['code --web-only --provider codex --codex-port 1 --api-base http://127.0.0.1:9', 129, /--codex-port/],
    ['code --web-only --agent nobody', 129, /AGENT_UNKNOWN.*\n.*coder, planner, reviewer/],
    ['code --web-only --context review --goal x', 128, /UNSUPPORTED_OPERATION: a session for review/],
    ['code --web-only --stdio', 129, /USAGE/],
    ['code --web-only --resume x', 129, /USAGE/],
    ['code --web-only --kimi-stream true', 129, /PROVIDER_OPTION/],
    ['code --web-only --env-file none', 129, /INPUT_UNREADABLE/],
    ['code --web-only --repo /', 128, /NOT_A_REPOSITORY/],
  ];
  for (const [words, code, why, own = env] of rows) {
    const ran = await runLine(words.split(' '), commands, { cwd: root, env: own as Record<string, string> });
    t.match(ran, { code, err: why, out: '' }, words);
  }
  t.notOk(existsSync(join(root, '.writ', 'code', 'control.json')));
});

long('`writ code --stdio` needs no key and writes only MCP to stdout', async (t) => {
  const { root, bare } = scene(t);
  const hello = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
  };
  const started = startWrit(['code', '--stdio'], { cwd: root, env: bare }, `${JSON.stringify(hello)}\n`);
  t.equal(await started.ended, 0, 'it ends with its client');
  const lines = started.out().trim().split('\n');
  t.equal(lines.length, 1);
  t.match(JSON.parse(lines[0] ?? ''), { id: 1, result: { serverInfo: { name: 'writ' } } });
});
