import type { IncomingMessage, ServerResponse } from 'node:http';
import { WritError } from '../core/base/errors.ts';
import { valuesOf } from './guard-request.ts';
import type { Route } from './route.ts';
import { sendError } from './send-answer.ts';
import { sendPage } from './send-page.ts';

/** The page that a peer at this address is shown. */
export type NoticeFor = (remoteAddress: string) => string;

/**
 * Answers peers that are not on this machine, whatever else their request is (resolutions B, Order of refusals): the
 * notice where a browser goes to a page, LOOPBACK_REQUIRED on known routes, NOT_FOUND for everything else. No route is
 * asked, and of a body nothing is read.
 */
export function answerElsewhere(
  routes: readonly Pick<Route, 'path' | 'isPage'>[],
  notice: NoticeFor,
): (request: IncomingMessage, response: ServerResponse) => void {
  const known = routes.filter(({ isPage }) => isPage !== true).map(({ path }) => path.split('/'));
  const tops = new Set(known.map(([, top]) => top));
  return (request, response) => {
    const { remoteAddress } = request.socket;
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const parts = path.split('/');
    if (known.some((one) => isSame(one, parts))) {
      const detail = { found: remoteAddress ?? null };
      void sendError(request, response, new WritError('LOOPBACK_REQUIRED', { detail }));
    } else if (isNavigation(request) && !tops.has(parts[1]) && !isAsset(parts))
      sendPage(response, notice(remoteAddress ?? 'unknown'));
    else void sendError(request, response, new WritError('NOT_FOUND'));
  };
}

function isSame(route: readonly string[], parts: readonly string[]): boolean {
  return (
    route.length === parts.length &&
    route.every((part, at) => (part.startsWith(':') ? parts[at] !== '' : part === parts[at]))
  );
}

/** A browser that shows what comes: newer ones say so, older ones ask for HTML. */
function isNavigation(request: IncomingMessage): boolean {
  if (request.method !== 'GET' && request.method !== 'HEAD') return false;
  const [mode] = valuesOf(request, 'sec-fetch-mode');
  const [dest = 'document'] = valuesOf(request, 'sec-fetch-dest');
  if (mode !== undefined) return mode === 'navigate' && dest === 'document';
  return valuesOf(request, 'accept').some((value) => /\btext\/html\b/i.test(value));
}

/** A name with an ending is a file of a page. */
function isAsset(parts: readonly string[]): boolean {
  return parts.at(-1)?.includes('.') === true;
}
