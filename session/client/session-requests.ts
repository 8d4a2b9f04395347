/** Parses JSON-RPC requests and converts them to HTTP requests. */
import { isWritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';

/** `null` also if the id cannot be parsed. */
type RpcId = string | number | null;

/** Error of JSON-RPC 2.0, section 5.1. */
export interface RpcError {
  readonly code: -32700 | -32600 | -32601 | -32602 | -32603 | -32000 | -32001;
  readonly message: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

export interface RpcRequest {
  /** Absent: a notification, which is never answered. */
  readonly id?: RpcId;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export type ParsedRequest = RpcRequest | { readonly id?: RpcId; readonly error: RpcError };

/** Nested objects and arrays. */
const maxDepth = 64;

/**
 * One line as a request: strict JSON, one object, `params` by name. A batch is none: requests run side by side as it
 * is, one on each line. What is wrong is answered under the request's own id where that can be read.
 */
export function parseRequest(line: Uint8Array): ParsedRequest {
  let value: unknown;
  try {
    ({ value } = parseStrictJson(line, { code: 'INVALID_BODY', maxDepth }));
  } catch (fault) {
    if (!isWritError(fault)) throw fault;
    return { id: null, error: { code: -32700, message: fault.message } };
  }
  if (Array.isArray(value))
    return { id: null, error: invalid('a batch is not taken: one request on each line') };
  if (typeof value !== 'object' || value === null)
    return { id: null, error: invalid('expected a request object') };
  const { jsonrpc, method, params = {}, id } = value as Readonly<Record<string, unknown>>;
  if (!isId(id)) return { id: null, error: invalid('expected `id` to be a string, a number or null') };
  const own = id === undefined ? {} : { id };
  // An invalid message without an id may be a request, so it is answered with id `null`.
  const known = { id: id ?? null };
  if (jsonrpc !== '2.0') return { ...known, error: invalid('expected `jsonrpc` to be "2.0"') };
  if (typeof method !== 'string') return { ...known, error: invalid('expected `method` to be a string') };
  if (typeof params !== 'object' || params === null)
    return { ...known, error: invalid('expected `params` to be an object') };
  if (Array.isArray(params))
    return { ...own, error: { code: -32602, message: 'expected `params` by name, found a list' } };
  return { ...own, method, params: params as RpcRequest['params'] };
}

function isId(id: unknown): id is RpcId | undefined {
  return id === undefined || id === null || typeof id === 'string' || typeof id === 'number';
}

function invalid(message: string): RpcError {
  return { code: -32600, message };
}

/** An HTTP request to the session's server. */
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

/** Methods that are one HTTP request each. */
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

/** Ids as this server generates them. No other id may be part of a path. */
const plainId = /^[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,199}$/;

/**
 * Converts a call to an HTTP request. The parameters become the body, which the route validates. -32602 for
 * parameters without a place in the request.
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
