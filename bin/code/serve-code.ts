/* Opens and serves a session of `writ code` for its clients. */

import { join } from 'node:path';
import { formatModelChoice } from '../../agent/instructions.ts';
import { aboutServer, type McpState } from '../../agent/mcp/mcp-tools.ts';
import type { McpServer } from '../../agent/mcp/start-server.ts';
import { codexWorker, workerOf } from '../../agent/plugin.ts';
import { readCommit, readVersion } from '../../api/build.ts';
import { compact } from '../../api/envelope.ts';
import { draftTarget } from '../../api/intent/read-project.ts';
import type { JsonData } from '../../api/schemas/shape.ts';
import { userConfigDir } from '../../attest/keys/user-config-dir.ts';
import { userJournalWitness } from '../../attest/signer/user-journal-witness.ts';
import { sha256Hex } from '../../core/base/canonical.ts';
import { systemClock } from '../../core/base/clock.ts';
import { isWritError, messageOf } from '../../core/base/errors.ts';
import type { ModelChoice } from '../../core/interfaces/worker.ts';
import { uncommittedMcp } from '../../engine/config/mcp-section.ts';
import { mcpRefusal, policyLimits, requireModelAllowed } from '../../engine/config/session-policy.ts';
import { builtInProviders } from '../../providers/built-in-providers.ts';
import { listedModels } from '../../providers/model-table.ts';
import { maskValues } from '../../providers/wire/traffic-file.ts';
import type { AgentProfile } from '../../session/agents.ts';
import type { ReadGraph } from '../../session/api/session-routes.ts';
import { keepGrants } from '../../session/approvals/grants.ts';
import { hookName } from '../../session/hooks.ts';
import type { SessionLog } from '../../session/open-log.ts';
import { type OpenSession, openSession, type SessionSetting } from '../../session/open-session.ts';
import { openSelfTester, requireApart, type SelfTester } from '../../session/self-test.ts';
import { type ServedSession, serveSession } from '../../session/serve/serve-session.ts';
import { type SessionOptions, sessionInstructions } from '../../session/session-options.ts';
import { stoppedRun } from '../../session/state/restored-state.ts';
import { allCapabilities } from '../../session/state/snapshot.ts';
import { listThreads } from '../../session/thread/check-threads.ts';
import type { ChosenModel } from '../../session/work/turn-scope.ts';
import { type RunWatcher, watchRuns } from '../../session/work/watch-runs.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import type { Place } from '../../store/stores.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { pickSandbox } from '../../workspace/process/version-control.ts';
import { toShellWord } from '../../workspace/shell/quote.ts';
import { localChangesGiven } from '../command-parts/change-source.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { openEngine, openMcpAccess, openPluginAccess } from '../command-parts/engine.ts';
import { broughtProviders, chooseModel } from '../command-parts/providers.ts';
import type { Reaching } from '../command-parts/reach-provider.ts';
import { serviceProgressPlugin } from '../terminal/run-progress.ts';
import { agentAt, mcpEnvironment } from './agent-at.ts';
import { boundModel, type CodeLine } from './code-line.ts';
import { type FoundModel, findModel } from './find-model.ts';

/** What is known before a session is opened. */
interface CodeParts {
  readonly line: CodeLine;
  readonly log: SessionLog;
  readonly repository: Repository;
  readonly reaching: Reaching;
  readonly options: SessionOptions;
}

/** A served session and its JSON description for programs. */
interface ServedCode {
  readonly served: ServedSession;
  readonly repository: Repository;
  readonly data: JsonData;
  /** Masks secrets in text. */
  readonly mask: (text: string) => string;
}

/** What is done with a session while it is served; it ends when that has settled. */
export type WhileServed = (opened: ServedCode) => Promise<void>;

/** The same with a session that no server is behind. */
export type WhileAlone = (session: OpenSession, repository: Repository) => Promise<CommandResult>;

export type WhileOpen = { readonly served: WhileServed } | { readonly alone: WhileAlone };

