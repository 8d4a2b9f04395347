/* Parses `.writ/config.toml`, with the language servers that `[lsp]` can name. */
import type { AgentRecipe, ConfiguredAgents } from '../../agent/external/recipes.ts';
import type { LanguageServer } from '../../agent/language-servers/language-server.ts';
import type { McpServer } from '../../agent/mcp/start-server.ts';
import type { WritError } from '../../core/base/errors.ts';
import { nearestName } from '../../core/base/printable.ts';
import type { ClassWords } from '../../core/interfaces/privacy.ts';
import type { LogConfig, SignerConfig } from '../../core/interfaces/sealing.ts';
import { type SecurityCode, securityWords } from '../../spec/secret-words.ts';
import {
  type ChecksConfig,
  readChecksSection,
  readScannerSection,
  type ScannerConfig,
} from './checks-section.ts';
import { readMcpSection } from './mcp-section.ts';
import { readHooksSection, readSessionSection, type SessionHook } from './read-session-policy.ts';
import {
  type ApprovalConfig,
  type BudgetConfig,
  type CommitConfig,
  type DraftsConfig,
  type EvidenceConfig,
  type FactorsConfig,
  type GoalConfig,
  type LandingConfig,
  type ListedPlugin,
  type PolicyConfig,
  type RequiredArtifact,
  type RunnersConfig,
  readApprovalSection,
  readArtifactsSection,
  readBudgetSection,
  readCommitSection,
  readDraftsSection,
  readEvidenceSection,
  readFactorsSection,
  readGoalSection,
  readLandingSection,
  readLicensesSection,
  readLogSection,
  readMode,
  readPluginsSection,
  readPolicySection,
  readRedactionSection,
  readRunnersSection,
  readSealSection,
  readSignerSection,
  type SealConfig,
  type SealingForms,
} from './sections.ts';
import type { SessionLimits } from './session-policy.ts';
import {
  type ApprovalsConfig,
  type ConfigIssue,
  invalidFile,
  type PlainValue,
  parseToml,
  readApprovalsSection,
  readStoreSection,
  TableReader,
} from './table-reader.ts';
import {
  readVerdictsSection,
  readWorkersSection,
  type VerdictsConfig,
  type WorkersConfig,
} from './workers-section.ts';
import { readWorkspaceSection, type WorkspaceConfig } from './workspace-section.ts';

export type { ChecksConfig, ScannerConfig } from './checks-section.ts';
export type { ListedPlugin, PolicyConfig, RequiredArtifact as DemandedArtifact } from './sections.ts';
export type { ApprovalsConfig } from './table-reader.ts';
export type { PrepareStep, WorkspaceConfig } from './workspace-section.ts';

