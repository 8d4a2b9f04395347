import { isWritError } from '../../core/base/errors.ts';
import type { AgentHost } from '../../core/contract/agent.ts';
import type { ToolDeclaration } from '../../core/contract/model.ts';
import { type AppServer, type AppServerLimits, codexFault, openAppServer } from './app-server.ts';
import { openApprovals } from './approvals.ts';
import { turnFailure } from './failures.ts';
import { codexProgram } from './home.ts';
import { type Json, partOf, textOf } from './json.ts';

export const usualLimits: AppServerLimits = { answerMs: 60_000, idleMs: 1_900_000 };
/** What a turn that was interrupted may take to end. */
const interruptMs = 1500;

/** A tool of ours that Codex may call, and what it answers. */
export interface OwnTool {
  readonly declaration: ToolDeclaration;
  /** The arguments as JSON text; nothing of them was looked at. */
  call(given: string): Promise<{ readonly text: string; readonly success: boolean }>;
}

/** What a thread is for. */
export interface ThreadOrder {
  readonly signal: AbortSignal;
  /** What it is told before anything else. */
  readonly instructions: string;
  readonly limits: AppServerLimits;
  readonly tool?: OwnTool;
  /** A piece of what it says, as it comes. */
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
  /** Why there is nothing; `undefined` for a turn that was completed. Failures of the model are thrown. */
  take(order: TurnOrder): Promise<string | undefined>;
  /** The plan that it proposed last. */
  plan(): string | undefined;
  /** What it said, message by message. */
  said(): readonly string[];
}

const maxSaid = 1000;

/** Starts Codex and opens a thread: PROVIDER_FAILED where it cannot be talked with, or would not ask before it acts. */
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
  // Asked for, and it must be so: under any other policy it acts without asking.
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
        // The engine's sandbox is around it; nothing has more in it than the whole.
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
      // It ends its turn when it is told to stop: that is no answer.
      signal.throwIfAborted();
      return outcome === 'enough' ? undefined : outcomeOf(outcome, host);
    },
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

function declared({ declaration: { name, description, parameters } }: OwnTool): Json {
  return { type: 'function', name, description, inputSchema: parameters };
}

/** What our tool says to a call; another one there is not. */
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

/** `undefined` for a turn that was completed; else why there is nothing. Failures of the model are thrown. */
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
