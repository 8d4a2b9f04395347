import type { RpcError } from './parse-request.ts';

/** What is asked of the session's server. */
export interface SessionQuestion {
  readonly method: 'GET' | 'POST';
  /** With its query. */
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
  /** The lease token that the request itself brought along. */
  readonly controllerToken?: string;
  readonly withinMs: number;
}

/** A route as a method: what of the parameters goes into its path. */
interface MethodRoute {
  readonly route: string;
  /** A read, with these whole numbers in its query. */
  readonly query?: readonly string[];
  readonly hasNoBody?: boolean;
  readonly withinMs?: number;
}

const withinMs = 60_000;
/** A sub-agent works until it is done. */
const dispatchWithinMs = 6 * 3_600_000;

/** Methods that are one request each (resolutions, code-control --stdio). */
export const methodRoutes: Readonly<Record<string, MethodRoute>> = {
  'session.get': { route: 'session', query: [] },
  'diagnostics.get': { route: 'diagnostics', query: [] },
  'transcript.get': { route: 'transcript', query: ['before', 'limit'] },
  'threads.list': { route: 'threads', query: ['limit', 'offset'] },
  'goal.status': { route: 'goal/status', query: [] },
  'controller.attach': { route: 'controller/attach' },
  'controller.detach': { route: 'controller/detach' },
  'message.submit': { route: 'messages' },
  'interaction.respond': { route: 'interactions/:interactionId' },
  'turn.cancel': { route: 'control/cancel', hasNoBody: true },
  'task.dispatch': { route: 'task/dispatch', withinMs: dispatchWithinMs },
  'goal.start': { route: 'goal/start' },
  'goal.cancel': { route: 'goal/cancel' },
};

/** Ids as this server makes them; nothing else has a place in a path. */
const plainId = /^[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,199}$/;

/**
 * The request that a call is; the parameters are the body of the route (resolutions), and are judged there. -32602 for
 * what has no place in it.
 */
export function toQuestion(
  { route, query, hasNoBody = false, withinMs: own = withinMs }: MethodRoute,
  params: Readonly<Record<string, unknown>>,
): SessionQuestion | RpcError {
  if (query !== undefined) {
    const stranger = Object.keys(params).find((name) => !query.includes(name));
    if (stranger !== undefined) return wrong(named(query), stranger);
    const wrongOne = query.find((name) => params[name] !== undefined && !Number.isSafeInteger(params[name]));
    if (wrongOne !== undefined) return wrong(`\`${wrongOne}\` to be a whole number`);
    const given = query.flatMap((name) => (params[name] === undefined ? [] : [`${name}=${params[name]}`]));
    const search = given.length === 0 ? '' : `?${given.join('&')}`;
    return { method: 'GET', path: `/api/code/${route}${search}`, withinMs: own };
  }
  const { controllerToken, ...rest } = params;
  if (
    controllerToken !== undefined &&
    (typeof controllerToken !== 'string' || !/^[\x21-\x7e]{1,200}$/.test(controllerToken))
  )
    return wrong('`controllerToken` to be what `controller.attach` answered with');
  const common = {
    method: 'POST',
    withinMs: own,
    ...(controllerToken === undefined ? {} : { controllerToken }),
  } as const;
  if (route.includes(':interactionId')) {
    const { interactionId, ...body } = rest;
    if (typeof interactionId !== 'string' || !plainId.test(interactionId))
      return wrong('`interactionId` to be the id of an interaction in `session.get`');
    return { ...common, path: `/api/code/${route.replace(':interactionId', interactionId)}`, body };
  }
  if (!hasNoBody) return { ...common, path: `/api/code/${route}`, body: rest };
  const [stranger] = Object.keys(rest);
  return stranger === undefined
    ? { ...common, path: `/api/code/${route}` }
    : wrong(named(['controllerToken']), stranger);
}

function named(names: readonly string[]): string {
  return names.length === 0 ? 'no parameter' : `no parameter but ${names.join(', ')}`;
}

function wrong(expected: string, found?: string): RpcError {
  const shown = found === undefined ? '' : `, found ${JSON.stringify(found.slice(0, 80))}`;
  return { code: -32602, message: `expected ${expected}${shown}` };
}