/** `.writ/config.toml` at the policy commit, every default filled in (`docs/reference/config.md`). */
export interface WritConfig {
  readonly workspace: WorkspaceConfig;
  readonly signer: SignerConfig;
  readonly log: LogConfig;
  readonly approvals: ApprovalsConfig;
  /** Which remote has to hold a sealed commit. */
  readonly landing: LandingConfig;
  /** Of a session, not of a run. */
  readonly approval: ApprovalConfig;
  /** Of a session, too. */
  readonly goal: GoalConfig;
  /** The same. */
  readonly budget: BudgetConfig;
  /** `[session]`. Absent: the repository sets no limits. */
  readonly session?: SessionLimits;
  /** `[hooks]`: programs that a session calls in the sandbox. */
  readonly hooks: readonly SessionHook[];
  /** `[artifacts.<name>]`, by name: what plugins make of every change. */
  readonly artifacts: ReadonlyMap<string, RequiredArtifact>;
  readonly checks: ChecksConfig;
  readonly evidence: EvidenceConfig;
  readonly runners: RunnersConfig;
  /** `[rules.<id>]`, by rule id; `[licenses]` as `packages` of `licenses`. */
  readonly rules: Readonly<Record<string, Readonly<Record<string, PlainValue>>>>;
  /** What counts as security code. */
  readonly securityCode: SecurityCode;
  /** How the sealed commit is made. */
  readonly commit: CommitConfig;
  /** Of `writ seal`. */
  readonly seal: SealConfig;
  /** Of specs that a model drafts. */
  readonly drafts: DraftsConfig;
  /** Words of the repository's own, by the data class that they mark. */
  readonly redaction: ClassWords;
  /** Checks that `risk.factors` of a spec add. */
  readonly factors: FactorsConfig;
  /** Third-party plugins that check changes to this repository, each pinned by digest. */
  readonly plugins: readonly ListedPlugin[];
  /** Language servers that a model may query, by name: the built-in table, overridden by `[lsp.<name>]`. */
  readonly lsp: ReadonlyMap<string, LanguageServer>;
  /** `[mcp.<name>]`, by name: MCP servers whose tools a model may be offered. */
  readonly mcp: ReadonlyMap<string, McpServer>;
  /** `[agent.NAME]`, by name: recipes of external agents, in addition to the built-in ones. */
  readonly agents: ConfiguredAgents;
  /** `advise`: changes are evaluated, and none is sealed. */
  readonly mode: 'enforce' | 'advise';
  /** `[policy.<name>]`, by name. */
  readonly policies: ReadonlyMap<string, PolicyConfig>;
  /** `[scanner.NAME]`, by name. */
  readonly scanners: ReadonlyMap<string, ScannerConfig>;
  /** Settings of each backend, by the backend's name. */
  readonly providers: ProvidersConfig;
  /** Prices and context sizes of models, by model id, for models that the built-in table does not list. */
  readonly models: ModelsConfig;
  /** `[models] allow_http`: model hosts, with their ports, that writ may call over plain HTTP. */
  readonly plainHttp?: readonly string[];
  /** Absent: every check runs on this machine. */
  readonly workers?: WorkersConfig;
  /** Absent: every check runs. */
  readonly verdicts?: VerdictsConfig;
}

/** `[signer]` and `[log]` are read by those that they are about. */
interface ParseConfigOptions extends SealingForms {
  /** Ids of the registered rules; given, a `[rules.<id>]` for any other is refused. */
  readonly ruleIds?: readonly string[];
}

const maxBytes = 256 * 1024;

/**
 * Parses the config; `undefined` (no such file) gives the defaults. Anything unknown or ill-typed is CONFIG_INVALID,
 * all issues at once.
 */
export function parseConfig(bytes: Uint8Array | undefined, options: ParseConfigOptions): WritConfig {
  const issues: ConfigIssue[] = [];
  const root = new TableReader(bytes === undefined ? {} : parseToml(bytes, maxBytes, invalid), '', issues);
  const workers = readWorkersSection(root.table('workers'));
  const verdicts = readVerdictsSection(root.table('verdicts'), workers !== undefined);
  const config: WritConfig = {
    workspace: readWorkspaceSection(root.table('workspace')),
    signer: readSignerSection(root.table('signer'), options.signers),
    log: readLogSection(root.table('log'), options.logs),
    approvals: readApprovalsSection(root.table('approvals')),
    landing: readLandingSection(root.table('landing')),
    approval: readApprovalSection(root.table('approval')),
    goal: readGoalSection(root.table('goal')),
    budget: readBudgetSection(root.table('budget')),
    ...(root.has('session') ? { session: readSessionSection(root.table('session')) } : {}),
    artifacts: readArtifactsSection(root.table('artifacts')),
    checks: readChecksSection(root.table('checks')),
    evidence: readEvidenceSection(root.table('evidence')),
    runners: readRunnersSection(root.table('runners')),
    rules: withLicenses(readRules(root.table('rules'), options.ruleIds), root),
    securityCode: readSecurityCode(root.table('security_code')),
    commit: readCommitSection(root.table('commit')),
    seal: readSealSection(root.table('seal')),
    drafts: readDraftsSection(root.table('drafts')),
    redaction: readRedactionSection(root.table('redaction')),
    factors: readFactorsSection(root.table('factors')),
    plugins: readPluginsSection(root),
    lsp: readLspSection(root.table('lsp')),
    hooks: readHooksSection(root.table('hooks')),
    mcp: readMcpSection(root.table('mcp')),
    agents: readAgentSection(root.table('agent')),
    policies: readPolicySection(root.table('policy')),
    mode: readMode(root.table('policy')),
    scanners: readScannerSection(root.table('scanner')),
    providers: readProvidersSection(root.table('providers')),
    models: readModelsSection(root.table('models')),
    ...readPlainHttp(root.table('models')),
    ...(workers === undefined ? {} : { workers }),
    ...(verdicts === undefined ? {} : { verdicts }),
  };
  // The store reads its place itself; here are its faults.
  readStoreSection(root.table('store'));
  root.end();
  if (issues.length > 0) throw invalid(issues);
  return config;
}

