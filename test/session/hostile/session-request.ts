import { type RequestParts, soundRequest } from '../../service/hostile/sound-request.ts';
import type { SessionPlace } from './open-session-place.ts';
import type { RouteLine } from './route-lines.ts';

/** The target of a sound request. */
export function targetOf({ question }: SessionPlace, { path }: RouteLine): string {
  return path.replace(':id', question);
}

/** The text of a sound body; `{}` for a route that has none. */
export function bodyOf(place: SessionPlace, { body }: RouteLine): string {
  return JSON.stringify(body?.(place) ?? {});
}

/** A request that would be answered as the line says, but for what the row changes in it. */
export function sessionRequest(place: SessionPlace, line: RouteLine, parts: RequestParts = {}): Buffer {
  const { method = line.method, target = targetOf(place, line), headers, ...rest } = parts;
  const { body = line.body === undefined ? undefined : bodyOf(place, line) } = rest;
  const isAutomation = place.kind === 'automation' && line.shows !== 'nothing';
  return soundRequest(place, {
    method,
    target,
    headers: {
      'x-svc-service-token': undefined,
      // A browser attaches with the origin of the page.
      ...(line.shows === 'client' ? { origin: `http://${place.host}` } : {}),
      ...(line.shows === 'lease' ? { 'x-code-controller-token': place.lease } : {}),
      ...(isAutomation ? { 'x-svc-control-token': place.token } : {}),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  });
}
