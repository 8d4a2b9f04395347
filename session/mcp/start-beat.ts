import type { ServerContext } from '@modelcontextprotocol/server';

const everyMs = 1_000;

/** Says each second that a call still goes on, to a client that asked to be told; until it is disposed of. */
export function startBeat(ctx: ServerContext, what: string): Disposable {
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