function readRules(reader: TableReader, ruleIds: readonly string[] | undefined): WritConfig['rules'] {
  const rules: [string, Readonly<Record<string, PlainValue>>][] = [];
  for (const id of reader.keys()) {
    const options = reader.plain(id);
    if (ruleIds === undefined || ruleIds.includes(id)) rules.push([id, options]);
    else {
      const meant = nearestName(id, ruleIds);
      reader.refuse(
        reader.at(id),
        `no such rule${meant === undefined ? '' : `, did you mean \`${meant}\`?`}`,
      );
    }
  }
  return Object.fromEntries(rules);
}

/** `[licenses]` reaches the rule of that name as its option `packages`. */
function withLicenses(rules: WritConfig['rules'], root: TableReader): WritConfig['rules'] {
  const packages = readLicensesSection(root.table('licenses'));
  return Object.keys(packages).length === 0 ? rules : { ...rules, licenses: { ...rules.licenses, packages } };
}

function readSecurityCode(reader: TableReader): WritConfig['securityCode'] {
  const paths = reader.texts('paths', []);
  const words = reader.texts('words', securityWords).map((word) => word.toLowerCase());
  reader.end();
  return { paths, words };
}

function invalid(issues: readonly ConfigIssue[], cause?: unknown): WritError {
  return invalidFile('.writ/config.toml', { issues }, cause);
}

/** `[providers.<name>]`: settings of each backend, by its name. The backend defines which settings it accepts. */
type ProvidersConfig = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** `[models."<id>"]`: USD per million tokens, and how many tokens question and reply may have together. */
interface ModelRow {
  readonly price?: { readonly input: number; readonly output: number; readonly cachedInput: number };
  readonly contextTokens?: number;
}

/** By the vendor's model id. Unknown ids are allowed. */
type ModelsConfig = Readonly<Record<string, ModelRow>>;

const maxPrice = 100_000;
const maxContext = 1_000_000_000;

/** Reads `[providers]`. The backend validates its names and values when it is opened. */
function readProvidersSection(reader: TableReader): ProvidersConfig {
  return Object.fromEntries(
    reader.keys().map((name) => {
      const table = reader.table(name);
      return [name, Object.fromEntries(table.keys().map((key) => [key, table.text(key, '')]))];
    }),
  );
}

/** Reads `[models]`. A price needs both `input` and `output`, or neither; `cached_input` needs them too. */
function readModelsSection(reader: TableReader): ModelsConfig {
  const ids = reader.keys().filter((id) => id !== allowHttp);
  return Object.fromEntries(ids.map((id) => [id, readRow(reader.table(id))]));
}

const allowHttp = 'allow_http';
const maxHosts = 32;

/** Reads `[models] allow_http`: hosts as a URL has them, in lower case, with the port where it is not 80. */
function readPlainHttp(reader: TableReader): { readonly plainHttp?: readonly string[] } {
  if (!reader.has(allowHttp)) return {};
  const given = reader.texts(allowHttp, []);
  if (given.length > maxHosts) reader.refuse(reader.at(allowHttp), `expected at most ${maxHosts} hosts`);
  const plainHttp = given.map((text, index) => {
    const url = URL.canParse(`http://${text}/`) ? new URL(`http://${text}/`) : undefined;
    const isHost = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(text);
    if (url !== undefined && isHost) return url.host;
    reader.refuse(`${reader.at(allowHttp)}[${index}]`, 'expected a host with its port, e.g. `gpubox:11434`');
    return '';
  });
  return { plainHttp };
}

function readRow(row: TableReader): ModelRow {
  const [input, output, cached] = ['input', 'output', 'cached_input'].map((key) =>
    row.number(key, undefined, 0, maxPrice),
  );
  const context = row.has('context') ? row.integer('context', 1, 1, maxContext) : undefined;
  row.end();
  if ((input === undefined) !== (output === undefined) || (cached !== undefined && input === undefined))
    row.refuse(row.path, 'expected `input` and `output`, in USD per million tokens, or neither');
  if (input === undefined && context === undefined)
    row.refuse(row.path, 'expected a price (`input` and `output`), `context`, or both');
  return {
    ...(input === undefined || output === undefined
      ? {}
      : { price: { input, output, cachedInput: cached ?? input } }),
    ...(context === undefined ? {} : { contextTokens: context }),
  };
}

