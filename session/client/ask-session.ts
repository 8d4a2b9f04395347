import { isWritError, messageOf } from '../../core/base/errors.ts';
import { askHttp } from '../../core/base/net.ts';
import type { SessionAccess } from './find-session.ts';
import type { RpcError } from './parse-request.ts';
import type { SessionQuestion } from './to-question.ts';

const maxAnswerBytes = 64 * 1024 * 1024;

/** The body of an answer 200, else why there is none: -32000 with `{status, code}`, -32001, -32603 for no JSON. */
export type SessionAnswer = { readonly result: unknown } | { readonly error: RpcError };

/** Asks the server of a session. Rejects with the signal's reason alone. */
export async function askSession(
  access: SessionAccess,
  { method, path, body, controllerToken, withinMs }: SessionQuestion,
  signal: AbortSignal,
): Promise<SessionAnswer> {
  const { baseUrl, token } = access;
  const gone = await whyGone(access);
  if (gone !== undefined) return { error: gone };
  const headers = {
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(token === undefined || method === 'GET' ? {} : { 'x-svc-control-token': token }),
    ...(controllerToken === undefined ? {} : { 'x-code-controller-token': controllerToken }),
  };
  try {
    const answer = await askHttp({
      url: `${baseUrl}${path}`,
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      withinMs,
      maxBytes: maxAnswerBytes,
      signal,
    });
    return readAnswer(answer.status, answer.body);
  } catch (fault) {
    signal.throwIfAborted();
    return { error: transportFault(fault) };
  }
}

/** Once a session has ended anybody may listen where it did, and would be told what was meant for it. */
export async function whyGone({ baseUrl, isThere }: SessionAccess): Promise<RpcError | undefined> {
  if (isThere === undefined || (await isThere())) return undefined;
  return { code: -32001, message: `no session of this work tree answers on ${baseUrl} any more` };
}

/** An answer as it came. */
export function readAnswer(status: number, body: Buffer): SessionAnswer {
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch {
    return { error: { code: -32603, message: `the answer ${status} is no JSON` } };
  }
  if (status === 200) return { result: value };
  const { error } = (value ?? {}) as { readonly error?: unknown };
  const { code, message, details } = (error ?? {}) as Readonly<Record<string, unknown>>;
  const data = {
    status,
    code: typeof code === 'string' ? code : 'HTTP_ERROR',
    ...(details === undefined ? {} : { details }),
  };
  const said = typeof message === 'string' ? message : `the session answered ${status}`;
  return { error: { code: -32000, message: said, data } };
}

/** The session was not reached, or did not answer in time; anything else is a fault of our own. */
export function transportFault(fault: unknown): RpcError {
  return { code: isWritError(fault) ? -32001 : -32603, message: messageOf(fault) };
}
