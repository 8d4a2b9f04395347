/* Refuses requests of other machines and of pages of other origins. */
import type { IncomingMessage } from 'node:http';
import { WritError } from '../core/base/errors.ts';
import { isLoopbackHost, isLoopbackPeer } from './addresses.ts';

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
