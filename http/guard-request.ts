/* Refuses requests of other machines and of pages of other origins, by loopback addresses. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer, isIPv4, isIPv6 } from 'node:net';
import { WritError } from '../core/base/errors.ts';

/**
 * Returns why a request is refused, before any other part of it is read: a remote peer, a `Host` outside the
 * loopback, or a page of another origin. `undefined`: continue. A single-value header that is sent twice is refused.
 */
export function guardRequest(request: IncomingMessage): WritError | undefined {
  const { remoteAddress } = request.socket;
  if (!isLoopbackPeer(remoteAddress)) {
    return new WritError('LOOPBACK_REQUIRED', { detail: { found: remoteAddress ?? null } });
  }
  const [host, ...moreHosts] = valuesOf(request, 'host');
  if (host === undefined || moreHosts.length > 0 || !isLoopbackHost(host)) {
    return new WritError('HOST_FORBIDDEN', {
      detail: { found: moreHosts.length > 0 ? 'several' : (host ?? null) },
    });
  }
  return foreignOrigin(request, host);
}

/** Every value of a header as it was sent; node itself joins or drops those sent twice. */
export function valuesOf(request: IncomingMessage, name: string): readonly string[] {
  const found: string[] = [];
  const { rawHeaders } = request;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === name) found.push(rawHeaders[at + 1] ?? '');
  }
  return found;
}

/**
 * Browsers send `Origin` with requests from scripts, and `Sec-Fetch-Site` with all requests, including images and
 * forms. Programs send neither. A page that was served under the `Host` of the request is our own.
 */
function foreignOrigin(request: IncomingMessage, host: string): WritError | undefined {
  const own = `http://${host}`.toLowerCase();
  const expected = pageOrigin(request);
  const origins = valuesOf(request, 'origin');
  const origin = origins.length > 1 ? 'several' : origins.find((value) => value.toLowerCase() !== own);
  if (origin !== undefined) return new WritError('ORIGIN_REQUIRED', { detail: { expected, found: origin } });
  const site = valuesOf(request, 'sec-fetch-site').find(
    (value) => value !== 'same-origin' && value !== 'none',
  );
  return site === undefined
    ? undefined
    : new WritError('ORIGIN_REQUIRED', { detail: { expected, found: site } });
}

/** The origin of the page: the host of the request, with the port of this server if `Host` names none. */
export function pageOrigin(request: IncomingMessage): string {
  const [host = ''] = valuesOf(request, 'host');
  const port = /:\d+$/.test(host) ? '' : `:${request.socket.localPort}`;
  return `http://${host}${port}`.toLowerCase();
}

/** Which of the two loopback addresses a server can listen on here; none where even that is forbidden. */
export async function listenableAddresses(): Promise<readonly string[]> {
  const found: string[] = [];
  for (const host of ['127.0.0.1', '::1']) {
    const server = createServer();
    try {
      const listening = once(server, 'listening');
      server.listen({ host, port: 0, exclusive: true });
      await listening;
      found.push(host);
      server.close();
    } catch {
      // What cannot be had is not in the list.
    }
  }
  return found;
}

/**
 * Returns the literal loopback address in `text`, in its shortest form: 127.0.0.0/8 or ::1. `undefined` for
 * everything else: names (a resolver may return any address), shortened or octal IPv4, and IPv4 in IPv6.
 */
export function parseLoopbackAddress(text: string): string | undefined {
  if (isIPv4(text)) return text.startsWith('127.') ? text : undefined;
  if (!isIPv6(text) || text.includes('.') || text.includes('%')) return undefined;
  return new URL(`http://[${text}]/`).hostname === '[::1]' ? '::1' : undefined;
}

/** True for the peer address of a connection from this machine; a dual-stack socket gives IPv4 as `::ffff:127.…`. */
export function isLoopbackPeer(address: string | undefined): boolean {
  if (address === undefined) return false;
  const plain = address.toLowerCase().startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
  return parseLoopbackAddress(plain) !== undefined;
}

/**
 * True for a `Host` header that no name server can redirect: `localhost` or a literal loopback address, with any port
 * (a tunnel may change it). Any other host would let a page reach this server under its own name (DNS rebinding).
 */
export function isLoopbackHost(header: string): boolean {
  const [, name, bracketed] =
    /^(?:([A-Za-z0-9.]{1,64})|\[([0-9A-Fa-f:]{2,64})\])(?::[0-9]{1,5})?$/.exec(header) ?? [];
  if (bracketed !== undefined) return parseLoopbackAddress(bracketed) !== undefined;
  if (name === undefined) return false;
  return name.toLowerCase() === 'localhost' || (isIPv4(name) && parseLoopbackAddress(name) !== undefined);
}

/** Where this machine reaches a server that listens on `address`: every address includes the loopback’s. */
export function reachableHere(address: string): string {
  if (address === '0.0.0.0') return '127.0.0.1';
  return isIPv6(address) && new URL(`http://[${address}]/`).hostname === '[::]' ? '::1' : address;
}

/** Formats a literal address for a URL: IPv6 in brackets. */
export function toUrlHost(address: string): string {
  return isIPv6(address) ? `[${address}]` : address;
}
