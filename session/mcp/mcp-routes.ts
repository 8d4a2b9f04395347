import type { IncomingMessage, ServerResponse } from 'node:http';
import type { McpHttpHandler } from '@modelcontextprotocol/server';
import { WritError } from '../../core/base/errors.ts';
import { matchesToken } from '../../http/discovery.ts';
import { valuesOf } from '../../http/guard-request.ts';
import type { Exchange, Route } from '../../http/send-answer.ts';
import type { McpGround } from './mcp-ground.ts';

/** The one address of the protocol over HTTP. */
export const mcpPath = '/mcp';

export interface McpRoutes {
  readonly routes: readonly Route[];
  /** Ends what is under way. */
  close(): Promise<void>;
}

const maxAtOnce = 32;
/** What the protocol reads of a request; everything else stays here. */
const passed = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'];

/**
 * `POST /mcp` for both eras, without sessions: each request stands for itself. The token first, then type, size and
 * form of the body, then the protocol. MCP_TOKEN_REQUIRED; TOO_MANY_SUBSCRIBERS beyond 32 requests at once.
 */
export function mcpRoutes(ground: McpGround, token: string): McpRoutes {
  let handler: Promise<McpHttpHandler> | undefined;
  let open = 0;
  const answer = async (exchange: Exchange): Promise<undefined> => {
    const { request, response } = exchange;
    if (!isBearer(request, token)) {
      response.setHeader('www-authenticate', 'Bearer');
      throw new WritError('MCP_TOKEN_REQUIRED');
    }
    const body = await exchange.readBody();
    if (open >= maxAtOnce) throw new WritError('TOO_MANY_SUBSCRIBERS', { detail: { expected: maxAtOnce } });
    open += 1;
    try {
      handler ??= openHandler(ground);
      await relay(await handler, request, response, body);
    } finally {
      open -= 1;
    }
  };
  return {
    routes: [{ method: 'POST', path: mcpPath, answer }],
    close: async () => (await handler)?.close(),
  };
}

/** The SDK is loaded by the first that asks: a session that nobody asks so starts without it. */
async function openHandler(ground: McpGround): Promise<McpHttpHandler> {
  const { createMcpHandler } = await import('@modelcontextprotocol/server');
  const { openMcpFamily } = await import('./open-mcp-server.ts');
  const family = openMcpFamily(ground);
  return createMcpHandler(() => family.open('http'), {
    maxSubscriptions: maxAtOnce / 2,
    onerror: (fault) => ground.log(`mcp: ${fault.message.slice(0, 200)}`),
  });
}

/** One header, one scheme, the whole token; compared in constant time. */
function isBearer(request: IncomingMessage, token: string): boolean {
  const [value = '', ...more] = valuesOf(request, 'authorization');
  const [, given = ''] = /^Bearer ([\w-]{1,200})$/i.exec(value) ?? [];
  return more.length === 0 && given !== '' && matchesToken(given, token);
}

/** Hands a request on and its answer back, as it comes; a client that goes away ends what it asked for. */
async function relay(
  handler: McpHttpHandler,
  request: IncomingMessage,
  response: ServerResponse,
  parsedBody: Readonly<Record<string, unknown>>,
): Promise<void> {
  const gone = new AbortController();
  const leave = (): void => gone.abort();
  response.on('close', leave);
  // The server reads on behind the end of a request; whoever closes here takes his call back.
  request.socket.on('end', leave);
  try {
    const headers = passed.flatMap((name) =>
      valuesOf(request, name).map((value): [string, string] => [name, value]),
    );
    const { signal } = gone;
    const asked = new Request('http://localhost/mcp', { method: 'POST', headers, body: '{}', signal });
    const answered = await handler.fetch(asked, { parsedBody });
    if (response.destroyed) return;
    response.writeHead(answered.status, {
      ...Object.fromEntries(answered.headers),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    if (answered.body !== null)
      for await (const chunk of answered.body) {
        if (response.destroyed) break;
        if (!response.write(chunk)) await drained(response, signal);
      }
    response.end();
  } catch (fault) {
    // Whoever has gone is told nothing.
    if (!gone.signal.aborted) throw fault;
  } finally {
    response.off('close', leave);
    request.socket.off('end', leave);
  }
}

function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    response.once('drain', resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
