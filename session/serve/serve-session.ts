import type { ServerResponse } from 'node:http';
import type { Clock } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { startLoopbackServer } from '../../http/loopback-server.ts';
import { ignoreDirectory, openPrivateDirectory } from '../../http/private-files.ts';
import { answerHeaders, type Route } from '../../http/send-answer.ts';
import { goalRoutes } from '../api/goal-routes.ts';
import { graphRoutes, type ReadGraph } from '../api/graph-routes.ts';
import { sessionRoutes } from '../api/session-routes.ts';
import { taskRoutes } from '../api/task-routes.ts';
import { tellStatus } from '../api/tell-status.ts';
import { threadRoutes } from '../api/thread-routes.ts';
import { transcriptRoutes } from '../api/transcript-routes.ts';
import { openWriteDoor, type SessionApi } from '../api/write-door.ts';
import { openLocalDoor } from '../client/local-door.ts';
import { type ControlPlace, findControlPlace } from '../control/control-place.ts';
import { openControl } from '../control/open-control.ts';
import type { SessionLog } from '../log/open-log.ts';
import type { McpApproval, McpGround } from '../mcp/mcp-ground.ts';
import { questionLines } from '../mcp/question-lines.ts';
import type { McpHttp } from '../mcp/serve-mcp-http.ts';
import type { OpenSession } from '../open-session.ts';
import type { SessionOptions } from '../options/session-options.ts';
import type { SessionDoor } from '../screen/session-door.ts';
import type { SelfTester } from '../self-test/self-tester.ts';
import { requireApart, type SelfTest } from '../self-test/try-to-approve.ts';
import type { Happened } from '../state/fact.ts';
import { toSnapshot } from '../state/snapshot.ts';
import { pendingOf, type SessionState } from '../state/state.ts';
import type { ThreadList } from '../thread/list-threads.ts';
import type { ThreadPage } from '../thread/thread-index.ts';
import { remoteNotice } from './remote-notice.ts';

export interface ServeSetting {
  readonly options: Pick<SessionOptions, 'web' | 'mcpPort' | 'control' | 'workingDir' | 'networkAccess'>;
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
  /** A fault of ours, that the client is not told. */
  readonly report: (fault: unknown) => void;
  /** AGENT_UNKNOWN where nobody of that name can be called. */
  readonly requireAgent: (name: string) => void;
  readonly threads: (page: ThreadPage) => Promise<ThreadList>;
  readonly graph: ReadGraph;
  /** Tells it where approvals come from, and asks it before a session that opens the network is served. */
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
  /** Where others find it; absent where no such file was asked for. */
  readonly infoFile: string | undefined;
  /** Absent where no program may steer it. */
  readonly tokenFile: string | undefined;
}

interface Ports {
  web: number;
  mcp?: number;
}

/** Octets of a write (document 2, Limits). */
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
    const place = await findControlPlace(root, {
      ...(asked.tokenFile === undefined ? {} : { tokenFile: asked.tokenFile }),
      ...(asked.infoFile === undefined ? {} : { infoFile: asked.infoFile }),
    });
    const control = await openControl({ mode: asked.mode, place, workingDir, clock });
    undo.push(() => control[Symbol.asyncDispose]());
    let session: OpenSession | undefined;
    const ports: Ports = { web: web.port };
    const server = await startLoopbackServer({
      host: web.host,
      port: web.port,
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
    // A port that is taken is told before a thread is begun; clients are let go of before their session ends.
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
        diagnostics: () =>
          readDiagnostics(() => opened.channel.state, { ...setting.about, ports: () => ports }),
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

/** Every route of a session, behind one door for those that write. */
function routesOf(
  { about, clock, requireAgent, threads, graph }: ServeSetting,
  session: () => OpenSession | undefined,
  controlToken: string | undefined,
  ports: Ports,
): readonly Route[] {
  const api: SessionApi = {
    channel: () => session()?.channel,
    grants: () => session()?.grants,
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
    diagnosticsRoute(() => session()?.channel.state, { ...about, ports: () => ports }),
  ];
}

/**
 * MCP over HTTP, on the loopback whatever the web server listens on; its token is a file beside the control files.
 * Until there is a session nothing is changed. Closed once, however often it is asked to.
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

/** `GET /api/code/diagnostics` (resolutions B, Controllers): read only, redacted. */
export function diagnosticsRoute(state: () => SessionState | undefined, facts: DiagnosticsFacts): Route {
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
      return tellStatus(() => readDiagnostics(required, facts));
    },
  };
}

