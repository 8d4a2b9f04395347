/** The MCP server: tools, resources, and consent to changes. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  ProtocolError,
  ProtocolErrorCode,
  type RequestStateCodec,
  ResourceNotFoundError,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { canonicalDigest } from '../../core/base/canonical.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { randomOctets } from '../../core/base/ids.ts';
import { toJsonSchema } from '../../core/base/schema.ts';
import { listResources, readResource, resourceTemplates } from './resources.ts';
import {
  type ApprovalQuestion,
  type McpActor,
  type McpApproval,
  type McpGround,
  type McpTool,
  questionLines,
  toCallAnswer,
  toRefusalAnswer,
  toShownFault,
} from './tool.ts';
import { vcsTools, writTools } from './writ-tools.ts';

/** State shared by the servers of one process. Each connection, or each request over HTTP, has its own server. */
interface McpFamily {
  readonly open: (transport: McpActor['transport']) => Server;
  /** Calls that change something go one after the other. */
  readonly tools: readonly McpTool[];
}

interface Asked {
  readonly digest: string;
  readonly nonce: string;
}

/** Ends a call that needs an answer first. */
class Question extends Error {
  readonly question: ApprovalQuestion;
  readonly digest: string;

  constructor(question: ApprovalQuestion, digest: string) {
    super('asked');
    this.question = question;
    this.digest = digest;
  }
}

const tools = [...vcsTools, ...writTools];
const answerWithinSeconds = 300;
const approvalKey = 'approval';
const instructions =
  'Tools of writ for the repository of this session. `read_writ_vcs` and the tools that scan, plan, list, show and verify change nothing. `run_writ_vcs` can also add, commit and switch, which a person may have to allow.';

/**
 * Serves the tools and resources of writ over the Model Context Protocol, in both of its eras. An answer by
 * elicitation is signed with a key of this process and can be used once.
 */
export function openMcpFamily(ground: McpGround): McpFamily {
  const codec = createRequestStateCodec<Asked>({ key: randomOctets(32), ttlSeconds: answerWithinSeconds });
  const used: UsedAnswers = new Set();
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const taken = last.then(act);
    last = taken.catch(() => undefined);
    return taken;
  };
  return { tools, open: (transport) => openServer({ ground, codec, used, inTurn }, transport) };
}

interface Shared {
  readonly ground: McpGround;
  readonly codec: RequestStateCodec<Asked>;
  readonly used: UsedAnswers;
  readonly inTurn: <T>(act: () => Promise<T>) => Promise<T>;
}

function openServer(shared: Shared, transport: McpActor['transport']): Server {
  const { ground, codec } = shared;
  const server = new Server(
    { name: 'writ', version: ground.version },
    {
      instructions,
      capabilities: { tools: {}, resources: {} },
      requestState: { verify: codec.verify },
      inputRequired: { roundTimeoutMs: answerWithinSeconds * 1000, maxRounds: 2 },
    },
  );
  server.setRequestHandler('tools/list', () => ({ tools: tools.map(toListed) }));
  server.setRequestHandler('tools/call', async ({ params }, ctx) => {
    const tool = tools.find(({ name }) => name === params.name);
    try {
      if (tool === undefined) {
        const names = tools.map(({ name }) => name).join(', ');
        throw new WritError('TOOL_UNKNOWN', { detail: { expected: names, found: params.name.slice(0, 80) } });
      }
      const act = tool.take(params.arguments ?? {});
      const actor = actorOf(server, ctx, transport);
      const { signal } = ctx.mcpReq;
      const elicitation = elicitationOf(server, ctx);
      using _beat = startBeat(ctx, tool.name);
      const call = {
        ground,
        actor,
        signal,
        allow: (planned: ApprovalQuestion['planned'], argv: readonly string[]) =>
          requireConsent(ground, { planned, argv, actor }, elicitation, shared.used, signal),
      };
      return toCallAnswer(await (tool.reads ? act(call) : shared.inTurn(() => act(call))));
    } catch (thrown) {
      if (thrown instanceof Question) return askClient(codec, thrown, ctx);
      ctx.mcpReq.signal.throwIfAborted();
      const answer = toRefusalAnswer(thrown, ground.cwd);
      ground.log(
        `mcp: ${tool?.name ?? 'a tool that there is not'}: ${isWritError(thrown) ? thrown.code : 'refused'}`,
      );
      return answer;
    }
  });
  server.setRequestHandler('resources/list', (_, ctx) => listResources(ground, ctx.mcpReq.signal));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [...resourceTemplates] }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }, ctx) => {
    try {
      return { contents: [{ uri, ...(await readResource(ground, uri, ctx.mcpReq.signal)) }] };
    } catch (thrown) {
      ctx.mcpReq.signal.throwIfAborted();
      const { code, text } = toShownFault(thrown, ground.cwd);
      const isMissing = ['NOT_FOUND', 'RUN_NOT_FOUND', 'THREAD_NOT_FOUND'].includes(code);
      throw isMissing
        ? new ResourceNotFoundError(uri, text)
        : new ProtocolError(ProtocolErrorCode.InternalError, text);
    }
  });
  server.onerror = (fault) => ground.log(`mcp: ${fault.message.slice(0, 200)}`);
  return server;
}

