/* Collects the settings of a session from command line, profile and configuration, and serves it. */
import { once } from 'node:events';
import { readVersion } from '../../api/build.ts';
import { escapeJson, toEnvelope } from '../../api/envelope.ts';
import { sealingForms } from '../../attest/attestor/sealing-forms.ts';
import { readUserConfig, userConfigDir } from '../../attest/keys/user-config-dir.ts';
import { parseConfig, type WritConfig } from '../../engine/config/config.ts';
import { readUserMcp } from '../../engine/config/mcp-section.ts';
import { readUserHooks, sessionPolicyOf } from '../../engine/config/read-session-policy.ts';
import {
  approvalWithin,
  leastOf,
  requireModelAllowed,
  requireNetworkAllowed,
  type SessionPolicy,
} from '../../engine/config/session-policy.ts';
import { findFileCommands } from '../../engine/context/file-commands.ts';
import { parseLoopbackAddress } from '../../http/guard-request.ts';
import { type AgentProfile, findPrimaryAgent } from '../../session/agents.ts';
import type { McpGround } from '../../session/mcp/tool.ts';
import type { SessionLog } from '../../session/open-log.ts';
import type { SessionOptions } from '../../session/session-options.ts';
import type { SessionContext } from '../../session/state/settings.ts';
import { listThreads } from '../../session/thread/check-threads.ts';
import { type RecordedModel, readRecordedModel } from '../../session/thread/read-thread.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import { resolveBase } from '../../workspace/git/resolve-commit.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { chooseModel, givenFlags } from '../command-parts/providers.ts';
import { openReaching } from '../command-parts/reach-provider.ts';
import { agentPlaces, mcpEnvironment } from './agent-at.ts';
import { boundModel, type CodeLine, withPlanMode } from './code-line.ts';
import { type FindUsual, findUsual, firstProvider, type UsualProvider } from './find-model.ts';
import type { WhileOpen } from './serve-code.ts';

/** Opens the session of a command line while `whileOpen` runs. */
export async function serveLine(
  given: CommandContext,
  line: CodeLine,
  log: SessionLog,
  whileOpen: WhileOpen,
): Promise<CommandResult> {
  const context = withPlace(given, line);
  const repository = await openRepository(line.workingDir);
  const reaching = await openReaching(context);
  const usual = findUsual(reaching, context.env);
  const options = await readSessionOptions(context, line, repository, reaching.variable, usual);
  if (options.mode === 'stdio') return serveStdio(context, mcpEnvironment(context, options, repository));
  // The user may have left already.
  context.signal.throwIfAborted();
  // A client of MCP on standard input waits for none of it.
  const { serveCode } = await import('./serve-code.ts');
  return serveCode(context, { line, log, repository, reaching, options }, whileOpen);
}

/** The directory of the session is that of everything else that is looked for. */
function withPlace(context: CommandContext, { workingDir }: CodeLine): CommandContext {
  const told = new Set<string>();
  const { note } = context.print;
  const print: CommandContext['print'] = {
    ...context.print,
    // Every turn repeats where its key was found; print it once.
    note(...parts) {
      const text = JSON.stringify(parts);
      if (!told.has(text)) note(...parts);
      told.add(text);
    },
  };
  return { ...context, print, repoPath: workingDir };
}

/**
 * Returns all options of a session from the command line, its agent profile, and the configuration at the checked-out
 * commit. A resumed thread keeps its provider, model and base URL unless the command line overrides them. `variable`
 * supplies flags that are not given.
 *
 * AGENT_UNKNOWN, AGENT_INVALID, PROVIDER_OPTION, USAGE, CONFIG_INVALID, MACHINE_POLICY_INVALID, and
 * SESSION_POLICY_EXCEEDED for an option that the policy does not allow. Options without effect are reported.
 */
