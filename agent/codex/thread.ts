/* Runs the Codex app server in the sandbox and exchanges messages with it, one thread at a time. */
import { isWritError, type WritError } from '../../core/base/errors.ts';
import { isRecord } from '../../core/base/json-pointer.ts';
import type { FailureKind, ToolDeclaration } from '../../core/interfaces/model.ts';
import { providerFailure } from '../../core/interfaces/provider.ts';
import type { AgentHost, AgentProcess, AgentVerdict, HandUse } from '../../core/interfaces/worker.ts';
import { codexProgram, type Json, listOf, partOf, textOf } from './home.ts';

/** Answers the server's own requests and receives its notifications, one message at a time. */
interface AppServerTaps {
  /** Returns the result; `undefined` for an unknown request, which is answered with an error. */
  request(method: string, params: Json): Promise<Json | undefined>;
  told(method: string, params: Json): void | Promise<void>;
}

/** A running `codex app-server`, as JSON-RPC over lines; disposing of it ends the watch over its silence. */
interface AppServer extends Disposable {
  /** PROVIDER_FAILED where it answers with an error, not in time, or not at all. */
  call(method: string, params: Json): Promise<Json>;
  tell(method: string, params?: Json): void;
  /** Rejects where the server breaks: PROVIDER_FAILED. Never settles otherwise. */
  readonly broken: Promise<never>;
}

/** Timeouts for the answer to a request, and for silence while the server does not wait for its model. */
export interface AppServerLimits {
  readonly answerMs: number;
  readonly idleMs: number;
}

const methodNotFound = -32_601;

/** Builds the error for an unusable server. `providerFailure` bounds its text. */
function codexFault(found: string): WritError {
  return providerFailure({ provider: 'codex', kind: 'broken-reply', found });
}

/**
 * Opens a connection to a server. A line that is not JSON-RPC ends the connection. Unknown notifications and items
 * are ignored, and an unknown request always gets an answer.
 */
function openAppServer(
  program: Pick<AgentProcess, 'send' | 'lines' | 'ended'>,
  taps: AppServerTaps,
  { answerMs, idleMs, isAsking }: AppServerLimits & Pick<AgentHost, 'isAsking'>,
): AppServer {
  const waiting = new Map<number, (answer: Json) => void>();
  let lastId = 0;
  let isOver = false;
  let idle: NodeJS.Timeout | undefined;
  let give: (fault: unknown) => void = () => {};
  const broken = new Promise<never>((_resolve, reject) => {
    give = (fault) => {
      isOver = true;
      clearTimeout(idle);
      reject(fault);
    };
  });
  broken.catch(() => {});
  const send = (message: Json): void => program.send(JSON.stringify(message));
  const watch = (): void => {
    clearTimeout(idle);
    if (isOver) return;
    idle = setTimeout(() => {
      if (isAsking()) watch();
      else give(codexFault(`it said nothing for ${idleMs} ms`));
    }, idleMs);
  };

  const take = async (line: string): Promise<void> => {
    const message = asMessage(line);
    const { id, method } = message;
    if (typeof method === 'string') {
      const params = partOf(message, 'params');
      if (id === undefined) return taps.told(method, params);
      if (typeof id !== 'number' && typeof id !== 'string') throw codexFault('a request without a usable id');
      const result = await taps.request(method, params);
      send(
        result === undefined
          ? { id, error: { code: methodNotFound, message: `writ does not answer ${method.slice(0, 100)}` } }
          : { id, result },
      );
      return;
    }
    if (typeof id !== 'number') throw codexFault('a message that is neither request nor answer');
    // An answer to an unknown or abandoned request is ignored.
    waiting.get(id)?.(message);
    waiting.delete(id);
  };

  const read = async (): Promise<never> => {
    watch();
    for await (const line of program.lines) {
      watch();
      if (line.trim() !== '') await take(line);
    }
    throw codexFault(`it ${await program.ended}`);
  };
  read().catch(give);

  return {
    broken,
    [Symbol.dispose]: () => give(codexFault('no listener is left')),
    tell: (method, params) => send({ method, ...(params === undefined ? {} : { params }) }),
    async call(method, params) {
      lastId += 1;
      const id = lastId;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_resolve, reject) => {
        timer = setTimeout(() => reject(codexFault(`no answer to ${method} in ${answerMs} ms`)), answerMs);
      });
      const answered = new Promise<Json>((resolve) => waiting.set(id, resolve));
      send({ id, method, params });
      try {
        const answer = await Promise.race([answered, late, broken]);
        if (isRecord(answer.error))
          throw codexFault(`${method}: ${textOf(answer.error.message) ?? 'an error'}`);
        return partOf(answer, 'result');
      } finally {
        clearTimeout(timer);
        waiting.delete(id);
      }
    },
  };
}