function toListed(tool: McpTool) {
  const { name, title, description, reads } = tool;
  return {
    name,
    title,
    description,
    inputSchema: toJsonSchema(tool.arguments),
    annotations: {
      title,
      readOnlyHint: reads,
      destructiveHint: !reads,
      idempotentHint: reads,
      openWorldHint: false,
    },
  };
}

/** Client facts in a request of the newer protocol era. The library has validated their form. */
interface ClientEnvelope {
  readonly [CLIENT_INFO_META_KEY]?: { readonly name: string };
  readonly [CLIENT_CAPABILITIES_META_KEY]?: ReturnType<Server['getClientCapabilities']>;
}

/** By the transport; what the client calls itself is a label. */
function actorOf(server: Server, ctx: ServerContext, transport: McpActor['transport']): McpActor {
  const envelope: ClientEnvelope = ctx.mcpReq.envelope ?? {};
  const { name } = envelope[CLIENT_INFO_META_KEY] ?? server.getClientVersion() ?? {};
  return {
    transport,
    ...(name === undefined ? {} : { client: name.replaceAll(/[^\w .@/-]/g, '?').slice(0, 60) }),
  };
}

/** `undefined` if the client does not support form elicitation. */
function elicitationOf(server: Server, ctx: ServerContext): Elicitation | undefined {
  const envelope: ClientEnvelope = ctx.mcpReq.envelope ?? {};
  const told = envelope[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities();
  const offered = told?.elicitation;
  if (offered === undefined || (offered.form === undefined && Object.keys(offered).length > 0))
    return undefined;
  const ask = (question: ApprovalQuestion, digest: string): never => {
    throw new Question(question, digest);
  };
  const asked = ctx.mcpReq.requestState<Asked>();
  const response = inputResponse(ctx.mcpReq.inputResponses, approvalKey);
  if (asked === undefined || response.kind !== 'elicit') return { ask };
  const approved = response.action === 'accept' && response.content?.decision === 'approve';
  return { ask, answer: { ...asked, approved } };
}

async function askClient(
  codec: RequestStateCodec<Asked>,
  { question, digest }: Question,
  ctx: ServerContext,
) {
  return inputRequired({
    requestState: await codec.mint({ digest, nonce: randomOctets(16).toString('hex') }, ctx),
    inputRequests: {
      [approvalKey]: inputRequired.elicit({
        message: questionLines(question).join('\n'),
        requestedSchema: {
          type: 'object',
          properties: { decision: { type: 'string', title: 'May it?', enum: ['approve', 'deny'] } },
          required: ['decision'],
        },
      }),
    },
  });
}

/** The answer of the client's user to an elicitation. */
interface ElicitedAnswer {
  /** Digest of the question (`questionDigest`). The nonce makes the answer count once. */
  readonly digest: string;
  readonly nonce: string;
  readonly approved: boolean;
}

/** Elicitation for one call. */
interface Elicitation {
  /** Present if this call returns with an answer. */
  readonly answer?: ElicitedAnswer;
  /** Ends the call with a question; it comes back with the answer. */
  readonly ask: (question: ApprovalQuestion, digest: string) => never;
}

/** Answers that were used, by their nonce: none counts twice. */
type UsedAnswers = Set<string>;

const longestWaitMs = 300_000;
const maxUsed = 10_000;

/**
 * Resolves if a change is allowed: by the policy, by the controller of the session, or by the client's user through
 * elicitation. APPROVAL_REQUIRED, APPROVAL_DENIED. Ends after five minutes.
 */
async function requireConsent(
  { approval: { policy, askController }, readsOnly }: Pick<McpGround, 'approval' | 'readsOnly'>,
  question: ApprovalQuestion,
  elicitation: Elicitation | undefined,
  used: UsedAnswers,
  signal: AbortSignal,
): Promise<void> {
  if (readsOnly())
    throw denied('a session of this context only reads', ['start it with another `--context`']);
  if (policy === 'allow-all') return;
  if (policy === 'never')
    throw denied('the approval policy is `never`', ['start the session with another `--approval-policy`']);
  const digest = questionDigest(question);
  const answer = elicitation?.answer;
  if (answer !== undefined && answer.digest === digest && !used.has(answer.nonce)) {
    if (used.size >= maxUsed) used.clear();
    used.add(answer.nonce);
    if (answer.approved) return;
    throw denied('the person at the client said no');
  }
  const said = await askWithin(askController, question, signal);
  if (said === 'approved') return;
  if (said === 'denied') throw denied('the controller of the session said no');
  if (elicitation !== undefined) elicitation.ask(question, digest);
  throw new WritError('APPROVAL_REQUIRED', {
    message: `a person has to allow this, and no one can be asked here: ${question.planned.title}`,
    detail: {
      expected: 'somebody who controls the session, or a client that offers elicitation',
      found: said,
    },
    hints: [
      'attach to the session and answer there, or use an MCP client that can ask (elicitation)',
      'or start the session with `--approval-policy allow-all`: every call is then allowed',
      'or do it yourself with git',
    ],
  });
}

/** Binds an answer to its question: an answer with another digest is ignored. */
function questionDigest({ planned: { change, ground, title }, actor }: ApprovalQuestion): string {
  return canonicalDigest({ change, ground, title, actor });
}

async function askWithin(
  ask: McpApproval['askController'],
  question: ApprovalQuestion,
  signal: AbortSignal,
): Promise<'approved' | 'denied' | 'nobody' | 'silence'> {
  if (ask === undefined) return 'nobody';
  const late = AbortSignal.timeout(longestWaitMs);
  const over = AbortSignal.any([signal, late]);
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const end = (): void => reject(over.reason);
  over.addEventListener('abort', end, { once: true });
  try {
    return await Promise.race([ask(question, over), ended]);
  } catch (fault) {
    signal.throwIfAborted();
    if (late.aborted) return 'silence';
    throw fault;
  } finally {
    over.removeEventListener('abort', end);
  }
}

function denied(message: string, hints: readonly string[] = []): WritError {
  return new WritError('APPROVAL_DENIED', { message, hints });
}

const everyMs = 1_000;

/** Sends a progress notification each second, if the client requested progress, until disposed. */
function startBeat(ctx: ServerContext, what: string): Disposable {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  if (progressToken === undefined) return { [Symbol.dispose]() {} };
  let progress = 0;
  const tell = (message: string): void => {
    const params = { progressToken, progress, message };
    progress += 1;
    ctx.mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
  tell(`${what} begins`);
  const timer = setInterval(() => tell(`${what}, for ${progress} s`), everyMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
