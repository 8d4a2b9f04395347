import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request as forward } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { McpServer } from '../../../agent/mcp/start-server.ts';
import { long } from '../../rooms/long.ts';
import { openWebWorld } from '../fake-web.ts';
import { installServers, mcpRule, project, runWithMcp, serverText, table } from './mcp-scene.ts';

const published = '@modelcontextprotocol/server-';
const own = (name: string, words: readonly string[], more: Partial<McpServer> = {}): McpServer => ({
  name,
  from: 'user',
  command: ['node', `/mcp/node_modules/${published}${name}/dist/index.js`, ...words],
  directory: project,
  hosts: [],
  env: {},
  reads: false,
  timeoutSeconds: 60,
  ...more,
});

long('the published file server reads the workspace, changes nothing and sees no hidden file', async (t) => {
  const run = await runWithMcp(
    t,
    [
      ['mcp__filesystem__read_text_file', { path: '/workspace/src/price.js' }],
      ['mcp__filesystem__write_file', { path: '/workspace/src/price.js', content: 'x' }],
      ['mcp__filesystem__read_text_file', { path: '/workspace/docs/notes.md' }],
      ['mcp__filesystem__list_directory', { path: '/workspace' }],
      ['mcp__filesystem__read_text_file', { path: '/etc/passwd' }],
      ['mcp__filesystem__read_text_file', { path: '/workspace/src/price.js', head: 1, tail: 1 }],
    ],
    {
      servers: [own('filesystem', ['/workspace'], { reads: true })],
      rules: ['read_text_file', 'write_file', 'list_directory'].map((tool) =>
        mcpRule(`filesystem.${tool}`, { denyPaths: ['docs'] }),
      ),
    },
  );
  t.match(run.view, { decision: { type: 'commit' } });
  const [price, written, hidden, listed, outside, wrong] = run.told;
  t.match(price, /\[web\] mcp\.filesystem\.read_text_file\n(?:.*\n)*export function price/);
  t.match(written, /EROFS|read-only/);
  t.notMatch(hidden, /#/);
  t.notMatch(listed, /notes/);
  t.match(outside, /Access denied/i);
  t.match(wrong, /Cannot specify both head and tail/);
  t.match(run.tools.map(({ name }) => name).sort(), [
    'mcp__filesystem__list_directory',
    'mcp__filesystem__read_text_file',
    'mcp__filesystem__write_file',
  ]);
  t.match(run.named(), [{ name: 'mcp-server/filesystem', annotations: { from: ['user'] } }]);
});

long(
  'the published test server answers by its tools, without images, capabilities and the network',
  async (t) => {
    const tools = ['echo', 'get-sum', 'get-tiny-image', 'get-env', 'get-resource-links'];
    const run = await runWithMcp(
      t,
      [
        ['mcp__everything__echo', { message: 'hello' }],
        ['mcp__everything__get-sum', { a: 2, b: 3 }],
        ['mcp__everything__get-tiny-image', {}],
        ['mcp__everything__get-env', {}],
        ['mcp__everything__get-resource-links', { count: 2 }],
      ],
      {
        servers: [own('everything', ['stdio'], { tools })],
        rules: [...tools, 'toggle-simulated-logging'].map((tool) => mcpRule(`everything.${tool}`)),
      },
    );
    const [echo, sum, image, env, links] = run.told;
    t.match(echo, /\[web\] mcp\.everything\.echo\nEcho: hello/);
    t.match(sum, /The sum of 2 and 3 is 5/);
    t.match(image, /\[left out: image of type image\/png\]/);
    t.notMatch(env, /API_KEY|TOKEN|HOME": ?"\/root/);
    t.match(links, /\[left out: a link to the resource /);
    t.equal(run.tools.length, tools.length, 'the allow list of the server holds');
  },
);

/** The published server over HTTP, behind TLS and the name of a public host. */
async function serveEverything(t: Test) {
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const { port } = free.address() as AddressInfo;
  free.close();
  await once(free, 'close');
  const child = spawn(
    process.execPath,
    [join(project, 'node_modules', `${published}everything`, 'dist', 'index.js'), 'streamableHttp'],
    { env: { PORT: `${port}` }, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  t.teardown(() => child.kill('SIGKILL'));
  await new Promise<void>((resolve, reject) => {
    child.once('close', () => reject(new Error('the server has ended')));
    child.stderr.on('data', (chunk) => {
      if (String(chunk).includes('listening')) resolve();
    });
  });
  return openWebWorld(t, () => (request, response) => {
    const { method, url, headers } = request;
    const onward = forward({
      ...{ port, method, path: url, agent: false },
      headers: { ...headers, host: `localhost:${port}` },
    });
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
}

const remote = (more: Partial<McpServer> = {}): McpServer => ({
  name: 'wiki',
  from: 'user',
  url: 'https://docs.example.com/mcp',
  hosts: [],
  env: {},
  reads: false,
  timeoutSeconds: 60,
  ...more,
});
const opened = { networkHosts: ['docs.example.com'], networkReason: 'look it up' };
const token = 'a-token-of-the-service';
const secrets = {
  ofScope: async () => new Map<string, string>(),
  known: async () => [token],
  named: async (name: string) => (name === 'WIKI_TOKEN' ? token : undefined),
};

long('the published test server answers over HTTP, and its host and connections are recorded', async (t) => {
  const world = await serveEverything(t);
  const run = await runWithMcp(
    t,
    [
      ['mcp__wiki__echo', { message: 'hello' }],
      ['mcp__wiki__echo', { message: `take ${token}` }],
      ['mcp__wiki__echo', { message: 'AKIAIOSFODNN7EXAMPLQ' }],
    ],
    {
      servers: [remote({ token: 'WIKI_TOKEN' })],
      rules: [mcpRule('wiki.echo', opened)],
      more: { outside: world.outside, secrets },
    },
  );
  t.match(run.view, { decision: { type: 'commit' } });
  const [echo, leak, key] = run.told;
  t.match(echo, /\[web\] mcp\.wiki\.echo\nEcho: hello/);
  t.match(leak, /denied: it holds what may not leave this machine/);
  t.match(key, /denied: it holds what may not leave this machine/);
  t.ok(world.seen.every(({ host, secure }) => host === 'docs.example.com' && secure));
  t.ok(world.seen.every(({ headers }) => headers.authorization === `Bearer ${token}`));
  t.equal(world.seen.length, 4, 'greeting, its end, list and one call: no stream of notifications is opened');
  t.notMatch(JSON.stringify(run.states) + JSON.stringify(run.view), token);
  t.match(run.named(), [{ uri: 'urn:writ:mcp-server:docs.example.com' }]);
  t.match(run.view.toolUses?.tools, [{}, {}, {}, {}]);
});

long('a server with a network is started only if rules open all of its hosts', async (t) => {
  const world = await openWebWorld(t, () => (_request, response) => {
    response.writeHead(302, { location: 'https://www.example.net/mcp' }).end();
  });
  const attempt = async (rules: Parameters<typeof mcpRule>[1][], more: Partial<McpServer> = {}) => {
    const { states, tools } = await runWithMcp(t, [], {
      servers: [remote(more)],
      rules: rules.map((constraints) => mcpRule('wiki.echo', constraints)),
      more: { outside: world.outside },
    });
    t.strictSame(tools, []);
    return states.at(-1);
  };
  t.match(await attempt([{}]), { state: 'refused', why: /a rule has to open all of them in `networkHosts`/ });
  t.strictSame(world.seen, [], 'nothing was sent');
  t.match(await attempt([opened]), { state: 'failed', why: /answers with a redirect \(HTTP 302\)/ });
  t.equal(world.seen.length, 1, 'the redirect was not followed');
});

long('a service that is private, an impostor, endless or not MCP fails alone', async (t) => {
  const world = await openWebWorld(t, (host) => (_request, response) => {
    if (host === 'www.example.net') response.writeHead(401).end('no');
    else {
      response.writeHead(200, { 'content-type': 'application/json' });
      const more = (): void => void (response.destroyed || response.write('x'.repeat(100_000), more));
      more();
    }
  });
  for (const [url, why] of [
    ['https://inside.example/mcp', /cannot be reached at `inside\.example`: address/],
    ['https://impostor.example/mcp', /cannot be reached at `impostor\.example`: no-answer/],
    ['https://docs.example.com/mcp', /sent an answer of more than 4194304 bytes/],
    ['https://www.example.net/mcp', /answers with HTTP 401/],
  ] as const) {
    const { view, states } = await runWithMcp(t, [], {
      servers: [remote({ url })],
      rules: [mcpRule('wiki.echo')],
      networkPolicy: 'allow',
      more: { outside: world.outside },
    });
    t.match(view, { decision: { type: 'commit' } });
    t.match(states.at(-1), { state: 'failed', why });
  }
});

long('rules, trust tiers, the allow list and missing secrets decide what is offered', async (t) => {
  const prepare =
    (config = '') =>
    (sample: Parameters<typeof installServers>[0]) =>
      installServers(sample, { notes: serverText() }, table('notes', config));
  const offered = async (more: Parameters<typeof runWithMcp>[2]) => {
    const { states, tools, view } = await runWithMcp(t, [], more);
    t.match(view, { decision: { type: 'commit' } });
    return { state: states.at(-1), count: tools.length };
  };
  t.match(await offered({ rules: [], prepare: prepare() }), { state: undefined, count: 0 });
  t.match(await offered({ rules: [mcpRule('other.echo')], prepare: prepare() }), {
    state: undefined,
    count: 0,
  });
  const other = await offered({ rules: [mcpRule('notes.other')], prepare: prepare() });
  t.match(other, { count: 0, state: { state: 'refused', why: /has 1 tools, and none that/ } });
  const tier = await offered({ rules: [mcpRule('notes.echo')], tiers: ['repo'], prepare: prepare() });
  t.match(tier, { count: 0, state: { state: 'refused', why: /`evidence\.trustTiers` does not list it/ } });
  const none = await offered({ rules: [mcpRule('notes.echo')], prepare: prepare('tools = ["list"]') });
  t.match(none, { count: 0, state: { state: 'refused' } });
  const unconfined = await offered({
    rules: [mcpRule('notes.echo')],
    networkPolicy: 'allow',
    more: { sandbox: 'none' },
    prepare: prepare(),
  });
  t.match(unconfined, { count: 0, state: { state: 'refused', why: /runs in a sandbox only/ } });
  const tools = `[{ name: 'echo', inputSchema: { type: 'object', properties: Object.fromEntries(
    Array.from({ length: 64 }, (_, at) => ['a' + at, { description: 'x'.repeat(500) }])) } }]`;
  const large = await offered({
    rules: [mcpRule('notes.echo')],
    prepare: (sample) => installServers(sample, { notes: serverText({ tools }) }, table('notes')),
  });
  t.match(large, { count: 0, state: { state: 'refused', why: /has 1 tools, and none that/ } });
  const secret = await offered({
    rules: [mcpRule('notes.echo')],
    prepare: prepare('env = { KEY = "NO_SUCH_SECRET" }'),
  });
  t.match(secret, { count: 0, state: { state: 'refused', why: /`writ vault set NO_SUCH_SECRET`/ } });
});

long('a program has no network but its hosts, no file of the workspace, and only its secret', async (t) => {
  const behave = `(async () => {
    const { existsSync, readdirSync } = require('node:fs');
    const get = (url) => new Promise((done) => require('node:http').get(url).on('error', ({ code }) => done(code)).on('response', ({ statusCode }) => done(statusCode)));
    const found = [process.env.KEY === '${token}', Object.keys(process.env).filter((one) => /KEY|TOKEN|SECRET/.test(one)), readdirSync('.'), existsSync('/workspace/src'), await get('http://docs.example.com/'), await get('http://www.example.net/')];
    say({ content: [{ type: 'text', text: JSON.stringify(found) + process.env.KEY }] });
  })()`;
  const world = await openWebWorld(t, () => (_request, response) => void response.end('ok'));
  const run = await runWithMcp(t, [['mcp__notes__echo', { text: 'a' }]], {
    rules: [mcpRule('notes.echo', opened)],
    prepare: (sample) =>
      installServers(
        sample,
        { notes: serverText({ behave }) },
        table('notes', 'hosts = ["docs.example.com"]\nenv = { KEY = "WIKI_TOKEN" }'),
      ),
    more: { outside: world.outside, secrets },
  });
  t.match(run.told[0], '[true,["KEY"],["node_modules"],false,200,403][key]');
  t.notMatch(run.told[0], token);
});
