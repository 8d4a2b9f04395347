import { join } from 'node:path';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { makeToken } from '../../http/discovery.ts';
import { startLoopbackServer } from '../../http/loopback-server.ts';
import { readPrivateFile, removeOwnFile, writePrivateFile } from '../../http/private-files.ts';
import { acquireProcessLock } from '../../workspace/process/process-lock.ts';
import type { McpGround } from './mcp-ground.ts';
import { mcpPath, mcpRoutes } from './mcp-routes.ts';

export interface McpHttpOptions {
  /** A literal loopback address. */
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  /** `<state_dir>/code`, a private directory of this user; the token is written there. */
  readonly directory: string;
  /** A fault of ours, that the client is not told. */
  readonly report: (fault: unknown) => void;
}

export interface McpHttp {
  /** `http://127.0.0.1:6789/mcp`. */
  readonly mcpUrl: string;
  readonly tokenFile: string;
  /** Ends what is under way, and takes the token away. */
  close(): Promise<void>;
}

const body = { maxBytes: 256 * 1024, withinMs: 10_000, maxDepth: 64 };
const headersWithinMs = 10_000;
const closeWithinMs = 400;

/**
 * Serves the protocol on the loopback: `Host` and `Origin` are looked at as for every server of writ, and each start
 * has a token of its own, 0600. PORT_UNAVAILABLE; PRIVATE_FILE_UNSAFE where the token cannot be kept.
 */
export async function serveMcpHttp(
  ground: McpGround,
  { host, port, directory, report }: McpHttpOptions,
): Promise<McpHttp> {
  const token = makeToken();
  const { routes, close } = mcpRoutes(ground, token);
  const server = await startLoopbackServer({
    host,
    port,
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

/** Where the token of one server lies. */
interface TokenPlace {
  readonly file: string;
  giveBack(): Promise<void>;
}

/**
 * `mcp-token` (resolutions B, MCP), and for a session beside one that has it already `mcp-token-PORT`: whoever has read
 * the first goes on with it, whichever session ends sooner. PRIVATE_FILE_UNSAFE for a lock that is none of ours.
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
