/* The table of external agents: the settings, logs and deadlines of programs that run unmodified. */
import { posix } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { isRecord } from '../../core/base/json-pointer.ts';
import { nearestName, quoted } from '../../core/base/printable.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { SandboxBackend } from '../../core/interfaces/sandbox.ts';
import type { ExternalAgent } from '../../core/interfaces/worker.ts';
import { guardCommand } from '../../workspace/command-acl/acl.ts';
import { authorizeTarget, type EgressPolicy, readTarget } from '../../workspace/egress/openings.ts';
import { type FoundAgent, findAgent } from '../../workspace/process/find-program.ts';
import { inShellQuotes } from '../../workspace/shell/quote.ts';

/**
 * How one program is started. Values of `env` and `files` may contain `{base}` (base URL of the relay), `{root}` (the
 * same without `/v1` or `/v1beta` at its end), `{key}` (a placeholder, never a key) and `{model}`.
 */
export interface AgentRecipe {
  /** The provider whose key and base URL its requests get. */
  readonly provider: string;
  /** Base names of programs that select this recipe. */
  readonly programs: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Files of its home, by path. */
  readonly files: Readonly<Record<string, string>>;
  /** Session logs below its home; each part of the path may have `*`. Absent: `export` prints the log. */
  readonly log?: string;
  /** Arguments that print the log; `{session}` is the first `sessionID` in the agent's output. */
  readonly export?: readonly string[];
  /** Wall-clock limit of one start. */
  readonly deadlineSeconds: number;
  /** The program that npm's launcher starts, below `node_modules`, by platform and architecture. */
  readonly natives?: Readonly<Record<string, string>>;
  /** A file beside the program's directory. If it exists, the whole directory belongs to the program. */
  readonly marker?: string;
}

/** By name. Each was tried in a sandbox without network (docs/decisions/0044-external-agents.md). */
const recipes: Readonly<Record<string, AgentRecipe>> = {
  'claude-code': {
    provider: 'anthropic',
    programs: ['claude'],
    env: {
      ANTHROPIC_BASE_URL: '{root}',
      ANTHROPIC_API_KEY: '{key}',
      ANTHROPIC_MODEL: '{model}',
      // Without it, a dead endpoint is retried for minutes.
      CLAUDE_CODE_MAX_RETRIES: '3',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      // It refuses `--permission-mode bypassPermissions` to root elsewhere.
      IS_SANDBOX: '1',
    },
    files: {},
    log: '.claude/projects/*/*.jsonl',
    deadlineSeconds: 1800,
    natives: {
      'linux-x64': '@anthropic-ai/claude-code-linux-x64/claude',
      'linux-arm64': '@anthropic-ai/claude-code-linux-arm64/claude',
    },
  },
  codex: {
    provider: 'openai',
    programs: ['codex'],
    env: { AGENT_RELAY_KEY: '{key}' },
    files: {
      '.codex/config.toml': `model = "{model}"
model_provider = "writ"
check_for_update_on_startup = false
[model_providers.writ]
name = "writ"
base_url = "{base}"
wire_api = "responses"
env_key = "AGENT_RELAY_KEY"
request_max_retries = 2
stream_max_retries = 2
supports_websockets = false
[analytics]
enabled = false
[features]
enable_request_compression = false
`,
    },
    log: '.codex/sessions/*/*/*/*.jsonl',
    deadlineSeconds: 1800,
    natives: {
      'linux-x64': '@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex',
      'linux-arm64': '@openai/codex-linux-arm64/vendor/aarch64-unknown-linux-musl/bin/codex',
    },
    marker: 'codex-package.json',
  },
  'gemini-cli': {
    provider: 'gemini',
    programs: ['gemini'],
    env: {
      GOOGLE_GEMINI_BASE_URL: '{root}',
      GEMINI_API_KEY: '{key}',
      GEMINI_MODEL: '{model}',
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    },
    files: {
      '.gemini/settings.json': JSON.stringify({
        security: { auth: { selectedType: 'gemini-api-key' } },
        privacy: { usageStatisticsEnabled: false },
        general: { disableAutoUpdate: true },
      }),
    },
    log: '.gemini/tmp/*/chats/*.jsonl',
    // It retries a dead endpoint for ever.
    deadlineSeconds: 900,
  },
  opencode: {
    provider: 'openai',
    programs: ['opencode'],
    env: { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' },
    files: {
      '.config/opencode/opencode.json': JSON.stringify({
        model: 'writ/{model}',
        small_model: 'writ/{model}',
        provider: {
          writ: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: '{base}', apiKey: '{key}' },
            models: { '{model}': {} },
          },
        },
      }),
    },
    export: ['export', '{session}'],
    // It waits for a dead endpoint for ever.
    deadlineSeconds: 900,
    natives: {
      'linux-x64': 'opencode-linux-x64/bin/opencode',
      'linux-arm64': 'opencode-linux-arm64/bin/opencode',
    },
  },
};

export const recipeNames: readonly string[] = Object.keys(recipes);

/** `[agent.<name>]` of the configuration, by name; a recipe there replaces the built-in one. */
export type ConfiguredAgents = ReadonlyMap<string, AgentRecipe>;

