import { isWritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';

/** What a request is answered under; `null` also where nobody knows. */
type RpcId = string | number | null;

/** Why a request has no result (JSON-RPC 2.0, 5.1; resolutions, code-control --stdio). */
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
  // Without an id of its own it may be anything, and is answered all the same.
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
