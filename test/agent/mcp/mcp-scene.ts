import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import type { McpAccess, McpState } from '../../../agent/mcp/mcp-tools.ts';
import type { McpServer } from '../../../agent/mcp/start-server.ts';
import { reachProvider } from '../../../bin/command-parts/reach-provider.ts';
import { type Json, makeSample, type Sample } from '../../engine/sample.ts';
import { source, toldTo } from '../model-work.ts';
import { type ScriptedReply, scriptModel } from '../scripted-model.ts';
import { everything } from '../use-workspace-tools.ts';
import { ending, mending } from '../work-with-script.ts';

/** This project: its `node_modules` hold the published servers. */
export const project = fileURLToPath(new URL('../../../', import.meta.url)).replace(/\/$/, '');

/**
 * A server in one file. `behave` is the body of `(call, say, request) => …`, which answers a tool call; `tools` and
 * `start` are JavaScript too.
 */
export function serverText({
  tools = `[{ name: 'echo', description: 'Repeats it.', inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } }]`,
  behave = `say({ content: [{ type: 'text', text: 'echo ' + call.arguments.text }] })`,
  start = '',
}: {
  readonly tools?: string;
  readonly behave?: string;
  readonly start?: string;
} = {}): string {
  return `${start}
const write = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const request = JSON.parse(line);
  const { id, method, params } = request;
  const say = (result) => write({ id, result });
  if (method === 'initialize')
    say({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'test', version: '1.2.3' } });
  else if (method === 'tools/list') say({ tools: ${tools} });
  else if (method === 'tools/call') { const call = params; ${behave}; }
});
`;
}

/** Writes servers into the dependencies of a sample. */
export function writeServers(
  { root }: Pick<Sample, 'root'>,
  servers: Readonly<Record<string, string>>,
): void {
  mkdirSync(join(root, 'node_modules', 'servers'), { recursive: true });
  for (const [name, text] of Object.entries(servers))
    writeFileSync(join(root, 'node_modules', 'servers', `${name}.cjs`), text);
}

/** Puts servers into the shared dependencies of a sample, and names them at its policy commit. */
export function installServers(
  { root, git }: Sample,
  servers: Readonly<Record<string, string>>,
  config: string,
): void {
  writeServers({ root }, servers);
  writeFileSync(join(root, '.gitignore'), 'node_modules\n');
  mkdirSync(join(root, '.writ'), { recursive: true });
  writeFileSync(join(root, '.writ', 'config.toml'), `[workspace]\nshare = ["node_modules"]\n${config}`);
  git('add', '--all');
  git('commit', '--quiet', '-m', 'Name the servers');
}

/** `[mcp.NAME]` of an installed server. */
export const table = (name: string, more = ''): string =>
  `[mcp.${name}]\ncommand = ["node", "node_modules/servers/${name}.cjs"]\n${more}\n`;

export const mcpRule = (tool: string, constraints: Json = {}): Json => ({
  tool: `mcp.${tool}`,
  actions: ['call'],
  constraints,
});

interface McpRun {
  /** Allow rules beside those of everything else. */
  readonly rules: readonly Json[];
  readonly prepare?: (sample: Sample) => void;
  /** The user's own. */
  readonly servers?: readonly McpServer[];
  readonly networkPolicy?: 'allow' | 'deny';
  readonly tiers?: readonly string[];
  readonly more?: Partial<Parameters<Sample['run']>[0]>;
}

/** A run in which a model makes these calls, one in a reply, and then the change. */
export async function runWithMcp(
  t: Test,
  calls: NonNullable<ScriptedReply['calls']>,
  { rules, prepare, servers = [], networkPolicy = 'deny', tiers = ['repo', 'web'], more = {} }: McpRun,
) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  prepare?.(sample);
  const states: McpState[] = [];
  const mcp: McpAccess = { servers: async () => servers, told: (state) => void states.push(state) };
  await using model = await scriptModel([
    ...calls.map((call) => ({ calls: [call] })),
    { calls: [mending] },
    { calls: [ending] },
  ]);
  const view = await sample.run(
    { source: source(model), reach: reachProvider({ variable: () => undefined, keys: {} }), mcp, ...more },
    {
      security: { toolAcl: { allow: [...(everything as unknown as Json[]), ...rules] } },
      constraints: { security: { networkPolicy } },
      evidence: { trustTiers: [...tiers] },
    },
  );
  const [first] = model.asked as unknown as {
    body: { tools: { function: { name: string; description: string; parameters: object } }[] };
  }[];
  const stored = (path: string): string =>
    sample.git('cat-file', 'blob', `refs/ai/runs/${view.runId}:${path}`);
  return {
    view,
    sample,
    states,
    told: toldTo(model),
    tools: (first?.body.tools ?? [])
      .map(({ function: one }) => one)
      .filter(({ name }) => name.startsWith('mcp__')),
    stored,
    /** `resolvedDependencies` of the provenance that are MCP servers. */
    named() {
      const { dsseEnvelope } = JSON.parse(stored('provenance.sigstore.json')) as {
        dsseEnvelope: { payload: string };
      };
      const statement = JSON.parse(Buffer.from(dsseEnvelope.payload, 'base64').toString()) as {
        predicate: { buildDefinition: { resolvedDependencies: { name: string; uri: string }[] } };
      };
      const { resolvedDependencies } = statement.predicate.buildDefinition;
      return resolvedDependencies.filter(({ name }) => name.startsWith('mcp-server/'));
    },
  };
}
