/* Serves a session over HTTP. */
import type { McpState } from '../../agent/mcp/mcp-tools.ts';
import { compact } from '../../api/envelope.ts';
import type { Clock } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { startLoopbackServer } from '../../http/loopback-server.ts';
import { ignoreDirectory, openPrivateDirectory } from '../../http/private-files.ts';
import type { Route } from '../../http/send-answer.ts';
import {
  goalRoutes,
  graphRoutes,
  guardStatus,
  type ReadGraph,
  sessionRoutes,
  taskRoutes,
  threadRoutes,
  transcriptRoutes,
} from '../api/session-routes.ts';
import { openWriteDoor, type SessionApi } from '../api/write-door.ts';
import { openLocalDoor } from '../client/local-door.ts';
import { type ControlPlace, findControlPlace, openControl } from '../client/open-control.ts';
import type { McpHttp } from '../mcp/serve-mcp-http.ts';
import { type McpApproval, type McpGround, questionLines } from '../mcp/tool.ts';
import type { SessionLog } from '../open-log.ts';
import type { OpenSession } from '../open-session.ts';
import type { Diagnostics, ListedModel, SessionDoor } from '../screen/session-door.ts';
import { requireApart, type SelfTest, type SelfTester } from '../self-test.ts';
import type { SessionOptions } from '../session-options.ts';
import type { Happened } from '../state/fact.ts';
import { toSnapshot } from '../state/snapshot.ts';
import { pendingOf, type SessionState } from '../state/state.ts';
import type { ThreadList } from '../thread/check-threads.ts';
import type { ThreadPage } from '../thread/thread-index.ts';
import { pageRoutes, remoteNotice } from './pages.ts';

export interface ServeSetting {
  readonly options: Pick<
    SessionOptions,
    'web' | 'mcpPort' | 'replaceable' | 'control' | 'workingDir' | 'networkAccess'
  >;
  /** Where else is what a command may not see: threads, keys. */
  readonly statePaths: readonly string[];
  /** Root of the work tree: control files are below it. */
  readonly root: string;
  /** Opens the session, once everything that can refuse its server has not. */
  readonly open: () => Promise<OpenSession>;
  readonly about: Omit<DiagnosticsFacts, 'ports'>;
  /** Of this program, and the commit that it was made of. */
  readonly version: string;
  readonly commit: string;
  readonly clock: Clock;
  readonly log: SessionLog;
  /** An internal fault; the client gets no details of it. */
  readonly report: (fault: unknown) => void;
  /** AGENT_UNKNOWN. */
  readonly requireAgent: (name: string) => void;
  readonly threads: (page: ThreadPage) => Promise<ThreadList>;
  readonly graph: ReadGraph;
  /** Must pass before a session with an open network is served. */
  readonly selfTest: SelfTester;
  /** What MCP clients are answered from. */
  readonly mcp: McpGround;
}

export interface ServedSession extends AsyncDisposable {
  /** `http://127.0.0.1:1234`, without a final slash. */
  readonly baseUrl: string;
  /** `http://127.0.0.1:6789/mcp`. */
  readonly mcpUrl: string;
  readonly mcpTokenFile: string;
  readonly threadId: string;
  readonly session: OpenSession;
  /** For a screen in this process. */
  readonly door: SessionDoor;
  /** The discovery file; absent if there is none. */
  readonly infoFile: string | undefined;
  /** Absent where no program may steer it. */
  readonly tokenFile: string | undefined;
}

interface Ports {
  web: number;
  mcp?: number;
}

/** Octets of a request body. */
const maxBodyBytes = 256 * 1024;
const withinMs = 10_000;
const maxDepth = 64;
const answersEndWithinMs = 400;

/**
 * Serves a session. Each step needs those before it and is undone in reverse, whether a later one fails or the session
 * ends: control files, server, session, MCP, discovery file. CONTROL_INSTANCE_CONFLICT, PRIVATE_FILE_UNSAFE,
 * PORT_UNAVAILABLE, and what opening the session refuses.
 */