const native = /^Version (?:[7-9]|[1-9]\d+)\./;

/** Those that are known, by name. Settings shut what would run a program that a project names. */
export const languageServers: Readonly<Record<string, LanguageServer>> = {
  typescript: {
    files: {
      '.ts': 'typescript',
      '.mts': 'typescript',
      '.cts': 'typescript',
      '.tsx': 'typescriptreact',
      '.js': 'javascript',
      '.mjs': 'javascript',
      '.cjs': 'javascript',
      '.jsx': 'javascriptreact',
    },
    project: ['tsconfig.json', 'jsconfig.json', 'package.json'],
    commands: [
      // From TypeScript 7 on the compiler is its own server.
      { command: ['tsc', '--lsp', '--stdio'], version: ['tsc', '--version'], accepts: native },
      { command: ['tsgo', '--lsp', '--stdio'], version: ['tsgo', '--version'], accepts: native },
      {
        command: ['typescript-language-server', '--stdio'],
        version: ['typescript-language-server', '--version'],
      },
    ],
    loads: ['node_modules'],
  },
  python: {
    files: { '.py': 'python', '.pyi': 'python' },
    project: ['pyproject.toml', 'pyrightconfig.json', 'setup.cfg'],
    commands: [
      { command: ['pyright-langserver', '--stdio'], version: ['pyright', '--version'] },
      { command: ['basedpyright-langserver', '--stdio'], version: ['basedpyright', '--version'] },
      { command: ['pylsp'], version: ['pylsp', '--version'] },
    ],
    settings: {
      python: { pythonPath: 'python3', analysis: { diagnosticMode: 'openFilesOnly' } },
      pylsp: { plugins: { pylint: { enabled: false }, flake8: { enabled: false } } },
    },
    warmsUp: true,
  },
  go: {
    files: { '.go': 'go' },
    project: ['go.mod', 'go.sum', 'go.work'],
    commands: [{ command: ['gopls', 'serve'], version: ['gopls', 'version'] }],
    env: { GOTOOLCHAIN: 'local', GOPROXY: 'off' },
    warmsUp: true,
  },
  rust: {
    files: { '.rs': 'rust' },
    project: ['Cargo.toml', 'Cargo.lock', 'rust-toolchain.toml', 'rust-project.json'],
    commands: [{ command: ['rust-analyzer'], version: ['rust-analyzer', '--version'] }],
    settings: {
      'rust-analyzer': {
        cargo: { buildScripts: { enable: false } },
        procMacro: { enable: false },
        checkOnSave: false,
      },
    },
    initialization: {
      cargo: { buildScripts: { enable: false } },
      procMacro: { enable: false },
      checkOnSave: false,
    },
    // Before what `.cargo/config.toml` names.
    env: { RUSTC: 'rustc', RUSTC_WRAPPER: '', RUSTC_WORKSPACE_WRAPPER: '', CARGO_NET_OFFLINE: 'true' },
    warmsUp: true,
  },
  cpp: {
    files: {
      '.c': 'c',
      '.h': 'cpp',
      '.cc': 'cpp',
      '.cpp': 'cpp',
      '.cxx': 'cpp',
      '.hh': 'cpp',
      '.hpp': 'cpp',
    },
    project: ['compile_commands.json', 'compile_flags.txt', '.clangd'],
    commands: [
      { command: ['clangd', '--background-index=false', '--log=error'], version: ['clangd', '--version'] },
    ],
    warmsUp: true,
  },
};

const maxServers = 32;
const maxEndings = 32;

/** Reads `[lsp.<name>]`: the table of language servers as this repository has it, those that are off left out. */
function readLspSection(reader: TableReader): ReadonlyMap<string, LanguageServer> {
  const servers = new Map(Object.entries(languageServers));
  for (const name of reader.keys()) {
    const server = readServer(reader.table(name), name, servers.get(name));
    if (server === undefined) servers.delete(name);
    else servers.set(name, server);
  }
  if (servers.size > maxServers) reader.refuse(reader.path, `expected at most ${maxServers} servers`);
  return servers;
}

