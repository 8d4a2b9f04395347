/* Prepares the home directory and the command line of Codex, and reads the JSON that it sends. */
import { sha256Hex } from '../../core/base/canonical.ts';
import { randomOctets } from '../../core/base/ids.ts';
import { isRecord } from '../../core/base/json-pointer.ts';
import type { AgentHost, AgentPort, AgentProgram } from '../../core/interfaces/worker.ts';

/** The key is outside the sandbox, but Codex needs a value that is not empty. */
const keyVariable = 'WRIT_MODEL_GATE';

/** Disabled features. The only tools are commands, patches and a plan. */
const features = [
  'apps',
  'browser_use',
  'computer_use',
  'enable_request_compression',
  'goals',
  'hooks',
  'image_generation',
  'memories',
  'multi_agent_v2',
  'plugins',
  'shell_snapshot',
  'skill_search',
  'tool_suggest',
  'unified_exec_tty',
  'view_image',
];

/**
 * Returns how to start Codex. Its home has writ's settings and none of the user's. Instructions to agents in the
 * repository (`AGENTS.md`) are data like any other file.
 */
export function codexProgram({
  model,
  modelBase,
  flags,
}: Pick<AgentHost, 'model' | 'modelBase' | 'flags'>): AgentProgram {
  const port = portOf(flags['codex-port']);
  return {
    words: ['app-server', ...(port === undefined ? [] : listening(port))],
    ...(port === undefined ? {} : { port }),
    homeVariable: 'CODEX_HOME',
    home: {
      'config.toml': [
        `model = ${JSON.stringify(model)}`,
        'model_provider = "writ"',
        'approval_policy = "on-request"',
        'web_search = "disabled"',
        'project_doc_max_bytes = 0',
        'check_for_update_on_startup = false',
        '[model_providers.writ]',
        'name = "writ"',
        `base_url = ${JSON.stringify(modelBase)}`,
        'wire_api = "responses"',
        `env_key = "${keyVariable}"`,
        // Only the engine retries.
        'request_max_retries = 0',
        'stream_max_retries = 0',
        'supports_websockets = false',
        '[agents]',
        'enabled = false',
        '[analytics]',
        'enabled = false',
        '[history]',
        'persistence = "none"',
        '[features]',
        ...features.map((name) => `${name} = false`),
        '',
      ].join('\n'),
    },
    env: { [keyVariable]: 'outside', RUST_LOG: 'off' },
  };
}

/** A token of 256 bits for one start. */
function portOf(flag: string | undefined): AgentPort | undefined {
  return flag === undefined ? undefined : { port: Number(flag), token: randomOctets(32).toString('hex') };
}

/** Commands that it runs see these words, and they reach the port: they hold the digest of the token alone. */
function listening({ port, token }: AgentPort): readonly string[] {
  const auth = ['--ws-auth', 'capability-token', '--ws-token-sha256', sha256Hex(token)];
  return ['--listen', `ws://127.0.0.1:${port}`, ...auth];
}

/** A JSON object with unvalidated members. */
export type Json = Readonly<Record<string, unknown>>;

/** A part that is an object; an empty one else. */
export function partOf(value: unknown, name: string): Json {
  const part = isRecord(value) ? value[name] : undefined;
  return isRecord(part) ? part : {};
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