export async function serveSession(setting: ServeSetting): Promise<ServedSession> {
  const { options, root, clock, log, report, version, commit } = setting;
  const { web, control: asked, workingDir } = options;
  const undo: (() => unknown)[] = [];
  const unwind = async (): Promise<void> => {
    for (let step = undo.pop(); step !== undefined; step = undo.pop())
      await Promise.resolve().then(step).catch(report);
  };
  try {
    const { tokenFile, infoFile } = asked;
    const place = await findControlPlace(root, compact({ tokenFile, infoFile }));
    const control = await openControl({ mode: asked.mode, place, workingDir, clock });
    undo.push(() => control[Symbol.asyncDispose]());
    let session: OpenSession | undefined;
    const ports: Ports = { web: web.port };
    const server = await startLoopbackServer({
      host: web.host,
      port: web.port,
      elseFree: options.replaceable?.includes('web') ?? false,
      notice: remoteNotice({ bind: web.host, version, commit }),
      body: { maxBytes: maxBodyBytes, withinMs, maxDepth },
      headersWithinMs: withinMs,
      report: (fault) => {
        log.tell('error', 'http', 'a fault of the server', {
          code: isWritError(fault) ? fault.code : 'INTERNAL',
        });
        report(fault);
      },
      routes: routesOf(setting, () => session, control.token, ports),
    });
    undo.push(() => server.close(answersEndWithinMs));
    const { baseUrl } = server;
    ports.web = portOf(baseUrl);
    log.tell('info', 'http', 'listening', { baseUrl, bind: web.host });
    // A port in use is reported before a thread is created; clients are disconnected before their session ends.
    const mcp = await serveMcp(setting, place, () => session);
    undo.push(mcp.close);
    ports.mcp = portOf(mcp.mcpUrl);
    const opened = await setting.open();
    undo.push(() => opened[Symbol.asyncDispose]());
    undo.push(logSession(opened, log));
    session = opened;
    undo.push(() => {
      session = undefined;
    });
    undo.push(mcp.close);
    log.tell('info', 'mcp', 'listening', { mcpUrl: mcp.mcpUrl });
    setting.selfTest.serve({
      ports: [ports.web, ports.mcp],
      paths: [place.directory, place.token, ...setting.statePaths],
    });
    if (options.networkAccess === 'allow') requireApart('allow', await setting.selfTest.result());
    await control.publish({ baseUrl, mcpUrl: mcp.mcpUrl, threadId: opened.threadId });
    return {
      baseUrl,
      mcpUrl: mcp.mcpUrl,
      mcpTokenFile: mcp.tokenFile,
      threadId: opened.threadId,
      session: opened,
      door: openLocalDoor(opened, {
        threads: setting.threads,
        async diagnostics() {
          await opened.catchUp();
          return readDiagnostics(() => opened.channel.state, { ...setting.about, ports: () => ports });
        },
      }),
      infoFile: asked.mode === 'write' || place.isInfoNamed ? place.info : undefined,
      tokenFile: control.token === undefined ? undefined : place.token,
      [Symbol.asyncDispose]: unwind,
    };
  } catch (fault) {
    await unwind();
    throw fault;
  }
}

/** Every route of a session. The write routes share one entry point. */
function routesOf(
  { about, clock, requireAgent, threads, graph }: ServeSetting,
  session: () => OpenSession | undefined,
  controlToken: string | undefined,
  ports: Ports,
): readonly Route[] {
  const api: SessionApi = {
    channel: () => session()?.channel,
    grants: () => session()?.grants,
    uploads: () => session()?.uploads,
    clock,
    ...(controlToken === undefined ? {} : { controlToken }),
  };
  const door = openWriteDoor(api);
  return [
    ...pageRoutes,
    ...sessionRoutes(api, door),
    ...taskRoutes(door, requireAgent),
    ...goalRoutes(door),
    ...threadRoutes(threads),
    ...transcriptRoutes(door, async (ask) => {
      const opened = session();
      if (opened === undefined) throw new WritError('CODE_UI_UNAVAILABLE');
      return opened.transcript.page(ask);
    }),
    ...graphRoutes(door, graph),
    diagnosticsRoute(
      () => session()?.channel.state,
      { ...about, ports: () => ports },
      async () => session()?.catchUp(),
    ),
  ];
}

/**
 * Serves MCP over HTTP on the loopback; its token is a file beside the control files. Until the session is open,
 * changes are refused.
 */
async function serveMcp(
  { options, mcp, report }: ServeSetting,
  place: ControlPlace,
  session: () => OpenSession | undefined,
): Promise<McpHttp> {
  const { serveMcpHttp } = await import('../mcp/serve-mcp-http.ts');
  await ignoreDirectory(await openPrivateDirectory(place.root, place.segments));
  const host = options.web.host.includes(':') ? '::1' : '127.0.0.1';
  const askController: NonNullable<McpApproval['askController']> = async (question, signal) =>
    (await session()?.allow({ argv: question.argv, lines: questionLines(question) }, signal)) ?? 'nobody';
  const ground = {
    ...mcp,
    approval: { ...mcp.approval, askController },
    // A person may change it while the session lasts.
    readsOnly: () => session()?.channel.state.settings.context !== 'dev',
  };
  const served = await serveMcpHttp(ground, {
    host,
    port: options.mcpPort,
    elseFree: options.replaceable?.includes('mcp') ?? false,
    directory: place.directory,
    report,
  });
  let closed: Promise<void> | undefined;
  return {
    ...served,
    close() {
      closed ??= served.close();
      return closed;
    },
  };
}

/** A `URL` leaves 80 out. */
function portOf(url: string): number {
  return Number(/:(\d+)(?:\/|$)/.exec(url)?.[1]);
}

