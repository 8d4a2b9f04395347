import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { sealingForms } from '../../../attest/attestor/sealing-forms.ts';
import { openMcpAccess } from '../../../bin/command-parts/engine.ts';
import { WritError } from '../../../core/base/errors.ts';
import { parseConfig } from '../../../engine/config/config.ts';
import { readUserMcp } from '../../../engine/config/mcp-section.ts';

const mcpOf = (text: string) => parseConfig(Buffer.from(text), sealingForms).mcp;
const userOf = (text: string) =>
  readUserMcp({ path: '~/.config/writ/config.toml', bytes: Buffer.from(text) });

function pathsOf(read: () => unknown): readonly string[] {
  try {
    read();
  } catch (fault) {
    if (!(fault instanceof WritError)) throw fault;
    return (fault.detail.issues as { path: string }[]).map(({ path }) => path);
  }
  return [];
}

const server = '[mcp.a]\ncommand = ["node"]\n';

t.test('`[mcp]` names programs and addresses with what they reach', async (t) => {
  const mcp = mcpOf(`
    [mcp.notes]
    command = ["node", "node_modules/notes/index.js"]
    workspace = "read"
    [mcp.tracker]
    command = ["tracker"]
    hosts = ["api.example.com", "*.example.org:8443"]
    env = { API_KEY = "TRACKER_KEY" }
    tools = ["search"]
    timeout_seconds = 5
    [mcp.wiki]
    url = "https://mcp.example.com/mcp"
    token = "WIKI_TOKEN"
  `);
  const usual = { from: 'policy', hosts: [], env: {}, timeoutSeconds: 60 };
  t.strictSame(mcp.get('notes'), {
    ...usual,
    name: 'notes',
    command: ['node', 'node_modules/notes/index.js'],
    reads: true,
  });
  t.match(mcp.get('tracker'), {
    hosts: ['api.example.com', '*.example.org:8443'],
    env: { API_KEY: 'TRACKER_KEY' },
    tools: ['search'],
    timeoutSeconds: 5,
    reads: false,
  });
  t.strictSame(mcp.get('wiki'), {
    ...usual,
    name: 'wiki',
    url: 'https://mcp.example.com/mcp',
    token: 'WIKI_TOKEN',
    reads: false,
  });
  t.equal(mcpOf('').size, 0);
});

t.test('refuses malformed and unsafe servers', async (t) => {
  const cases: readonly (readonly [text: string, ...paths: readonly string[]])[] = [
    ['[mcp.A]\ncommand = ["a"]', 'mcp.A'],
    ['[mcp.a_b]\ncommand = ["a"]', 'mcp.a_b'],
    [`[mcp.${'a'.repeat(25)}]\ncommand = ["a"]`, `mcp.${'a'.repeat(25)}`],
    ['[mcp.a]', 'mcp.a'],
    [`${server}url = "https://a.example/"`, 'mcp.a'],
    ['[mcp.a]\ncommand = ["./a"]', 'mcp.a.command'],
    ['[mcp.a]\ncommand = ["/usr/bin/a"]', 'mcp.a.command'],
    ['[mcp.a]\nurl = "http://127.0.0.1:1/mcp"', 'mcp.a.url'],
    ['[mcp.a]\nurl = "https://user:word@a.example/mcp"', 'mcp.a.url'],
    ['[mcp.a]\nurl = "https://a.example/mcp?key=1"', 'mcp.a.url'],
    [`${server}directory = "/opt/a"`, 'mcp.a.directory'],
    [`${server}hosts = ["http://a.example"]`, 'mcp.a.hosts'],
    [`${server}env = { NODE_OPTIONS = "KEY" }`, 'mcp.a.env.NODE_OPTIONS'],
    [`${server}env = { LD_PRELOAD = "KEY" }`, 'mcp.a.env.LD_PRELOAD'],
    [`${server}env = { KEY = "sk-a-secret-value" }`, 'mcp.a.env.KEY'],
    [`${server}token = "TOKEN"`, 'mcp.a.token'],
    ['[mcp.a]\nurl = "https://a.example/mcp"\ntoken = "the value"', 'mcp.a.token'],
    ['[mcp.a]\nurl = "https://a.example/mcp"\nhosts = ["b.example"]', 'mcp.a'],
    [`${server}workspace = "write"`, 'mcp.a.workspace'],
    [`${server}workspace = "read"\nhosts = ["a.example"]`, 'mcp.a.workspace'],
    [`${server}workspace = "read"\nenv = { KEY = "KEY" }`, 'mcp.a.workspace'],
    ['[mcp.a]\nurl = "https://a.example/mcp"\nworkspace = "read"', 'mcp.a.workspace'],
    [`${server}tools = []`, 'mcp.a.tools'],
    [`${server}timeout_seconds = 601`, 'mcp.a.timeout_seconds'],
    [Array.from({ length: 17 }, (_, at) => `[mcp.a${at}]\ncommand = ["a"]`).join('\n'), 'mcp'],
  ];
  for (const [text, ...paths] of cases)
    t.strictSame(
      pathsOf(() => mcpOf(text)),
      paths,
      text,
    );
});

t.test('the file of a user names servers, with a directory, and nothing else', async (t) => {
  t.match(userOf(`${server}directory = "~/mcp/a"`), [{ name: 'a', from: 'user', directory: '~/mcp/a' }]);
  t.strictSame(
    pathsOf(() => userOf(`${server}directory = "mcp/a"`)),
    ['mcp.a.directory'],
  );
  t.strictSame(
    pathsOf(() => userOf('[approvals]\nin_process = true')),
    ['approvals'],
  );
  const home = mkdtempSync(join(tmpdir(), 'writ-mcp-'));
  t.teardown(() => rmSync(home, { recursive: true }));
  const access = openMcpAccess({ env: { XDG_CONFIG_HOME: home } });
  t.strictSame(await access.servers(), []);
  const file = join(home, 'writ', 'config.toml');
  mkdirSync(join(home, 'writ'), { mode: 0o700 });
  writeFileSync(file, server, { mode: 0o600 });
  t.match(await access.servers(), [{ name: 'a', from: 'user' }]);
  chmodSync(file, 0o666);
  await t.rejects(access.servers(), { code: 'KEY_INSECURE' }, 'a file that others can write');
});
