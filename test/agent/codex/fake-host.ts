import type { AgentHost, AgentVerdict, HandUse, TaskOrder } from '../../../core/interfaces/worker.ts';

/** A message of the protocol, or a line as it stands. */
export type Said = object | string;

/** What a server of a test answers to each message it is sent; `undefined` ends its output. */
export type FakeServer = (message: {
  readonly id?: number;
  readonly method?: string;
  readonly [key: string]: unknown;
}) => readonly Said[] | undefined;

/** An order whose agent is a server of a test in this process, and what was asked of the engine. */
export interface FakeOrder {
  readonly order: TaskOrder;
  /** What was sent to it. */
  readonly sent: readonly Record<string, unknown>[];
  readonly judged: readonly HandUse[];
  readonly settled: readonly string[];
  readonly notes: readonly string[];
}

/** `judge` says why a use is refused; absent, every use is allowed. */
export function fakeOrder(
  server: FakeServer,
  {
    judge = () => undefined,
    host = {},
    signal = new AbortController().signal,
  }: {
    readonly judge?: (use: HandUse) => string | undefined;
    readonly host?: Partial<AgentHost>;
    readonly signal?: AbortSignal;
  } = {},
): FakeOrder {
  const sent: Record<string, unknown>[] = [];
  const judged: HandUse[] = [];
  const settled: string[] = [];
  const notes: string[] = [];
  const agent: AgentHost = {
    model: 'scripted',
    modelBase: 'http://127.0.0.1:1/v1',
    workspace: '/workspace',
    flags: {},
    notes: [],
    isAsking: () => false,
    failure: () => undefined,
    note: (text) => void notes.push(text),
    async judge(use): Promise<AgentVerdict> {
      judged.push(use);
      const refusal = judge(use);
      return {
        ...(refusal === undefined ? {} : { refusal }),
        settle: async (outcome) => void settled.push(outcome),
      };
    },
    async start() {
      const waiting: string[] = [];
      let wake = (): void => {};
      let isOver = false;
      const lines = async function* (): AsyncGenerator<string> {
        for (;;) {
          const line = waiting.shift();
          if (line !== undefined) yield line;
          else if (isOver) return;
          else
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
        }
      };
      return {
        lines: lines(),
        ended: Promise.resolve('ended with 1'),
        send(line) {
          const message = JSON.parse(line) as Record<string, unknown>;
          sent.push(message);
          const said = server(message);
          if (said === undefined) isOver = true;
          for (const one of said ?? []) waiting.push(typeof one === 'string' ? one : JSON.stringify(one));
          wake();
        },
        [Symbol.asyncDispose]: async () => {},
      };
    },
    ...host,
  };
  const order = {
    title: 'A task',
    goal: 'bugfix',
    steps: [],
    constraints: [],
    acceptanceCriteria: [],
    signal,
    agent,
  } as unknown as TaskOrder;
  return { order, sent, judged, settled, notes };
}

/** A server that does as it should until its turn has started, and then says this; `over` ends the turn. */
export function turnThatSays(said: readonly Said[], thread: object = {}): FakeServer {
  return ({ id, method }) => {
    if (method === 'initialize') return [{ id, result: { userAgent: 'codex/0' } }];
    if (method === 'thread/start')
      return [{ id, result: { thread: { id: 't1' }, approvalPolicy: 'untrusted', ...thread } }];
    if (method === 'turn/start') return [{ id, result: { turn: { id: 'u1' } } }, ...said];
    return [];
  };
}

export const over = {
  method: 'turn/completed',
  params: { threadId: 't1', turn: { id: 'u1', status: 'completed' } },
};