/** `GET /api/code/diagnostics`: redacted. The session first records how its last run ended in another process. */
export function diagnosticsRoute(
  state: () => SessionState | undefined,
  facts: DiagnosticsFacts,
  catchUp: () => Promise<void> = async () => {},
): Route {
  const required = (): SessionState => {
    const now = state();
    if (now === undefined) throw new WritError('CODE_UI_UNAVAILABLE');
    return now;
  };
  return {
    method: 'GET',
    path: '/api/code/diagnostics',
    answer() {
      required();
      return guardStatus(async () => {
        await catchUp();
        return readDiagnostics(required, facts);
      });
    },
  };
}

/** Logs the kinds and ids of facts, never their text. Returns a function that stops it. */
function logSession({ channel, threadId }: OpenSession, log: SessionLog): () => void {
  log.tell('info', 'session', 'open', { threadId });
  const stop = channel.subscribe((state, facts) => {
    for (const fact of facts)
      if (fact.type !== 'replying')
        log.tell('debug', 'session', fact.type, { ...idsOf(fact), status: state.status });
  });
  return () => {
    stop();
    log.tell('info', 'session', 'closed', { threadId });
  };
}

function idsOf(fact: Happened): Readonly<Record<string, string | undefined>> {
  switch (fact.type) {
    case 'tool':
      return { id: fact.id, tool: fact.toolName, state: fact.status };
    case 'asked':
      return { id: fact.interaction.id, kind: fact.interaction.kind };
    case 'turn-ended':
      return { turn: fact.turn, end: fact.end };
    case 'attached':
      return { kind: fact.lease.kind };
    default:
      return 'id' in fact ? { id: fact.id } : {};
  }
}

/** What a session runs on, without anything secret. */
export interface DiagnosticsFacts {
  readonly provider: string;
  /** Where the key of the provider was found, never the key; absent where it needs none. */
  readonly key: { readonly name: string; readonly source: string } | undefined;
  readonly models?: readonly ListedModel[];
  readonly logFile: string | undefined;
  /** Back end that commands run in, and what it holds when it is tried out. */
  readonly sandbox: () => Promise<{ readonly backend: string; readonly enforced: readonly string[] }>;
  readonly approvalPolicy?: Diagnostics['approvalPolicy'];
  readonly mcp?: () => Promise<{
    readonly servers: readonly McpState[];
    readonly uncommitted: readonly string[];
  }>;
  readonly policy?: Diagnostics['policy'];
  readonly hooks?: Diagnostics['hooks'];
  /** Whether a command could approve itself. */
  readonly selfTest: () => Promise<SelfTest>;
  readonly ports: () => { readonly web: number; readonly mcp?: number };
}

/** Diagnostics of the current state, redacted. */
export async function readDiagnostics(
  state: () => SessionState,
  facts: DiagnosticsFacts,
): Promise<Diagnostics & Readonly<Record<string, unknown>>> {
  const [sandbox, { isTried, reached }, { servers: mcp = [], uncommitted = [] } = {}] = await Promise.all([
    facts.sandbox(),
    facts.selfTest(),
    facts.mcp?.(),
  ]);
  const now = state();
  const { provider, key, logFile, models = [], approvalPolicy, policy = [], hooks = [] } = facts;
  const { controller, provider: asked } = toSnapshot(now);
  const [pending] = pendingOf(now);
  const lastError = lastErrorOf(now);
  return {
    pid: process.pid,
    provider,
    ...compact({ model: asked.model, key }),
    threadId: now.ground.threadId,
    status: now.status,
    controller,
    attachable: now.ground.attachable,
    ports: facts.ports(),
    ...(models.length === 0 ? {} : { models }),
    ...compact({ approvalPolicy }),
    ...(mcp.length === 0 ? {} : { mcp }),
    ...(uncommitted.length === 0 ? {} : { mcpUncommitted: uncommitted }),
    ...(policy.length === 0 ? {} : { policy }),
    ...(hooks.length === 0 ? {} : { hooks }),
    sandbox: {
      ...sandbox,
      selfApproval: isTried ? (reached.length > 0 ? 'possible' : 'impossible') : 'not_tried',
    },
    ...(logFile === undefined ? {} : { logFile }),
    ...(pending === undefined ? {} : { activeInteractionId: pending.id }),
    ...(lastError === undefined ? {} : { lastError }),
  };
}

/** Only the error's code: its message can contain text of a provider or a command. */
function lastErrorOf({ status, transcript }: SessionState): string | undefined {
  if (status !== 'error') return undefined;
  const content = transcript.findLast(({ kind }) => kind === 'info_note')?.content ?? '';
  return /^([A-Z][A-Z0-9_]{2,60})(?::|$)/.exec(content)?.[1] ?? 'TURN_FAILED';
}
