/* The discovery file of a running instance, and its secret tokens. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { isWritError, WritError } from '../core/base/errors.ts';
import { randomOctets } from '../core/base/ids.ts';
import { parseStrictJson } from '../core/base/strict-json.ts';
import { parseLoopbackAddress } from './guard-request.ts';

/** Published data of a running instance; never contains a secret. */
export interface Discovery {
  readonly version: 1;
  readonly mode: string;
  readonly pid: number;
  /** `http://127.0.0.1:1234`, a literal loopback address, without a final slash. */
  readonly baseUrl: string;
  /** Where MCP is served: a loopback address and a path. */
  readonly mcpUrl?: string;
  readonly workingDir: string;
  /** The thread of a session. */
  readonly threadId?: string;
  /** RFC 3339. */
  readonly startedAt: string;
}

/** The file's text: one JSON object, final line feed. */
export function formatDiscovery(discovery: Discovery): string {
  return `${JSON.stringify(discovery, null, 2)}\n`;
}

/** Throws PRIVATE_FILE_UNSAFE if the text is not a discovery file, or names an address outside the loopback. */
export function parseDiscovery(text: string, path: string): Discovery {
  try {
    const { value } = parseStrictJson(Buffer.from(text), { code: 'INVALID_BODY' });
    const { version, mode, pid, baseUrl, mcpUrl, workingDir, threadId, startedAt } = value as Partial<
      Record<keyof Discovery, unknown>
    >;
    if (
      version === 1 &&
      typeof mode === 'string' &&
      typeof pid === 'number' &&
      Number.isSafeInteger(pid) &&
      pid > 0 &&
      typeof baseUrl === 'string' &&
      isLoopbackBase(baseUrl) &&
      (mcpUrl === undefined || (typeof mcpUrl === 'string' && isLoopbackUrl(mcpUrl))) &&
      (threadId === undefined || typeof threadId === 'string') &&
      typeof workingDir === 'string' &&
      typeof startedAt === 'string'
    )
      return {
        version,
        mode,
        pid,
        baseUrl,
        ...(mcpUrl === undefined ? {} : { mcpUrl }),
        workingDir,
        ...(threadId === undefined ? {} : { threadId }),
        startedAt,
      };
  } catch (fault) {
    if (!isWritError(fault) && !(fault instanceof TypeError)) throw fault;
  }
  throw new WritError('PRIVATE_FILE_UNSAFE', {
    message: `\`${path}\` is no discovery file of version 1 with a loopback address`,
    detail: { path },
    hints: ['stop what wrote it and start it again, which writes a new one'],
  });
}

/** True for a literal loopback address with a port and no path. */
export function isLoopbackBase(text: string): boolean {
  const [, plain, bracketed, port] =
    /^http:\/\/(?:([0-9.]{7,15})|\[([0-9a-f:]{2,39})\]):([0-9]{1,5})$/.exec(text) ?? [];
  const address = plain ?? bracketed;
  return address !== undefined && parseLoopbackAddress(address) !== undefined && Number(port) <= 65535;
}

function isLoopbackUrl(text: string): boolean {
  return isLoopbackBase(/^(http:\/\/[^/]*)(?:\/[\w-]+)*$/.exec(text)?.[1] ?? '');
}

/** A new secret of 32 random octets, as 43 characters of base64url. */
export function makeToken(): string {
  return randomOctets(32).toString('base64url');
}

/** Constant-time comparison; the time does not depend on content or length. */
export function matchesToken(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
