import type { SandboxPipes } from '../../../../core/contract/sandbox.ts';
import { frame, isRecord, readFrames, ServerFault } from './frames.ts';

/** A conversation with one process of a language server. Every failure of it is a ServerFault, and ends it. */
export interface Connection {
  /** What it answers; `undefined` where it answers with an error of its own, which `refused` is told. */
  ask(
    method: string,
    params: unknown,
    withinMs: number,
    refused?: (message: string) => void,
  ): Promise<unknown>;
  tell(method: string, params: unknown): void;
  /** Ends with the conversation, and says why. */
  readonly ended: Promise<ServerFault>;
  /** Ends it. */
  end(why: ServerFault): void;
}

/** What a server says or asks by itself. */
export interface ServerEvents {
  notified(method: string, params: unknown): void;
  /** The answer to a request of the server; `undefined` where nobody knows what it asks for. */
  answer(method: string, params: unknown): unknown;
}

interface Open {
  readonly settle: (answer: unknown) => void;
  readonly fail: (fault: ServerFault) => void;
  readonly refused: ((message: string) => void) | undefined;
}

/** Requests that a server may make, and answers that nobody asked for. */
const [maxRequests, maxStrays] = [10_000, 1000];

/** Opens a conversation over the pipes of a process. */
export function openConnection({ input, output }: SandboxPipes, events: ServerEvents): Connection {
  const open = new Map<number, Open>();
  let last = 0;
  let requests = 0;
  let strays = 0;
  let fault: ServerFault | undefined;
  let told: (fault: ServerFault) => void = () => {};
  const ended = new Promise<ServerFault>((resolve) => {
    told = resolve;
  });
  const end = (why: ServerFault): void => {
    if (fault) return;
    fault = why;
    for (const one of open.values()) one.fail(why);
    open.clear();
    output.destroy();
    told(why);
  };
  const write = (message: object): void => {
    if (!fault) input.write(frame(message));
  };
  input.on('error', () => {});
  output.on('error', () => {});

  const take = (message: Readonly<Record<string, unknown>>): void => {
    const { method, id, params } = message;
    if (method === undefined) takeAnswer(message);
    else if (typeof method !== 'string') throw new ServerFault('sent a message whose method is no text');
    else if (id === undefined) events.notified(method, params);
    else takeRequest(method, id, params);
  };
  const takeRequest = (method: string, id: unknown, params: unknown): void => {
    requests += 1;
    if (requests > maxRequests) throw new ServerFault(`asked for more than ${maxRequests} things`);
    if (!Number.isSafeInteger(id) && !(typeof id === 'string' && id.length <= 128))
      throw new ServerFault('sent a request whose id is none');
    const result = events.answer(method, params);
    write(
      result === undefined
        ? { id, error: { code: -32601, message: 'this client does not' } }
        : { id, result },
    );
  };
  const takeAnswer = ({ id, error, result }: Readonly<Record<string, unknown>>): void => {
    const waiting = typeof id === 'number' ? open.get(id) : undefined;
    if (waiting === undefined) {
      // Late answers to what was given up are among them.
      strays += 1;
      if (strays > maxStrays) throw new ServerFault('answers what nobody asked');
      return;
    }
    open.delete(id as number);
    if (error !== undefined && error !== null) {
      const message = isRecord(error) && typeof error.message === 'string' ? error.message : 'an error';
      waiting.refused?.(message.slice(0, 500));
      waiting.settle(undefined);
    } else waiting.settle(result ?? null);
  };
  void (async () => {
    try {
      for await (const message of readFrames(output)) take(message);
      end(new ServerFault('ended'));
    } catch (caught) {
      end(caught instanceof ServerFault ? caught : new ServerFault('ended'));
    }
  })();

  return {
    ended,
    end,
    tell: (method, params) => write({ method, params }),
    ask(method, params, withinMs, refused) {
      if (fault) return Promise.reject(fault);
      last += 1;
      const id = last;
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const timer = setTimeout(
        () => end(new ServerFault(`did not answer within ${withinMs / 1000} s`)),
        withinMs,
      );
      open.set(id, { settle: resolve, fail: reject, refused });
      write({ id, method, params });
      return promise.finally(() => clearTimeout(timer));
    },
  };
}