/** Opens a session while `whileOpen` runs, with a server or without one. A goal of the command line starts at once. */
export async function serveCode(
  context: CommandContext,
  { line, log, repository, reaching, options }: CodeParts,
  whileOpen: WhileOpen,
): Promise<CommandResult> {
  const { print, signal } = context;
  const watcher = watchRuns(systemClock);
  await using engine = await openEngine(context, {
    ephemeralKey: context.options.flag('ephemeral-key'),
    plugins: [watcher.plugin, serviceProgressPlugin(repository.root)],
  });
  const isBrought = async (): Promise<boolean> =>
    (await broughtProviders(context, engine.slots.provider.names)).some(
      ({ name }) => name === options.model.provider,
    );
  const found = await findModel(engine, options.model, reaching, isBrought, options);
  const selfTest = openSelfTester(context.options.value('sandbox') ?? 'auto', engine.slots.sandbox, signal);
  const mcp = new Map(options.mcp.map((one) => [one.name, beforeStart(one, options)]));
  const mcpTold = (state: McpState): void => void mcp.set(state.server, state);
  const parts = { options, engine, watcher, reaching, repository, found, selfTest, log, mcpTold };
  const setting = await sessionSetting(context, parts);
  const statePaths = [join(repository.commonDir, 'writ'), userConfigDir(context.env)];
  if ('alone' in whileOpen) {
    selfTest.serve({ ports: [], paths: statePaths });
    if (options.networkAccess === 'allow') requireApart('allow', await selfTest.result());
    await using session = await openSession(setting);
    const result = await whileOpen.alone(session, repository);
    reaching.finish();
    return result;
  }
  const served = await serveSession({
    options,
    root: repository.root,
    open: () => openSession(setting),
    about: {
      provider: options.model.provider,
      key: found.key,
      models: listedModels(),
      logFile: log.file,
      sandbox: sandboxFacts(engine, setting.sandbox),
      approvalPolicy: options.approval.policy,
      mcp: async () => ({
        servers: await mcpStates(context, mcp, options),
        uncommitted: await uncommittedMcp(repository.root),
      }),
      policy: policyLimits(options.policy),
      hooks: options.hooks.hooks.map(hookName),
      selfTest: selfTest.result,
    },
    selfTest,
    statePaths,
    threads: (page) => listThreads(repository, page),
    graph: readGraph(context),
    requireAgent: (name) => void agentAt(context, repository, name),
    version: readVersion(),
    commit: await readCommit(),
    mcp: mcpEnvironment(context, options, repository),
    clock: systemClock,
    log,
    report: (fault) => print.complain(`writ: INTERNAL_ERROR: ${messageOf(fault)}`),
  });
  const data = {
    pid: process.pid,
    base_url: served.baseUrl,
    mcp_url: served.mcpUrl,
    mcp_token_file: served.mcpTokenFile,
    thread_id: served.threadId,
    working_dir: options.workingDir,
    provider: options.model.provider,
    ...(found.model === undefined ? {} : { model: found.model }),
    ...(served.tokenFile === undefined ? {} : { token_file: served.tokenFile }),
    ...(served.infoFile === undefined ? {} : { info_file: served.infoFile }),
  };
  let stopped: string | undefined;
  try {
    if (options.goal !== undefined) await beginGoal(served.session, options.goal);
    if (line.text !== undefined) await served.door.submit(line.text);
    await whileOpen.served({ served, repository, data, mask: setting.approval.mask });
  } finally {
    stopped = stoppedRun(served.session.channel.state);
    await served[Symbol.asyncDispose]();
  }
  reaching.finish();
  return succeeded(data, (printer) => {
    if (line.mode === 'terminal') printer.line(resumeLine(context, line, served.threadId));
    printer.line(graphLine(context, line, served.threadId));
    if (stopped !== undefined) printer.line(`writ resume ${stopped}`);
  });
}

/** The line that shows the thread from the directory in which the session was started. */
export function graphLine(
  { cwd }: Pick<CommandContext, 'cwd'>,
  { workingDir }: Pick<CodeLine, 'workingDir'>,
  threadId: string,
): string {
  return `writ graph ${threadId}${workingDir === cwd ? '' : ` --repo ${toShellWord(workingDir)}`}`;
}

/** Options that a thread does not record and without which it may not find its model. They name files: no secrets. */
const repeated = ['codex-bin', 'env-file'] as const;

/** The line that resumes the thread from the directory in which this one was started. */
export function resumeLine(
  { cwd, options }: Pick<CommandContext, 'cwd' | 'options'>,
  { workingDir }: Pick<CodeLine, 'workingDir'>,
  threadId: string,
): string {
  const place = workingDir === cwd ? '' : ` --cwd ${toShellWord(workingDir)}`;
  const files = repeated.flatMap((name) => {
    const value = options.value(name);
    return value === undefined ? [] : [` --${name} ${toShellWord(value)}`];
  });
  return `writ code${place}${files.join('')} --resume ${threadId}`;
}

