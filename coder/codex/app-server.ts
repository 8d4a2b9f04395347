import type { WritError } from '../../core/base/errors.ts';
import type { AgentHost, AgentProcess } from '../../core/contract/agent.ts';
import { providerFailure } from '../../core/contract/provider.ts';
import { isJson, type Json, partOf, textOf } from './json.ts';

/** What answers the server's own requests, and is told the rest. Requests wait for each other. */
export interface AppServerTaps {
  /** The result; `undefined` for a request that nobody knows, which is answered with an error. */
  request(method: string, params: Json): Promise<Json | undefined>;
  told(method: string, params: Json): void | Promise<void>;
}

/** A running `codex app-server`, as JSON-RPC over lines; disposing of it ends the watch over its silence. */
export interface AppServer extends Disposable {
  /** PROVIDER_FAILED where it answers with an error, not in time, or not at all. */
  call(method: string, params: Json): Promise<Json>;
  tell(method: string, params?: Json): void;
  /** Rejects where the server breaks: PROVIDER_FAILED. Never settles otherwise. */
  readonly broken: Promise<never>;
}

/** Until it answers a request of ours, and between two things that it says while it does not wait for its model. */
export interface AppServerLimits {
  readonly answerMs: number;
  readonly idleMs: number;
}

const methodNotFound = -32_601;

/** Why there is nothing more to be had of a server: catalogued, and its words are bounded there. */
export function codexFault(found: string): WritError {
  return providerFailure({ provider: 'codex', kind: 'broken-reply', found });
}

/**
 * Talks with a server. Whatever it says that is no JSON-RPC ends it; notifications and items that nobody knows are let
 * pass, and a request that nobody knows is never left without an answer.
 */
export function openAppServer(
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
    // An answer to what was not asked, or was given up, is nobody's.
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
    [Symbol.dispose]: () => give(codexFault('nobody listens')),
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
        if (isJson(answer.error))
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
  if (!isJson(message)) throw codexFault('JSON that is no object');
  return message;
}
