/** Finds a running session and its control token. */
import { WritError } from '../../core/base/errors.ts';
import { type Discovery, isLoopbackBase, parseDiscovery, readPrivateFile } from '../../http/private-files.ts';
import { isProcessLockHeld } from '../../workspace/process/process-lock.ts';
import { type ControlPlace, findControlPlace } from './open-control.ts';

/** Where a session answers, and the right to control it. */
export interface SessionAccess {
  /** Without a final slash. */
  readonly baseUrl: string;
  readonly token?: string;
  /** Whether a session of that work tree answers there by now; absent for an address that a person named. */
  readonly isThere?: () => Promise<boolean>;
}

export interface SessionSought {
  /** Root of the working tree; not called if an address is given. */
  readonly root: () => Promise<string>;
  readonly url?: string;
  readonly tokenFile?: string;
  readonly infoFile?: string;
}

/**
 * Finds the session at the given address, or the live one with a discovery file here. The token is sent only to its
 * own session: it comes from the given file, or from the file beside the discovery file. USAGE for an address that is
 * not loopback, SESSION_NOT_RUNNING, PRIVATE_FILE_UNSAFE.
 */
export async function findSession({ root, url, tokenFile, infoFile }: SessionSought): Promise<SessionAccess> {
  if (url !== undefined) return withToken(toBase(url), tokenFile);
  const place = await findControlPlace(await root(), infoFile === undefined ? {} : { infoFile });
  const { baseUrl, mode } = await readRunning(place);
  const beside = infoFile === undefined && mode === 'write' ? place.token : undefined;
  const access = await withToken(baseUrl, tokenFile ?? beside, tokenFile === undefined);
  const isThere = () =>
    readRunning(place).then(
      (now) => now.baseUrl === baseUrl,
      () => false,
    );
  return { ...access, isThere };
}

/** Reads the discovery file of a running session. SESSION_NOT_RUNNING, PRIVATE_FILE_UNSAFE. */
async function readRunning({ info, infoLock }: Pick<ControlPlace, 'info' | 'infoLock'>): Promise<Discovery> {
  const text = await readPrivateFile(info);
  if (text === undefined) throw notRunning('stopped', info);
  const discovery = parseDiscovery(text, info);
  await readPrivateFile(infoLock);
  // A killed session leaves its file, and another program may listen on its port.
  if (!(await isProcessLockHeld(infoLock, discovery.pid))) throw notRunning('stale', info);
  return discovery;
}

async function withToken(baseUrl: string, path: string | undefined, mayLack = false): Promise<SessionAccess> {
  if (path === undefined) return { baseUrl };
  const text = await readPrivateFile(path);
  if (text === undefined && mayLack) return { baseUrl };
  const token = text?.trimEnd() ?? '';
  if (/^[\w-]{43}$/.test(token)) return { baseUrl, token };
  throw new WritError('PRIVATE_FILE_UNSAFE', {
    message: `\`${path}\` holds no control token`,
    detail: { path },
    hints: ['name the file that the session was started with: `--token-file`'],
  });
}

/** A name could be made to mean any address. */
function toBase(url: string): string {
  const base = url.replace(/\/$/, '');
  if (isLoopbackBase(base)) return base;
  throw new WritError('USAGE', {
    message: `expected \`--url\` to be a loopback address with its port (http://127.0.0.1:3000), found \`${url}\``,
    detail: { option: '--url', expected: 'http://127.0.0.1:PORT or http://[::1]:PORT', found: url },
  });
}

function notRunning(state: 'stopped' | 'stale', path: string): WritError {
  return new WritError('SESSION_NOT_RUNNING', { detail: { state, discovery_file: path } });
}

/** Cuts the chunks of a stream into bounded lines, for the JSON-RPC loops of `code-control` and MCP. */

/**
 * Returns a function that yields the whole lines of each chunk, without their ends. A line of more than `maxBytes` is
 * yielded once as `too-long` and skipped to its end. Called without a chunk, it yields the last line, which has no end.
 */
export function cutLines(
  maxBytes: number,
): (chunk?: Uint8Array) => Generator<Buffer | 'too-long', void, undefined> {
  let parts: Uint8Array[] = [];
  let held = 0;
  let skips = false;
  return function* cut(chunk) {
    if (chunk === undefined) {
      if (held > 0 && !skips) yield Buffer.concat(parts);
      return;
    }
    let from = 0;
    while (from < chunk.length) {
      const end = chunk.indexOf(10, from);
      const part = chunk.subarray(from, end === -1 ? chunk.length : end);
      from += part.length + 1;
      if (!skips) {
        held += part.length;
        if (held > maxBytes) {
          [skips, parts] = [true, []];
          yield 'too-long';
        } else parts.push(Uint8Array.from(part));
      }
      if (end === -1) return;
      const line = skips ? undefined : Buffer.concat(parts);
      [parts, held, skips] = [[], 0, false];
      if (line !== undefined) yield line;
    }
  };
}