/**
 * Begins the goal of `--goal`, as `/goal start` does: one that is blocked and has the same words goes on. A thread that
 * pursues it already does so, and waits for an answer. What `/goal start` would refuse is thrown.
 */
export async function beginGoal({ channel }: Pick<OpenSession, 'channel'>, objective: string): Promise<void> {
  const { goal } = channel.state;
  if (goal?.status === 'active' && goal.objective === objective) return;
  await channel.send({ type: 'goal-start', objective, criteria: [], proof: { from: 'local' } });
}

/** What is known of an MCP server before a turn starts it. */
function beforeStart(server: McpServer, { policy }: Pick<SessionOptions, 'policy'>): McpState {
  const why = mcpRefusal(policy, server.name);
  const state = why === undefined ? 'not_started' : 'refused';
  return { ...aboutServer(server), state, ...compact({ why }), tools: [] };
}

/** The servers as the last turn left them, with those that the user has added or removed since. */
async function mcpStates(
  context: CommandContext,
  known: ReadonlyMap<string, McpState>,
  options: Pick<SessionOptions, 'policy'>,
): Promise<readonly McpState[]> {
  const own = await openMcpAccess(context)
    .servers()
    .catch(() => undefined);
  const still = [...known.values()].filter(
    ({ server, from }) => from === 'policy' || own === undefined || own.some(({ name }) => name === server),
  );
  const added = (own ?? []).filter(({ name }) => !known.has(name));
  return [...still, ...added.map((one) => beforeStart(one, options))];
}

/** Returns a reader of threads at `place` as graphs. It loads its modules on first use. */
export function readGraph(place: Place): ReadGraph {
  return async (threadId) => {
    const { threadGraph } = await import('../../api/graph/thread-graph.ts');
    const { sessionThreads } = await import('../../session/thread/read-thread.ts');
    return threadGraph(place, threadId, sessionThreads);
  };
}

/**
 * Returns the sandbox backend for the session's commands, probed once. `none`, which enforces nothing, if no backend
 * works.
 */
function sandboxFacts(
  engine: WritEngine,
  name: string,
): () => Promise<{ readonly backend: string; readonly enforced: readonly string[] }> {
  let found: ReturnType<typeof look> | undefined;
  return () => {
    found ??= look(engine, name).catch((fault: unknown) => {
      // A failed probe is retried on the next call.
      found = undefined;
      throw fault;
    });
    return found;
  };
}

async function look({ slots }: WritEngine, name: string) {
  try {
    const backend = await pickSandbox(name, slots.sandbox);
    const { enforced } = await backend.probe();
    return { backend: backend.name, enforced };
  } catch (fault) {
    if (!isWritError(fault, 'SANDBOX_UNAVAILABLE')) throw fault;
    return { backend: 'none', enforced: [] };
  }
}

interface SessionParts {
  readonly options: SessionOptions;
  readonly engine: WritEngine;
  readonly watcher: RunWatcher;
  readonly reaching: Reaching;
  readonly repository: Repository;
  readonly found: FoundModel;
  readonly selfTest: SelfTester;
  readonly log: Pick<SessionLog, 'tell'>;
  readonly mcpTold: (state: McpState) => void;
}

function sourceOf(model: ModelChoice, agent: AgentProfile | undefined): ChosenModel['source'] {
  const choice = { ...planned(model), ...(agent === undefined ? {} : { profile: digestOf(agent) }) };
  return { kind: 'worker', worker: workerOf(model.provider), from: formatModelChoice(choice) };
}

/**
 * Another model, after `/model NAME` or `/model PROVIDER/NAME`. Another provider starts with its own address and
 * without flags. Behind `--api-base` a slash belongs to the name.
 */
export function otherModel(before: ModelChoice, id: string): ModelChoice {
  const [provider = '', ...name] = id.split('/');
  const isProvider =
    Object.hasOwn(builtInProviders, provider) && name.length > 0 && before.apiBase === undefined;
  if (!isProvider) return { ...before, model: id };
  if (provider === before.provider) return { ...before, model: name.join('/') };
  return { provider, model: name.join('/'), flags: {} };
}

/** The profile as the provenance of a run names it. */
function digestOf({ name, tier, instructions }: AgentProfile): NonNullable<ModelChoice['profile']> {
  return { name, tier, sha256: sha256Hex(instructions) };
}

/** The session has planned the work already, so a Codex attempt must not plan again. */
function planned(model: ModelChoice): ModelChoice {
  if (model.flags['plan-mode'] === undefined) return model;
  return { ...model, flags: { ...model.flags, 'plan-mode': 'false' } };
}

