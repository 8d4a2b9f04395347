import { WritError } from '../core/base/errors.ts';
import { type Body, invalidBody, onlyMembers } from '../http/body-members.ts';
import { isReserved, isRunEvent, type RunEventType } from './event-types.ts';

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
  const { paths } = onlyMembers(body, ['paths']);
  if (!Array.isArray(paths) || paths.length === 0)
    throw invalidBody('`paths` to be a list of at least one string', paths);
  const odd = paths.findIndex((path) => typeof path !== 'string');
  if (odd >= 0) throw invalidBody(`\`paths[${odd}]\` to be a string`, paths[odd]);
  return paths as readonly string[];
}

/** `{type, data}` of a caller; INVALID_BODY, RESERVED_TYPE for what only the service itself publishes. */
export function readNotification(body: Body): Notification {
  const notification = readEvent(body);
  if (isReserved(notification.type))
    throw new WritError('RESERVED_TYPE', {
      message: `\`${notification.type}\` is one of the service’s own event types`,
      detail: { type: notification.type },
    });
  return notification;
}

/** `{type, data}` of a run of the engine: one of its four types, and `run_id` in the data; INVALID_BODY. */
export function readRunEvent(body: Body): Notification<RunEventType> {
  const { type, data } = readEvent(body);
  if (!isRunEvent(type)) throw invalidBody('`type` to be one that a run publishes', type);
  if (typeof data.run_id !== 'string' || data.run_id === '') throw invalidBody('`data.run_id`', data.run_id);
  return { type, data };
}

/** Zero or one whole number in the body's `limit`, between 1 and `most`. */
export function readLimit(body: Body, most: number): number {
  const { limit = most } = onlyMembers(body, ['limit']);
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > most)
    throw invalidBody(`\`limit\` to be a whole number from 1 to ${most}`, limit);
  return limit;
}

/** The path behind which a list begins, `''` where the query names none; INVALID_REQUEST for what no mark can be. */
export function readAfter(query: URLSearchParams): string {
  const after = query.get('after') ?? '';
  if (!after.includes('\0')) return after;
  throw new WritError('INVALID_REQUEST', { message: 'expected `after` to be a path, found a NUL character' });
}

function readEvent(body: Body): Notification {
  const { type, data } = onlyMembers(body, ['type', 'data']);
  const length = typeof type === 'string' ? [...type].length : 0;
  const isSound = typeof type === 'string' && type.trim() !== '' && !/[\0-\x1f\x7f-\x9f]/.test(type);
  if (!isSound || length > maxTypeCharacters)
    throw invalidBody(
      `\`type\` to be 1 to ${maxTypeCharacters} characters, not blank, without control characters`,
      type,
    );
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    throw invalidBody('`data` to be an object', data);
  return { type, data: data as Body };
}