function readServer(
  reader: TableReader,
  name: string,
  known: LanguageServer | undefined,
): LanguageServer | undefined {
  if (!/^[a-z][a-z0-9_-]{0,31}$/.test(name))
    reader.refuse(reader.path, 'expected a name of lower-case letters, digits, `-` and `_`');
  const isOn = reader.flag('enabled', true);
  const command = reader.texts('command', []);
  const endings = reader.texts('files', []);
  const project = reader.texts('project', known?.project ?? []);
  const settings = reader.plain('settings');
  const initialization = reader.plain('initialization');
  reader.end();
  if (command[0]?.includes('/'))
    reader.refuse(
      reader.at('command'),
      `\`${command[0]}\` is a path; expected a bare name found on the sandbox's PATH or in a shared directory`,
    );
  if (isOn && known === undefined && command.length === 0)
    reader.refuse(reader.at('command'), 'expected the program and its words as a list of strings');
  if (isOn && known === undefined && endings.length === 0)
    reader.refuse(reader.at('files'), 'expected how the files end, such as `[".rb"]`');
  const wrong = endings.find((ending) => !/^\.[A-Za-z0-9.+_-]{1,31}$/.test(ending));
  if (wrong !== undefined || endings.length > maxEndings)
    reader.refuse(reader.at('files'), `expected at most ${maxEndings} endings, each with its dot`);
  const file = project.find((one) => one.includes('/'));
  if (file !== undefined) reader.refuse(reader.at('project'), `\`${file}\`: expected the name of a file`);
  if (!isOn) return undefined;
  const of = (ending: string): [string, string] => [ending, known?.files[ending] ?? name];
  return {
    commands: [],
    ...known,
    files: endings.length === 0 ? (known?.files ?? {}) : Object.fromEntries(endings.map(of)),
    project,
    ...(command.length === 0 ? {} : { commands: [{ command }] }),
    ...(reader.has('settings') ? { settings } : {}),
    ...(reader.has('initialization') ? { initialization } : {}),
  };
}

const maxAgents = 32;
const maxFileText = 64 * 1024;

/** Reads `[agent.<name>]`: how further external agents are started (docs/guides/external-agents.md). */
function readAgentSection(reader: TableReader): ConfiguredAgents {
  const names = reader.keys();
  if (names.length > maxAgents)
    reader.refuse(reader.path, `expected at most ${maxAgents} agents, found ${names.length}`);
  return new Map(names.slice(0, maxAgents).map((name) => [name, readAgent(reader.table(name), name)]));
}

function readAgent(reader: TableReader, name: string): AgentRecipe {
  if (!/^[a-z][a-z0-9-]{0,31}$/.test(name))
    reader.refuse(reader.path, 'expected a name of lower-case letters, digits and `-`');
  const needed = (key: string, what: string): string => {
    const found = reader.text(key, '');
    if (found === '') reader.refuse(reader.at(key), `expected ${what}`);
    return found;
  };
  const env = reader.table('env');
  const files = reader.table('files');
  const recipe = {
    provider: needed('provider', 'the name of the provider whose key it gets'),
    programs: reader.texts('programs', [name]),
    log: needed('log', 'the path of its session logs below its home, such as `.agent/sessions/*.jsonl`'),
    deadlineSeconds: reader.integer('deadline_seconds', 1800, 1, 86_400),
    env: Object.fromEntries(env.keys().map((key) => [key, env.text(key, '')])),
    files: Object.fromEntries(files.keys().map((key) => [key, files.prose(key, '', maxFileText)])),
  };
  for (const [at, path] of [
    ...Object.keys(recipe.files).map((key) => [files.at(key), key] as const),
    ...(recipe.log === '' ? [] : [[reader.at('log'), recipe.log] as const]),
  ]) {
    const parts = path.split('/');
    if (
      parts.length > 16 ||
      parts.some((part) => part === '' || part === '.' || part === '..' || part === '**')
    )
      reader.refuse(at, 'expected a path below the home of the agent, without `..` and `**`');
  }
  for (const key of env.keys())
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(key))
      reader.refuse(env.at(key), 'expected the name of an environment variable');
  reader.end();
  return recipe;
}