/** Writes down what happens in a session, by kind and id: nothing that anybody said. Answers how to stop that. */
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
  readonly logFile: string | undefined;
  /** Back end that commands run in, and what it holds when it is tried out. */
  readonly sandbox: () => Promise<{ readonly backend: string; readonly enforced: readonly string[] }>;
  /** Whether a command could approve itself. */
  readonly selfTest: () => Promise<SelfTest>;
  readonly ports: () => { readonly web: number; readonly mcp?: number };
}

/** What diagnostics tell of a session as it is when that is known: redacted, nothing that anybody said. */
export async function readDiagnostics(state: () => SessionState, facts: DiagnosticsFacts) {
  const [sandbox, { isTried, reached }] = await Promise.all([facts.sandbox(), facts.selfTest()]);
  const now = state();
  const { provider, key, logFile } = facts;
  const { controller, provider: asked } = toSnapshot(now);
  const [pending] = pendingOf(now);
  const lastError = lastErrorOf(now);
  return {
    pid: process.pid,
    provider,
    ...(asked.model === undefined ? {} : { model: asked.model }),
    ...(key === undefined ? {} : { key }),
    threadId: now.ground.threadId,
    status: now.status,
    controller,
    attachable: now.ground.attachable,
    ports: facts.ports(),
    sandbox: {
      ...sandbox,
      selfApproval: isTried ? (reached.length > 0 ? 'possible' : 'impossible') : 'not_tried',
    },
    ...(logFile === undefined ? {} : { logFile }),
    ...(pending === undefined ? {} : { activeInteractionId: pending.id }),
    ...(lastError === undefined ? {} : { lastError }),
  };
}

/** Its code alone: a sentence can hold what a provider or a command said. */
function lastErrorOf({ status, transcript }: SessionState): string | undefined {
  if (status !== 'error') return undefined;
  const content = transcript.findLast(({ kind }) => kind === 'info_note')?.content ?? '';
  return /^([A-Z][A-Z0-9_]{2,60})(?::|$)/.exec(content)?.[1] ?? 'TURN_FAILED';
}

/** Of the page and its files: nothing from elsewhere, nothing inline, nothing framed, no markup out of text. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const headers: Readonly<Record<string, string>> = {
  ...answerHeaders,
  'content-security-policy': policy,
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

const forEver = 'public, max-age=31536000, immutable';

/**
 * The page of a session and its files (document 2, What the service does). They are read when a browser first asks:
 * whoever only speaks to the API pays nothing for them. A name that is none is NOT_FOUND.
 */
const pageRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/',
    isPage: true,
    answer: async ({ response }) => {
      const { pageDocument } = await load();
      send(response, pageDocument, { 'content-type': 'text/html; charset=utf-8' });
    },
  },
  {
    method: 'GET',
    path: '/assets/:name',
    isPage: true,
    answer: async ({ response, params: { name } }) => {
      const { assets } = await load();
      const asset = assets.find((one) => one.name === name);
      if (asset === undefined) throw new WritError('NOT_FOUND');
      const { contentType, sha256, text } = asset;
      send(response, text, {
        'content-type': contentType,
        'cache-control': forEver,
        etag: `"${sha256}"`,
      });
    },
  },
];

const load = (): Promise<typeof import('../web/assets.gen.ts')> => import('../web/assets.gen.ts');

function send(response: ServerResponse, text: string, more: Readonly<Record<string, string>>): void {
  const body = Buffer.from(text);
  response.writeHead(200, { ...headers, ...more, 'content-length': body.length }).end(body);
}
