/* Reads JSON bodies of requests within bounds of size, time and depth. */
import type { IncomingMessage } from 'node:http';
import { WritError } from '../core/base/errors.ts';
import { parse, type Schema, SchemaFault } from '../core/base/schema.ts';
import { parseStrictJson } from '../core/base/strict-json.ts';
import { valuesOf } from './guard-request.ts';

export interface BodyLimits {
  readonly maxBytes: number;
  /** For the whole body, from now on. */
  readonly withinMs: number;
  /** Nested objects and arrays. */
  readonly maxDepth: number;
}

/**
 * Reads the JSON object in a request's body. Throws UNSUPPORTED_MEDIA_TYPE, REQUEST_TIMEOUT or INVALID_BODY (not
 * strict JSON, not an object, cut off). Throws PAYLOAD_TOO_LARGE by the announced length before it reads, else at the
 * first octet beyond the limit.
 *
 * `proceed` is called before reading, because a client with `expect: 100-continue` waits for it. `admit` is called
 * before parsing, and throws if the body must not be parsed.
 */
export async function readJsonBody(
  request: IncomingMessage,
  limits: BodyLimits,
  proceed: () => void,
  admit?: () => void,
): Promise<Readonly<Record<string, unknown>>> {
  requireJson(request);
  const announced = request.headers['content-length'];
  if (announced !== undefined && Number(announced) > limits.maxBytes) throw tooLarge(limits, announced);
  proceed();
  const bytes = await readBounded(request, limits);
  admit?.();
  return parseObject(bytes, limits);
}

function requireJson(request: IncomingMessage): void {
  const types = valuesOf(request, 'content-type');
  const encodings = [
    ...valuesOf(request, 'content-encoding').filter((value) => value.toLowerCase() !== 'identity'),
    // Node accepts any other encoding before the last one.
    ...valuesOf(request, 'transfer-encoding').filter((value) => value.toLowerCase() !== 'chunked'),
  ];
  const [type = ''] = types;
  const plain = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i.test(type);
  if (types.length === 1 && plain && encodings.length === 0) return;
  throw new WritError('UNSUPPORTED_MEDIA_TYPE', { detail: { found: types, encodings } });
}

function readBounded(request: IncomingMessage, { maxBytes, withinMs }: BodyLimits): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(
      () => settle(new WritError('REQUEST_TIMEOUT', { detail: { withinMs, found: size } })),
      withinMs,
    );
    function settle(fault?: WritError): void {
      clearTimeout(timer);
      request.off('data', take).off('end', whole).off('close', cutOff).off('error', cutOff);
      // What is still to come stays in the socket until the answer is out.
      request.pause();
      if (fault === undefined) resolve(Buffer.concat(parts, size));
      else reject(fault);
    }
    function take(part: Buffer): void {
      size += part.length;
      if (size > maxBytes) settle(tooLarge({ maxBytes }, size));
      else parts.push(part);
    }
    function whole(): void {
      settle();
    }
    function cutOff(): void {
      settle(new WritError('INVALID_BODY', { message: 'the body was cut off', detail: { found: size } }));
    }
    request.on('error', () => {});
    request.on('data', take).on('end', whole).on('close', cutOff).on('error', cutOff);
  });
}

function parseObject(bytes: Buffer, { maxBytes, maxDepth }: BodyLimits): Readonly<Record<string, unknown>> {
  const { value } = parseStrictJson(bytes, { code: 'INVALID_BODY', maxBytes, maxDepth });
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new WritError('INVALID_BODY', { message: 'expected a JSON object' });
}

function tooLarge({ maxBytes }: Pick<BodyLimits, 'maxBytes'>, found: string | number): WritError {
  return new WritError('PAYLOAD_TOO_LARGE', {
    message: `expected a body of at most ${maxBytes} octets`,
    detail: { maxBytes, found: Number(found) },
  });
}

/** The JSON object of a request. */
export type Body = Readonly<Record<string, unknown>>;

/**
 * Returns a parser of bodies. INVALID_BODY names an unknown member; of any other fault it gives the kind of the found
 * value, never the value itself: it may be a secret.
 */
export function bodyReader<T>(schema: Schema<T>): (body: Body) => T {
  return (body) => {
    try {
      return parse(schema, body);
    } catch (fault) {
      if (!(fault instanceof SchemaFault)) throw fault;
      const { expected, found, stray } = fault.facts;
      if (stray === undefined)
        throw new WritError('INVALID_BODY', {
          message: `expected ${expected}, found ${kindOf(found)}`,
          detail: { expected },
        });
      const known = stray.known.map((name) => `\`${name}\``).join(', ') || 'none';
      throw new WritError('INVALID_BODY', {
        message: `unknown field \`${stray.name.slice(0, 80)}\`; expected ${known}`,
        detail: { expected: stray.known },
      });
    }
  };
}

function kindOf(found: unknown): string {
  if (found === undefined) return 'nothing';
  if (found === null) return 'null';
  if (Array.isArray(found)) return `a list of ${found.length}`;
  if (typeof found === 'string') return `a string of ${Buffer.byteLength(found)} octets`;
  return `a value of type ${typeof found}`;
}