function asMessage(line: string): Json {
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    throw codexFault(`what is no JSON: ${line.slice(0, 80)}`);
  }
  if (!isRecord(message)) throw codexFault('JSON that is no object');
  return message;
}

export const usualLimits: AppServerLimits = { answerMs: 60_000, idleMs: 1_900_000 };
/** Maximum wait for an interrupted turn to end. */
const interruptMs = 1500;

/** A tool of ours that Codex may call, and what it answers. */
export interface OwnTool {
  readonly declaration: ToolDeclaration;
  /** `given` is the arguments as JSON text, not validated. */
  call(given: string): Promise<{ readonly text: string; readonly success: boolean }>;
}

/** What a thread is for. */
export interface ThreadOrder {
  readonly signal: AbortSignal;
  /** Developer instructions, sent before any turn. */
  readonly instructions: string;
  readonly limits: AppServerLimits;
  readonly tool?: OwnTool;
  /** Receives each piece of Codex's text as it arrives. */
  readonly heard?: (piece: string) => void;
}

/** One turn of a thread. */
export interface TurnOrder {
  readonly text: string;
  /** `plan`: reads alone are let go, and a plan is proposed. `read`: the first half of that. */
  readonly mode: 'plan' | 'read' | 'default';
  /** It is enough when this resolves: the turn is ended, and was completed. */
  readonly enough?: Promise<void>;
  /** Called once Codex has accepted the text: it refuses one that is too long. */
  begun?(): Promise<void>;
}

/** A thread of a Codex that runs in its sandbox; disposing of it ends the program. */
export interface CodexThread extends AsyncDisposable {
  /**
   * Runs one turn. Returns `undefined` if it was completed, else why there is no result. Throws failures of the
   * model.
   */
  take(order: TurnOrder): Promise<string | undefined>;
  /** The plan that it proposed last. */
  plan(): string | undefined;
  /** The messages of Codex, in order. */
  said(): readonly string[];
}

const maxSaid = 1000;

