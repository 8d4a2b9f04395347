/** Serves MCP over HTTP on the loopback. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { McpHttpHandler } from '@modelcontextprotocol/server';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { valuesOf } from '../../http/guard-request.ts';
import { startLoopbackServer } from '../../http/loopback-server.ts';
import {
  makeToken,
  matchesToken,
  readPrivateFile,
  removeOwnFile,
  writePrivateFile,
} from '../../http/private-files.ts';
import type { Exchange, Route } from '../../http/send-answer.ts';
import { acquireProcessLock } from '../../workspace/process/process-lock.ts';
import type { McpGround } from './tool.ts';

export interface McpHttpOptions {
  /** A literal loopback address. */
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  /** Whether any free port replaces one that is in use. */
  readonly elseFree?: boolean;
  /** `<state_dir>/code`, a private directory of this user; the token is written there. */
  readonly directory: string;
  /** An internal fault; the client gets no details of it. */
  readonly report: (fault: unknown) => void;
}

export interface McpHttp {
  /** `http://127.0.0.1:6789/mcp`. */
  readonly mcpUrl: string;
  readonly tokenFile: string;
  /** Ends open requests and removes the token file. */
  close(): Promise<void>;
}

const body = { maxBytes: 256 * 1024, withinMs: 10_000, maxDepth: 64 };
const headersWithinMs = 10_000;
const closeWithinMs = 400;

/**
 * Serves the protocol on the loopback interface. `Host` and `Origin` are checked as for every server of writ. Each
 * start has its own token, mode 0600. PORT_UNAVAILABLE; PRIVATE_FILE_UNSAFE if the token cannot be stored.
 */
export async function serveMcpHttp(
  ground: McpGround,
  { host, port, elseFree = false, directory, report }: McpHttpOptions,
): Promise<McpHttp> {
  const token = makeToken();
  const { routes, close } = mcpRoutes(ground, token);
  const server = await startLoopbackServer({
    host,
    port,
    elseFree,
    portOption: '--mcp-port',
    routes,
    body,
    headersWithinMs,
    report,
  });
  let place: TokenPlace | undefined;
  const end = async (): Promise<void> => {
    await close();
    await server.close(closeWithinMs);
    if (place === undefined) return;
    await removeOwnFile(place.file, token);
    await place.giveBack();
  };
  try {
    place = await takeTokenPlace(directory, server.baseUrl.replace(/^.*:/, ''));
    await writePrivateFile(place.file, token);
  } catch (fault) {
    await end();
    throw fault;
  }
  return { mcpUrl: `${server.baseUrl}${mcpPath}`, tokenFile: place.file, close: end };
}

interface TokenPlace {
  readonly file: string;
  giveBack(): Promise<void>;
}

/**
 * Returns `mcp-token`, or `mcp-token-PORT` if another session holds the first, so that its readers keep a valid
 * token. PRIVATE_FILE_UNSAFE for a foreign lock.
 */
async function takeTokenPlace(directory: string, port: string): Promise<TokenPlace> {
  const file = join(directory, 'mcp-token');
  const lock = `${file}.lock`;
  // A cloned repository can bring a link, and reading where it leads may never end.
  await readPrivateFile(lock);
  try {
    const held = await acquireProcessLock(lock, { busy: () => new WritError('CONTROL_INSTANCE_CONFLICT') });
    return { file, giveBack: () => held.release() };
  } catch (fault) {
    if (!isWritError(fault, 'CONTROL_INSTANCE_CONFLICT')) throw fault;
    return { file: `${file}-${port}`, giveBack: async () => {} };
  }
}

/** The one address of the protocol over HTTP. */
const mcpPath = '/mcp';

interface McpRoutes {
  readonly routes: readonly Route[];
  /** Ends what is under way. */
  close(): Promise<void>;
}

const maxAtOnce = 32;
/** What the protocol reads of a request; everything else stays here. */
const passed = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'];

/**
 * `POST /mcp` for both eras; requests are stateless. Checks the token, then the body, then the protocol.
 * MCP_TOKEN_REQUIRED; TOO_MANY_SUBSCRIBERS above 32 parallel requests.
 */
function mcpRoutes(ground: McpGround, token: string): McpRoutes {
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

/** The SDK is loaded by the first request. */
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

/** Passes a request to the handler and streams the answer back; a disconnect aborts the request. */
async function relay(
  handler: McpHttpHandler,
  request: IncomingMessage,
  response: ServerResponse,
  parsedBody: Readonly<Record<string, unknown>>,
): Promise<void> {
  const gone = new AbortController();
  const leave = (): void => gone.abort();
  response.on('close', leave);
  // The server keeps reading after the end of a request; a client that closes here cancels its call.
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
    // A client that disconnected gets no error.
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