export async function readSessionOptions(
  context: Pick<CommandContext, 'options' | 'cwd' | 'env' | 'print'>,
  line: CodeLine,
  repository: Repository,
  variable: (name: string) => string | undefined,
  findUsualModel: FindUsual,
): Promise<SessionOptions> {
  const agent =
    line.agent === undefined ? undefined : findPrimaryAgent(line.agent, agentPlaces(context, repository));
  const { config, tree } = await configured(repository);
  const policy = sessionPolicyOf(config);
  const recorded = await recordedModel(line, repository);
  const isChosen = line.provider !== undefined || recorded !== undefined || agent?.binding !== undefined;
  // No model is called on standard input and output.
  const usual: UsualProvider =
    isChosen || line.mode === 'stdio'
      ? { provider: firstProvider }
      : await findUsualModel({
          model: line.model,
          apiBase: context.options.value('api-base'),
          plainHttp: config.plainHttp ?? [],
          policy,
        });
  if (usual.why !== undefined)
    context.print.note(`provider ${usual.provider}: ${usual.why}; \`--provider NAME\` chooses another`);
  const asked = {
    provider: line.provider ?? recorded?.provider ?? usual.provider,
    model: line.model ?? recorded?.model ?? usual.model,
    flags: givenFlags(context),
  };
  const bound = agent === undefined ? asked : boundModel(agent, asked);
  const recordedBase = bound.provider === recorded?.provider ? recorded.apiBase : undefined;
  const model = chooseModel(context, withPlanMode(bound), variable, recordedBase);
  const reading = agent === undefined ? undefined : readingContext(agent);
  const ofSession = line.context === undefined || line.context === 'dev' ? (reading ?? 'dev') : line.context;
  const user = await readUserConfig(context.env);
  const own = user === undefined ? [] : readUserMcp(user);
  if (line.mode !== 'stdio') requireModelAllowed(policy, model);
  if (line.networkAccess === 'allow') requireNetworkAllowed(policy);
  const ttlSeconds = line.approvalTtlSeconds ?? config.approval.ttlSeconds;
  tell(context, line, agent, ofSession);
  return {
    mode: line.mode,
    workingDir: line.workingDir,
    web: line.web,
    mcpPort: line.mcpPort,
    replaceable: line.replaceable,
    control: line.control,
    browserControl: line.browserControl ?? usualBrowserControl(line, model.provider),
    model,
    agent,
    context: ofSession,
    named: [
      ...(line.context === undefined ? [] : (['context'] as const)),
      ...(line.networkAccess === undefined ? [] : (['networkAccess'] as const)),
      ...(line.model === undefined && agent?.binding === undefined ? [] : (['model'] as const)),
    ],
    onlyReads: reading !== undefined,
    resume: line.resume,
    approval: { policy: approvalWithin(policy, line.approvalPolicy, 'on-request'), ttlSeconds },
    limitUsd: leastOf(policy, 'sessionUsd', config.budget.sessionUsd),
    priced: Object.entries(config.models).flatMap(([id, { price }]) => (price === undefined ? [] : [id])),
    plainHttp: config.plainHttp ?? [],
    networkAccess: ofSession === 'dev' ? (line.networkAccess ?? 'deny') : 'deny',
    planMode: model.flags['plan-mode'] === 'true',
    goal: line.goal,
    goalBudget: toAmounts(config.goal, policy),
    policy,
    hooks: { hooks: [...(user === undefined ? [] : readUserHooks(user)), ...config.hooks], tree },
    mcp: [...config.mcp.values(), ...own.filter(({ name }) => !config.mcp.has(name))],
  };
}

/** The model of the thread that is resumed, unless the line names another provider. */
async function recordedModel(
  { resume, provider }: CodeLine,
  repository: Repository,
): Promise<RecordedModel | undefined> {
  const recorded = resume === undefined ? undefined : await readRecordedModel(repository, resume);
  return provider === undefined || provider === recorded?.provider ? recorded : undefined;
}

/** What a profile makes of a session that it only reads in; `undefined` for one that may write. */
function readingContext({ context, tools }: AgentProfile): SessionContext | undefined {
  if (context === 'review' || context === 'research') return context;
  return tools === 'read' ? 'research' : undefined;
}

/** Of the policy, never of the working tree: a model writes there. */
async function configured(
  repository: Repository,
): Promise<{ readonly config: WritConfig; readonly tree: string }> {
  const { tree } = await resolveBase(repository, 'HEAD');
  const bytes = await readBlob(repository, tree, '.writ/config.toml');
  return { config: parseConfig(bytes, sealingForms), tree };
}

function toAmounts(
  { maxTokens, maxCostUsd, maxSeconds }: WritConfig['goal'],
  policy: SessionPolicy,
): SessionOptions['goalBudget'] {
  return {
    tokens: leastOf(policy, 'goalTokens', maxTokens),
    costUsd: leastOf(policy, 'goalCostUsd', maxCostUsd),
    workMs: leastOf(policy, 'goalSeconds', maxSeconds) * 1000,
  };
}

/** Default of `--browser-control`: `loopback` for Codex in web mode on a local address, otherwise `off`. */
function usualBrowserControl({ mode, web }: CodeLine, provider: string): SessionOptions['browserControl'] {
  const isLocal = parseLoopbackAddress(web.host) !== undefined;
  return mode === 'web' && provider === 'codex' && isLocal ? 'loopback' : 'off';
}

