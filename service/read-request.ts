import { WritError } from '../core/base/errors.ts';
import { isBuiltIn, isRunEvent, type RunEventType } from './event-types.ts';

/** The JSON object of a request. */
export type Body = Readonly<Record<string, unknown>>;

const maxTypeCharacters = 128;

/** What is to be published. */
export interface Notification<T extends string = string> {
  readonly type: T;
  readonly data: Body;
}

/**
 * `{paths: [string]}` with at least one path; INVALID_BODY. Whether each is a path of the repository is not judged
 * here.
 */
export function readPaths(body: Body): readonly string[] {
  const { paths } = only(body, ['paths']);
  if (!Array.isArray(paths) || paths.length === 0)
    throw invalid('`paths` to be a list of at least one string', paths);
  const odd = paths.findIndex((path) => typeof path !== 'string');
  if (odd >= 0) throw invalid(`\`paths[${odd}]\` to be a string`, paths[odd]);
  return paths as readonly string[];
}

/** `{type, data}` of a caller; INVALID_BODY, RESERVED_TYPE for what only the service itself publishes. */
export function readNotification(body: Body): Notification {
  const notification = readEvent(body);
  if (isBuiltIn(notification.type.trim()))
    throw new WritError('RESERVED_TYPE', {
      message: `\`${notification.type}\` is one of the service’s own event types`,
      detail: { type: notification.type },
    });
  return notification;
}

/** `{type, data}` of a run of the engine: one of its four types, and `run_id` in the data; INVALID_BODY. */
export function readRunEvent(body: Body): Notification<RunEventType> {
  const { type, data } = readEvent(body);
  if (!isRunEvent(type)) throw invalid('`type` to be one that a run publishes', type);
  if (typeof data.run_id !== 'string' || data.run_id === '') throw invalid('`data.run_id`', data.run_id);
  return { type, data };
}

/** Zero or one whole number in the body's `limit`, between 1 and `most`. */
export function readLimit(body: Body, most: number): number {
  const { limit = most } = only(body, ['limit']);
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > most)
    throw invalid(`\`limit\` to be a whole number from 1 to ${most}`, limit);
  return limit;
}

/** The path behind which a list begins, `''` where the query names none; INVALID_REQUEST for what no mark can be. */
export function readAfter(query: URLSearchParams): string {
  const after = query.get('after') ?? '';
  if (!after.includes('\0')) return after;
  throw new WritError('INVALID_REQUEST', { message: 'expected `after` to be a path, found a NUL character' });
}

function readEvent(body: Body): Notification {
  const { type, data } = only(body, ['type', 'data']);
  const length = typeof type === 'string' ? [...type].length : 0;
  const isSound = typeof type === 'string' && type.trim() !== '' && !/[\0-\x1f\x7f-\x9f]/.test(type);
  if (!isSound || length > maxTypeCharacters)
    throw invalid(
      `\`type\` to be 1 to ${maxTypeCharacters} characters, not blank, without control characters`,
      type,
    );
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    throw invalid('`data` to be an object', data);
  return { type, data: data as Body };
}

/** A field that nobody would read is refused, not passed over. */
function only(body: Body, known: readonly string[]): Body {
  const odd = Object.keys(body).find((name) => !known.includes(name));
  if (odd === undefined) return body;
  throw new WritError('INVALID_BODY', {
    message: `unknown field \`${odd.slice(0, 80)}\`; expected ${known.map((name) => `\`${name}\``).join(', ')}`,
    detail: { expected: known },
  });
}

function invalid(expected: string, found: unknown): WritError {
  const kind = found === null ? 'null' : Array.isArray(found) ? `a list of ${found.length}` : typeof found;
  return new WritError('INVALID_BODY', {
    message: `expected ${expected}, found ${found === undefined ? 'nothing' : kind}`,
    detail: { expected },
  });
}