async function sessionSetting(
  context: CommandContext,
  { options, engine, watcher, reaching, repository, found, selfTest, log, mcpTold }: SessionParts,
): Promise<SessionSetting> {
  const { model, agent, resume } = options;
  const witness = userJournalWitness(context.env);
  const mask = openSessionMask([...found.secrets, ...(await reaching.secrets.known())]);
  return {
    engine,
    watcher,
    witness,
    repositoryPath: repository.root,
    target: () => draftTarget(context),
    sandbox: context.options.value('sandbox') ?? 'auto',
    selfTest,
    modelFor: ({ context: of, model: id = model.model }) => ({
      source: sourceOf(id === undefined ? model : otherModel(model, id), agent),
      instructions: sessionInstructions({ context: of, agent }),
    }),
    named: ({ provider, model, requestId }) =>
      log.tell('debug', 'provider', 'asked', { provider, model, request_id: requestId }),
    executesUnasked: model.provider === codexWorker && !options.planMode,
    clock: systemClock,
    env: context.env,
    run: {
      ...localChangesGiven(context.options),
      schedulerVersion: readVersion(),
      pluginAccess: openPluginAccess(context, reaching),
      witness,
      reach: reaching.reach,
      secrets: reaching.secrets,
      search: reaching.search,
      mcp: openMcpAccess(context, mcpTold),
      userDirectory: userConfigDir(context.env),
    },
    approval: {
      ...options.approval,
      grants: keepGrants(systemClock),
      mask: mask.text,
    },
    hide(value) {
      mask.hide(value);
      reaching.hide(value);
    },
    agentOf(name) {
      const called = agentAt(context, repository, name);
      const asked = chooseModel(
        context,
        boundModel(called, { ...model, model: model.model, flags: [] }),
        reaching.variable,
      );
      const from = called.binding === undefined ? model : asked;
      return {
        instructions: sessionInstructions({ context: 'research', agent: called }),
        source: sourceOf(from, called),
      };
    },
    hooks: options.hooks,
    requireModel: (id) => requireModelAllowed(options.policy, otherModel(model, id)),
    ground: sessionEnvironment(options, found),
    ...(resume === undefined ? {} : { resume }),
  };
}

/** What clients see of a session, and which of them may control it. */
export function sessionEnvironment(
  options: SessionOptions,
  { model, isPriced }: Pick<FoundModel, 'model' | 'isPriced'>,
): SessionSetting['ground'] {
  const { mode, workingDir, browserControl, control, planMode, limitUsd, priced, goalBudget } = options;
  const { context, networkAccess, named, onlyReads, policy } = options;
  const { provider, apiBase } = options.model;
  const isKnown = model !== undefined && priced.includes(model) ? true : isPriced;
  return {
    workingDir,
    provider: {
      provider,
      ...(model === undefined ? {} : { model }),
      ...(planMode ? { mode: 'plan' } : {}),
      // A program that works by itself, within what the engine lets it.
      managed: provider === codexWorker,
    },
    ...(apiBase === undefined ? {} : { apiBase }),
    // Codex cannot prompt the user; writ answers its questions with an empty reply (decision 0015).
    capabilities: { ...allCapabilities, structuredQuestions: provider !== codexWorker },
    context,
    networkAccess,
    named,
    onlyReads,
    ...(policy.length === 0 ? {} : { policy }),
    local: mode === 'terminal' ? 'tui' : mode === 'print' || mode === 'acp' ? 'cli' : 'none',
    attachable: [
      ...(browserControl === 'loopback' ? (['browser'] as const) : []),
      ...(control.mode === 'write' ? (['automation'] as const) : []),
    ],
    goalBudget,
    ...(limitUsd === undefined ? {} : { limitUsd }),
    ...(isKnown === undefined ? {} : { isPriced: isKnown }),
  };
}

/** Masks secrets in a session's text: those known when it opens, and those a user enters later. */
interface SessionMask {
  text(found: string): string;
  hide(value: string): void;
}

/** Maximum number of secrets that one session can add. */
const mostHidden = 1000;

export function openSessionMask(known: readonly string[]): SessionMask {
  let values = [...known];
  let mask = maskValues(values);
  return {
    text: (found) => mask.text(found),
    hide(value) {
      if (values.includes(value)) return;
      values = [...known, ...values.slice(known.length).slice(1 - mostHidden), value];
      mask = maskValues(values);
    },
  };
}