function tell(
  { options, print }: Pick<CommandContext, 'options' | 'print'>,
  { mode, context, control, model, networkAccess }: CodeLine,
  agent: AgentProfile | undefined,
  ofSession: SessionContext,
): void {
  if (agent !== undefined) {
    const { name, tier, binding } = agent;
    const asks = binding === undefined ? '' : `, asks ${binding.model} of ${binding.provider}`;
    print.note(`agent ${name} (${tier})${asks}`);
    if (binding !== undefined && (model !== undefined || options.value('provider') !== undefined))
      print.note('`--provider` and `--model` do not count: the agent profile binds a model');
  }
  if (context === 'dev' && ofSession !== 'dev')
    print.note(`\`--context dev\` does not count: the agent profile is for ${ofSession}`);
  if (ofSession !== 'dev' && networkAccess === 'allow')
    print.note('`--network-access allow` does not count: this session only reads');
  if (control.tokenFile !== undefined && control.mode === 'observe')
    print.note('`--control-token-file` does not count without `--control write`');
  if (mode !== 'stdio') return;
  for (const [names, why] of ofServing)
    for (const name of names)
      if (options.value(name) !== undefined)
        print.note(`\`--${name}\` does not count with \`--stdio\`: ${why}`);
}

/** Options without effect under `--stdio`, with the reason. */
const ofServing = [
  [['port', 'host', 'mcp-port', 'control-info-file'], 'nothing is served'],
  [['provider', 'model', 'temperature', 'api-base', 'record'], 'no model is asked'],
] as const;

/**
 * `writ code --stdio`: serves one MCP client over stdin and stdout until it closes either; exit 0.
 *
 * Stdout carries only the protocol, one message per line. U+2028 is escaped for clients that split lines there. It
 * runs without a model or a controller; prompts go to the client's own user.
 */
async function serveStdio(
  { print, signal, stdin }: Pick<CommandContext, 'print' | 'signal' | 'stdin'>,
  ground: McpGround,
): Promise<CommandResult> {
  const { serveMcpStdio } = await import('../../session/mcp/serve-mcp-stdio.ts');
  const unread = new AbortController();
  const write = (line: string): void => {
    print.raw(escapeJson(line));
    void print.taken().then((isRead) => isRead || unread.abort());
  };
  await serveMcpStdio(ground, { input: stdin, write, signal: AbortSignal.any([signal, unread.signal]) });
  return succeeded({}, () => {});
}

/** `writ code --acp`: an editor opens sessions over stdin and stdout, each from this command line at its own place. */
async function serveEditor(context: CommandContext, line: CodeLine, log: SessionLog): Promise<CommandResult> {
  const { print, signal, stdin, env } = context;
  const { serveAcp } = await import('../../session/acp/serve-acp.ts');
  const commandsOf = async (repository: Repository) =>
    [...(await findFileCommands(repository, userConfigDir(env))).values()].map(({ name, description }) => ({
      name,
      description,
      input: { hint: 'TEXT' },
    }));
  await serveAcp(
    {
      version: readVersion(),
      cwd: line.workingDir,
      open: ({ cwd, resume }, whileOpen) =>
        serveLine(context, { ...line, workingDir: cwd, resume }, log, {
          async alone(session, repository) {
            await whileOpen({ session, root: repository.root, commands: await commandsOf(repository) });
            return succeeded({}, () => {});
          },
        }),
      async threads(cwd, page) {
        const repository = await openRepository(cwd);
        return { ...(await listThreads(repository, page)), root: repository.root };
      },
      note: (text) => print.note(text),
    },
    {
      input: stdin,
      write(text) {
        print.raw(escapeJson(text));
        return print.taken();
      },
      signal,
    },
  );
  return succeeded({}, () => {});
}

/** `writ code` without a screen: for an editor, for one answer, or served until the signal ends it. */
export async function codeServed(
  context: CommandContext,
  line: CodeLine,
  log: SessionLog,
): Promise<CommandResult> {
  const { print, signal, json } = context;
  if (line.mode === 'acp') return serveEditor(context, line, log);
  if (line.mode === 'print')
    return serveLine(context, line, log, {
      alone: async (session) => {
        const { printSession } = await import('./print-session.ts');
        return printSession(context, line, session);
      },
    });
  return serveLine(context, line, log, {
    async served({ served: { threadId, baseUrl }, data }) {
      if (json) print.raw(toEnvelope('code', { data }, true));
      else print.line(`serving thread ${threadId} on ${baseUrl}, Ctrl+C ends it`);
      if (!signal.aborted) await once(signal, 'abort');
    },
  });
}
