import type { HostilePlace } from './hostile-row.ts';

export const markTarget = '/api/service/dirty/mark';
export const notifyTarget = '/api/service/notify';
export const markBody = '{"paths":["a"]}';

export interface RequestParts {
  readonly method?: string;
  readonly target?: string;
  /** Replaces the sound ones of the same name; a list is sent one by one, none leaves the header out. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Sent with its length, unless the headers tell otherwise. */
  readonly body?: string | Uint8Array;
}

/**
 * An authorised request that would be answered with 200, but for what the row changes in it. Headers are sent as
 * Latin-1, a text body as UTF-8.
 */
export function soundRequest(place: Pick<HostilePlace, 'host' | 'token'>, parts: RequestParts = {}): Buffer {
  const { body, method = body === undefined ? 'GET' : 'POST', target = '/api/health' } = parts;
  const octets = Buffer.from(body ?? '');
  const framed = body !== undefined && parts.headers?.['transfer-encoding'] === undefined;
  const headers = {
    host: place.host,
    'x-svc-service-token': place.token,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(framed ? { 'content-length': String(octets.length) } : {}),
    ...parts.headers,
  };
  const lines = [`${method} ${target} HTTP/1.1`];
  for (const [name, value] of Object.entries(headers)) {
    for (const one of value === undefined ? [] : [value].flat()) lines.push(`${name}: ${one}`);
  }
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), octets]);
}

/** The request for one mark, with `headers` and `body` of the row. */
export function markRequest(
  headers: RequestParts['headers'] = {},
  body: string | Uint8Array = markBody,
): (place: HostilePlace) => Buffer {
  return (place) => soundRequest(place, { target: markTarget, headers, body });
}

/** A probe of the health with `headers` of the row. */
export function healthRequest(headers: RequestParts['headers']): (place: HostilePlace) => Buffer {
  return (place) => soundRequest(place, { headers: { 'x-svc-service-token': undefined, ...headers } });
}

/** Octets of a row that sends no request line and headers of ours; text is Latin-1. */
export function raw(text: (place: HostilePlace) => string): (place: HostilePlace) => Buffer {
  return (place) => Buffer.from(text(place), 'latin1');
}
