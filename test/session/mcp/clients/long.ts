/* `npm run test:mcp-clients`: programs of others against the MCP server; what is not there is skipped by name. */
import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { testToolPlace, testToolVersions } from '../../../../scripts/test-tools.ts';
import { codexSkip } from '../../../agent/codex/codex-program.ts';
import { personRepository } from '../../vcs/person-repository.ts';
import { askCodex } from './ask-codex.ts';
import { askGemini } from './ask-gemini.ts';
import { serveForSuite } from './serve-for-suite.ts';

t.setTimeout(600_000);
const mcpClients = testToolVersions('mcp-clients');
const place = join(testToolPlace('mcp-clients'), 'node_modules');
const writ = join(import.meta.dirname, '../../../../bin/writ.js');
const skip = existsSync(place) ? false : 'not in the cache: `node scripts/test-tools.ts mcp-clients`';

async function run(name: string, args: readonly string[], cwd: string): Promise<string> {
  const child = spawn(process.execPath, [join(place, '.bin', name), ...args], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, NO_COLOR: '1', MCP_INSPECTOR_SECRET_STORE: 'memory' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const parts: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => parts.push(part));
  await new Promise((ended) => child.once('close', ended));
  return Buffer.concat(parts).toString();
}

/** What each scenario that asks for no tools of the suite's own finds wrong: what the server does not offer. */
const scenarios: Readonly<Record<string, readonly string[]>> = {
  'server-initialize': [],
  ping: [],
  'tools-list': [],
  'resources-list': [],
  'dns-rebinding-protection': [],
  'http-header-validation': [],
  'sep-2164-resource-not-found': [],
  // There are no prompts.
  caching: ['sep-2549-prompts-list-caching-hints'],
  // It wants a tool that asks for something that the client has not declared.
  'server-stateless': [
    'sep-2575-missing-capability-http-400',
    'sep-2575-server-rejects-undeclared-capability',
  ],
};

t.test(`the conformance suite ${mcpClients['@modelcontextprotocol/conformance']}`, { skip }, async (t) => {
  const person = personRepository();
  const { url, close } = await serveForSuite(person);
  t.teardown(close);
  for (const [scenario, expected] of Object.entries(scenarios)) {
    const told = await run('conformance', ['server', '--url', url, '--scenario', scenario], person.home);
    const failed = [...told.matchAll(/\[([\w.-]+) *\] \S*FAILURE/g)].map(([, name = '']) => name);
    t.strictSame(failed.sort(), expected, scenario);
    t.match(told, /Passed: [1-9]\d*\/\d+/, `${scenario} looked at something`);
  }
});

t.test(`the inspector ${mcpClients['@modelcontextprotocol/inspector']}`, { skip }, async (t) => {
  const { root, home } = personRepository();
  const config = join(home, 'servers.json');
  const args = [writ, 'code', '--stdio', '--cwd', root];
  writeFileSync(config, JSON.stringify({ mcpServers: { writ: { command: process.execPath, args } } }));
  const inspect = async (...more: readonly string[]): Promise<unknown> => {
    const told = await run('mcp-inspector', ['--cli', '--config', config, '--server', 'writ', ...more], home);
    const from = told.indexOf('\n{\n');
    return from === -1 ? told : JSON.parse(told.slice(from));
  };
  t.match(await inspect('--method', 'tools/list'), {
    tools: [{ name: 'run_writ_vcs' }, { name: 'read_writ_vcs' }],
  });
  const words = ['--tool-arg', 'command=status', '--tool-arg', 'args=["--json"]'];
  t.match(await inspect('--method', 'tools/call', '--tool-name', 'run_writ_vcs', ...words), {
    structuredContent: { command: 'status', state: { branch: 'main', changes: [] } },
  });
  t.match(await inspect('--method', 'resources/list'), { resources: [{ uri: 'writ://runs' }] });
  t.match(await inspect('--method', 'resources/read', '--uri', 'writ://runs'), {
    contents: [{ text: '{"runs":[]}' }],
  });
});

t.test(
  'Codex calls what only reads by itself, and what changes something not',
  { skip: codexSkip },
  async (t) => {
    const read = await askCodex(personRepository(), 'read_writ_vcs', { command: 'log', args: ['--oneline'] });
    t.match(read.events, /"type":"mcp_tool_call".*"status":"completed"/);
    t.match(read.told, /function_call_output.*second/);
    const person = personRepository();
    const made = await askCodex(person, 'run_writ_vcs', { command: 'branch', args: ['made'] });
    t.match(made.events, /"type":"mcp_tool_call".*"status":"failed"/);
    t.equal(person.git('branch', '--list', 'made'), '');
  },
);

t.test(
  `Gemini CLI ${mcpClients['@google/gemini-cli']}, told to approve everything, reads; what changes something is refused by writ`,
  { skip },
  async (t) => {
    const program = join(place, '.bin', 'gemini');
    const given = { command: 'log', args: ['--oneline'] };
    const read = await askGemini(program, personRepository(), { tool: 'read_writ_vcs', given });
    t.match(read.events, /"type":"tool_result".*"status":"success"/);
    t.match(read.told, /functionResponse.*second/s);
    const person = personRepository();
    const made = await askGemini(program, person, {
      tool: 'run_writ_vcs',
      given: { command: 'branch', args: ['made'] },
    });
    t.match(made.events, /APPROVAL_REQUIRED/);
    t.equal(person.git('branch', '--list', 'made'), '');
  },
);