/** Finds the recipe of an agent: by its name, or for `auto` by the program. Throws AGENT_RECIPE_UNKNOWN. */
export function recipeOf(
  { argv: [program = ''], recipe: wanted }: ExternalAgent,
  configured: ConfiguredAgents = new Map(),
): AgentRecipe & { readonly name: string } {
  const all = new Map([...Object.entries(recipes), ...configured]);
  const base = posix.basename(program);
  const name = wanted === 'auto' ? [...all].find(([, { programs }]) => programs.includes(base))?.[0] : wanted;
  const found = name === undefined ? undefined : all.get(name);
  if (name !== undefined && found !== undefined) return { ...found, name };
  const meant = wanted === 'auto' ? undefined : nearestName(wanted, [...all.keys()]);
  const known = [...all.keys()].map((one) => `\`${one}\``).join(', ');
  throw new WritError('AGENT_RECIPE_UNKNOWN', {
    message: `${wanted === 'auto' ? `the program ${quoted(base)}` : `the name ${quoted(wanted)}`} has no recipe${meant === undefined ? '' : `; did you mean \`${meant}\`?`} (known here: ${known})`,
    detail: { program: base.slice(0, 200), recipe: wanted.slice(0, 200), known: [...all.keys()] },
    hints: [
      'name one: `--external-agent=codex`',
      'or describe the program in `[agent.NAME]` of `.writ/config.toml` at the policy commit',
    ],
  });
}

/** A request for an external agent as a run keeps it, to start the agent again after a kill. */
export interface ExternalChoice extends ExternalAgent {
  /** Absent: the default of the recipe's provider. */
  readonly model?: string;
  readonly apiBase?: string;
}

const format = 'urn:writ:external-agent:v1';
const [maxWords, maxWordLength] = [256, 128 * 1024];
const members = ['format', 'argv', 'recipe', 'model', 'apiBase'];

export function formatExternalChoice(choice: ExternalChoice): Uint8Array {
  return Buffer.from(`${JSON.stringify({ format, ...choice })}\n`);
}

/** Reads it back. RECORDING_MALFORMED names the field. */
export function parseExternalChoice(bytes: Uint8Array): ExternalChoice {
  const { value } = parseStrictJson(bytes, { code: 'RECORDING_MALFORMED', maxBytes: 1024 * 1024 });
  if (!isRecord(value) || value.format !== format) throw malformed('format');
  const stray = Object.keys(value).find((field) => !members.includes(field));
  if (stray !== undefined) throw malformed(stray);
  const { argv, recipe, model, apiBase } = value;
  if (!Array.isArray(argv) || argv.length === 0 || argv.length > maxWords || !argv.every(isWord))
    throw malformed('argv');
  if (argv[0] === '') throw malformed('argv');
  if (!isLine(recipe)) throw malformed('recipe');
  if (model !== undefined && !isLine(model)) throw malformed('model');
  if (apiBase !== undefined && !isLine(apiBase)) throw malformed('apiBase');
  return {
    argv,
    recipe,
    ...(model === undefined ? {} : { model }),
    ...(apiBase === undefined ? {} : { apiBase }),
  };
}

function isWord(value: unknown): value is string {
  return typeof value === 'string' && value.length <= maxWordLength && !value.includes('\0');
}

function isLine(value: unknown): value is string {
  return typeof value === 'string' && /^[\x20-\x7e]{1,2048}$/.test(value);
}

function malformed(field: string): WritError {
  return new WritError('RECORDING_MALFORMED', {
    message: `the request for an external agent has no usable \`${field.slice(0, 64)}\``,
    detail: { field: field.slice(0, 64) },
  });
}

/** The agent as a command for the tool rules: its program by base name, every word quoted. */
export function agentCommand({ argv: [program = '', ...args] }: ExternalAgent): string {
  return [posix.basename(program), ...args].map(toShellWord).join(' ');
}

function toShellWord(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : inShellQuotes(word);
}

/**
 * Requires that the spec lets the agent reach its model. The agent is one command; the rule that allows it has to open
 * the host of `base`. `networkPolicy: allow` does not replace the rule: it is the consent to send code there.
 * Returns what the rule opens. Throws AGENT_RULE_MISSING with the rule to add, SANDBOX_NONE_REFUSED.
 */
export function requireModelRule(
  { security: { toolAcl } }: Pick<EffectiveIntentSpec, 'security'>,
  agent: ExternalAgent,
  base: string,
  sandbox: Pick<SandboxBackend, 'unconfined'>,
): EgressPolicy['openings'] {
  if (sandbox.unconfined) throw new WritError('SANDBOX_NONE_REFUSED');
  const { host, protocol } = new URL(base);
  const target = readTarget(host, protocol === 'https:' ? 443 : 80);
  const { refusal, openings = [] } = guardCommand(toolAcl, agentCommand(agent), { variables: [] });
  // A refused command has no openings.
  const isOpen = target !== undefined && authorizeTarget({ all: false, openings }, target).open;
  if (isOpen) return openings;
  const program = posix.basename(agent.argv[0] ?? '');
  const rule = {
    tool: 'workspace.command',
    actions: ['execute'],
    constraints: {
      allowCommands: [program],
      networkReason: `${program} asks its model`,
      networkHosts: [host],
    },
  };
  throw new WritError('AGENT_RULE_MISSING', {
    message: `no tool rule lets ${quoted(program)} reach its model at \`${host}\`${refusal === undefined ? '' : `: ${refusal.message}`}`,
    detail: { program, host, rule },
    hints: [`add to \`security.toolAcl.allow\`: ${JSON.stringify(rule)}`],
  });
}

/** The program of an agent and what the sandbox has to show for it. Throws AGENT_UNAVAILABLE. */
export function findProgramOf(
  { argv: [name = ''] }: ExternalAgent,
  { marker, natives }: AgentRecipe,
): FoundAgent {
  const program = { name, flag: 'external-agent --', hint: 'install it, or name it by its path' };
  return findAgent(
    { program, ...(marker === undefined ? {} : { marker }), ...(natives === undefined ? {} : { natives }) },
    {},
  );
}