/** Starts Codex and opens a thread. PROVIDER_FAILED if the connection fails, or if Codex would act without approval. */
export async function openCodexThread(
  host: AgentHost,
  { signal, instructions, limits, tool, heard }: ThreadOrder,
): Promise<CodexThread> {
  await using opened = new AsyncDisposableStack();
  const program = opened.use(await host.start(codexProgram(host)));
  let mode: TurnOrder['mode'] = 'default';
  let plan: string | undefined;
  const said: string[] = [];
  let ended: ((turn: Json) => void) | undefined;
  const approvals = openApprovals(host, () => mode !== 'default');
  const server = openAppServer(
    program,
    {
      request: (method, params) =>
        method === 'item/tool/call' ? ownAnswer(tool, params) : approvals.answer(method, params),
      async told(method, params) {
        const item = partOf(params, 'item');
        if (method === 'item/agentMessage/delta') heard?.(textOf(params.delta) ?? '');
        if (method === 'item/started') approvals.began(item);
        if (method === 'item/completed') {
          if (item.type === 'plan') plan = textOf(item.text);
          if (item.type === 'agentMessage' && said.length < maxSaid) said.push(textOf(item.text) ?? '');
          await approvals.ended(item);
        }
        if (method === 'turn/completed') ended?.(partOf(params, 'turn'));
      },
    },
    { ...limits, isAsking: host.isAsking },
  );
  opened.use(server);
  await server.call('initialize', {
    clientInfo: { name: 'writ', title: 'writ', version: '1' },
    capabilities: { experimentalApi: true, requestAttestation: false },
  });
  server.tell('initialized');
  const begun = await server.call('thread/start', {
    cwd: host.workspace,
    model: host.model,
    modelProvider: 'writ',
    approvalPolicy: 'untrusted',
    sandbox: 'danger-full-access',
    ephemeral: true,
    developerInstructions: [instructions, ...host.notes].join('\n\n'),
    ...(tool === undefined ? {} : { dynamicTools: [declared(tool)] }),
  });
  const threadId = textOf(partOf(begun, 'thread').id);
  if (threadId === undefined) throw codexFault('a thread without an id');
  // Verified, because under any other policy Codex acts without approval.
  if (begun.approvalPolicy !== 'untrusted') throw codexFault('it would not ask before it acts');
  const held = opened.move();
  return {
    plan: () => plan,
    said: () => said,
    async take(order) {
      mode = order.mode;
      const over = new Promise<Json>((resolve) => {
        ended = resolve;
      });
      const started = await server.call('turn/start', {
        threadId,
        input: [{ type: 'text', text: order.text, text_elements: [] }],
        approvalPolicy: 'untrusted',
        // The engine's sandbox surrounds Codex, and no command in it has more rights than Codex.
        sandboxPolicy: { type: 'externalSandbox', networkAccess: 'restricted' },
        collaborationMode: {
          mode: mode === 'plan' ? 'plan' : 'default',
          settings: { model: host.model, reasoning_effort: null, developer_instructions: null },
        },
      });
      await order.begun?.();
      const turn = { threadId, turnId: textOf(partOf(started, 'turn').id) ?? '' };
      const enough = order.enough?.then(() => interrupt(server, turn, over)).then(() => 'enough' as const);
      const outcome = await Promise.race([
        over,
        server.broken,
        stopped(server, turn, over, signal),
        ...(enough === undefined ? [] : [enough]),
      ]);
      // After an interrupt the turn ends normally, but it has no result.
      signal.throwIfAborted();
      return outcome === 'enough' ? undefined : outcomeOf(outcome, host);
    },
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

function declared({ declaration: { name, description, parameters } }: OwnTool): Json {
  return { type: 'function', name, description, inputSchema: parameters };
}

/** Returns the answer of writ's tool to a call; an error for any other tool. */
async function ownAnswer(tool: OwnTool | undefined, params: Json): Promise<Json> {
  const isOurs = tool !== undefined && params.tool === tool.declaration.name;
  const { text, success } = isOurs
    ? await tool.call(JSON.stringify(params.arguments ?? null))
    : { text: 'there is no such tool', success: false };
  return { contentItems: [{ type: 'inputText', text }], success };
}

interface RunningTurn {
  readonly threadId: string;
  readonly turnId: string;
}

/** Ends a turn, and gives it a moment for that. */
async function interrupt(
  server: Pick<AppServer, 'call'>,
  turn: RunningTurn,
  over: Promise<Json>,
): Promise<void> {
  const asked = server.call('turn/interrupt', { ...turn }).then(
    () => over,
    () => {},
  );
  await Promise.race([asked, new Promise((resolve) => setTimeout(resolve, interruptMs))]);
}

/** Stops the turn when the attempt is to stop; rejects with the signal's reason. */
async function stopped(
  server: Pick<AppServer, 'call'>,
  turn: RunningTurn,
  over: Promise<Json>,
  signal: AbortSignal,
): Promise<never> {
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  await interrupt(server, turn, over);
  throw signal.reason;
}

/** Returns `undefined` for a completed turn, else why there is no result. Throws failures of the model. */
function outcomeOf(turn: Json, host: AgentHost): string | undefined {
  const failure = host.failure();
  if (failure !== undefined) {
    if (isWritError(failure, 'TURN_LIMIT')) return failure.message;
    throw failure;
  }
  if (turn.status === 'completed') return undefined;
  if (turn.status === 'interrupted') return 'the turn was interrupted';
  throw turnFailure(partOf(turn, 'error'));
}

/** Maps Codex's reasons for a failed turn. HTTP errors are mapped by status. */
const kinds: Readonly<Record<string, FailureKind>> = {
  badRequest: 'bad-request',
  contextWindowExceeded: 'too-large',
  cyberPolicy: 'forbidden',
  internalServerError: 'server',
  misalignmentPolicyViolation: 'forbidden',
  modelNotFound: 'unknown-model',
  rateLimitExceeded: 'rate-limited',
  serverOverloaded: 'overloaded',
  sessionBudgetExceeded: 'quota-used-up',
  unauthorized: 'key-refused',
  usageLimitExceeded: 'quota-used-up',
};
const byStatus: Readonly<Record<number, FailureKind>> = {
  401: 'key-refused',
  402: 'no-credit',
  403: 'forbidden',
  404: 'unknown-model',
  413: 'too-large',
  429: 'rate-limited',
  503: 'overloaded',
};

/** PROVIDER_FAILED out of a failed turn's error. */
function turnFailure(error: Json): WritError {
  const { codexErrorInfo: info } = error;
  const [named, detail] =
    typeof info === 'string' ? [info, {}] : (Object.entries(isRecord(info) ? info : {})[0] ?? []);
  const status =
    isRecord(detail) && typeof detail.httpStatusCode === 'number' ? detail.httpStatusCode : undefined;
  const byWord = named !== undefined && Object.hasOwn(kinds, named) ? kinds[named] : undefined;
  const kind =
    byWord ??
    (status === undefined ? undefined : (byStatus[status] ?? (status >= 500 ? 'server' : 'bad-request')));
  return providerFailure({
    provider: 'codex',
    kind: kind ?? 'broken-reply',
    found: textOf(error.message) ?? 'a turn failed without a reason',
    ...(status === undefined ? {} : { status }),
  });
}

/** Items of a turn that are remembered until they end. */
const maxItems = 1000;
const reading = new Set(['read', 'listFiles', 'search']);

/** Answers approval requests of the server and tracks their results. */
interface Approvals {
  /** The result of a request for approval; `undefined` where it is none. */
  answer(method: string, params: Json): Promise<Json | undefined>;
  /** Called when an item begins. */
  began(item: Json): void;
  ended(item: Json): Promise<void>;
}

/**
 * Authorizes every command and every changed file as a tool call under the spec. `isPlanning` allows only reads.
 * Questions get no answer, because no user is present. A grant covers only one use.
 */
function openApprovals(
  { judge, workspace }: Pick<AgentHost, 'judge' | 'workspace'>,
  isPlanning: () => boolean,
): Approvals {
  const items = new Map<string, Json>();
  const allowed = new Map<string, readonly AgentVerdict[]>();

  const decide = async (itemId: string, uses: readonly HandUse[]): Promise<Json> => {
    const verdicts: AgentVerdict[] = [];
    for (const use of uses) {
      const verdict = await judge(use);
      if (verdict.refusal !== undefined) {
        for (const one of verdicts) await one.settle('failed');
        return { decision: 'decline' };
      }
      verdicts.push(verdict);
    }
    allowed.set(itemId, [...(allowed.get(itemId) ?? []), ...verdicts]);
    return { decision: verdicts.length === 0 ? 'decline' : 'accept' };
  };

  const command = async (params: Json): Promise<Json> => {
    const text = textOf(params.command);
    const { kind, networkApprovalContext, additionalPermissions, cwd } = params;
    // A running command gets no input, and the sandbox gets no additional permissions.
    const isPlain = (kind ?? 'command') === 'command' && !networkApprovalContext && !additionalPermissions;
    if (text === undefined || !isPlain) return { decision: 'decline' };
    const isReading = listOf(params.commandActions).every(
      (action) => isRecord(action) && reading.has(textOf(action.type) ?? ''),
    );
    if (isPlanning() && !(isReading && listOf(params.commandActions).length > 0))
      return { decision: 'decline' };
    // Relative paths of a rule are those of the workspace.
    if (textOf(cwd)?.replace(/\/$/, '') !== workspace) return { decision: 'decline' };
    return decide(textOf(params.itemId) ?? '', [{ kind: 'execute', command: text }]);
  };

  const files = async (params: Json): Promise<Json> => {
    const itemId = textOf(params.itemId) ?? '';
    const item = items.get(itemId);
    if (item === undefined || params.grantRoot || isPlanning()) return { decision: 'decline' };
    const uses = usesOf(item);
    return uses === undefined ? { decision: 'decline' } : decide(itemId, uses);
  };

  return {
    async answer(method, params) {
      switch (method) {
        case 'item/commandExecution/requestApproval':
          return command(params);
        case 'item/fileChange/requestApproval':
          return files(params);
        case 'item/permissions/requestApproval':
          return { permissions: {}, scope: 'turn' };
        case 'item/tool/requestUserInput':
          return { answers: {} };
        case 'mcpServer/elicitation/request':
          return { action: 'decline', content: null, _meta: null };
        case 'execCommandApproval':
        case 'applyPatchApproval':
          return { decision: { denied: { rejection: 'not in this form' } } };
        default:
          return undefined;
      }
    },
    began(item) {
      const id = textOf(item.id);
      if (id === undefined || item.type !== 'fileChange') return;
      const [oldest] = items.keys();
      if (items.size >= maxItems && oldest !== undefined) items.delete(oldest);
      items.set(id, item);
    },
    async ended(item) {
      const id = textOf(item.id) ?? '';
      items.delete(id);
      const verdicts = allowed.get(id) ?? [];
      allowed.delete(id);
      const { exitCode } = item;
      const isDone = item.status === 'completed' && (typeof exitCode !== 'number' || exitCode === 0);
      for (const verdict of verdicts)
        await verdict.settle(isDone ? 'done' : 'failed', typeof exitCode === 'number' ? exitCode : undefined);
    },
  };
}

/** Returns the uses of a file change, file by file; `undefined` if one cannot be determined. */
function usesOf(item: Json): readonly HandUse[] | undefined {
  const uses: HandUse[] = [];
  for (const change of listOf(item.changes)) {
    const path = isRecord(change) ? textOf(change.path) : undefined;
    if (!isRecord(change) || path === undefined || !isRecord(change.kind)) return undefined;
    const { type, move_path: target } = change.kind;
    const bytes = Buffer.from(textOf(change.diff) ?? '');
    if (type === 'delete') uses.push({ kind: 'delete', path });
    else if (type === 'add' || (type === 'update' && (target === null || target === undefined)))
      uses.push({ kind: 'write', path, bytes });
    else if (type === 'update' && typeof target === 'string')
      uses.push({ kind: 'delete', path }, { kind: 'write', path: target, bytes });
    else return undefined;
  }
  return uses;
}
