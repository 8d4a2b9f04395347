import {
  type Fields,
  isCount,
  nameOf,
  parseList,
  parseText,
  parseWord,
  toFields,
} from '../../core/base/json-pointer.ts';
import { serviceUrlFault } from '../../core/base/service-url.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { ReplayState } from '../../core/interfaces/model.ts';
import { codedForms } from '../../readers/sensitive/find-encoded.ts';

/** Form of a file that holds one exchange with a model's service. */
export const trafficFormat = 'urn:writ:model-traffic:v1';
/** Of one file. */
export const maxTrafficBytes = 64 * 1024 * 1024;
/** Of one recording; a name has four digits. */
export const maxExchanges = 9999;
/** Of one answer. */
export const maxPieces = 1_000_000;
/** Nesting of a question's body. */
export const maxBodyDepth = 256;

/** The settings of the recorded provider; reading the recording needs no key. */
export interface OpenedProvider {
  readonly provider: string;
  /** The default model. */
  readonly model: string;
  readonly base: string;
  readonly isOtherBase: boolean;
  readonly flags: Readonly<Record<string, string>>;
}

export interface RecordedQuestion {
  readonly method: 'GET' | 'POST';
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Where the body is JSON. */
  readonly body?: unknown;
  /** Where it is something else. */
  readonly base64?: string;
}

/** How a body ended; `left`: the reader stopped. */
export const trafficEnds = ['whole', 'left', 'stalled', 'dropped', 'too-large'] as const;
/** Why there was no answer. */
export const trafficFailures = ['unreachable', 'stalled', 'left'] as const;

/** A piece of a body as it came: text, where its octets are the text's own. */
export type RecordedPiece = string | { readonly base64: string };

export type RecordedAnswer =
  | {
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly pieces: readonly RecordedPiece[];
      readonly end: (typeof trafficEnds)[number];
      readonly found?: string;
    }
  | { readonly failed: (typeof trafficFailures)[number]; readonly found: string };

export interface RecordedExchange {
  readonly format: typeof trafficFormat;
  /** From 1, in the order of the questions. */
  readonly number: number;
  readonly opened: OpenedProvider;
  readonly request: RecordedQuestion;
  readonly answer: RecordedAnswer;
}

const keptHeaders = [
  'accept',
  'content-type',
  'anthropic-version',
  'anthropic-beta',
  'retry-after',
  'retry-after-ms',
];

/** Headers that a recording keeps; every other may be a key, a cookie or a name. */
export function isKeptHeader(name: string): boolean {
  return keptHeaders.includes(name) || /^(?:x|anthropic)-ratelimit-[a-z-]{1,40}$/.test(name);
}

export function fileName(number: number): string {
  return `${String(number).padStart(4, '0')}.json`;
}

/** Parses the file of one exchange; throws an error with the reason if the file is invalid. */
export function parseExchange(bytes: Uint8Array, number: number): RecordedExchange {
  const { value } = parseStrictJson(bytes, {
    code: 'RECORDING_MALFORMED',
    maxBytes: maxTrafficBytes,
    maxDepth: maxBodyDepth + 2,
  });
  const fields = toFields(value, 'an exchange', ['format', 'number', 'opened', 'request', 'answer']);
  const format = parseWord(fields, 'format', [trafficFormat]);
  if (fields.number !== number) throw new TypeError(`expected \`number\` to be ${number}`);
  return {
    format,
    number,
    opened: parseOpened(fields.opened),
    request: parseQuestion(fields.request),
    answer: parseAnswer(fields.answer),
  };
}

function parseOpened(value: unknown): OpenedProvider {
  const fields = toFields(value, 'how the provider was opened', [
    'provider',
    'model',
    'base',
    'isOtherBase',
    'flags',
  ]);
  const base = parseText(fields, 'base', 2048);
  // No request is sent to it.
  const fault = serviceUrlFault(base, 'any');
  if (fault !== undefined) throw new TypeError(`expected \`base\` to be an address: ${fault}`);
  if (typeof fields.isOtherBase !== 'boolean')
    throw new TypeError('expected `isOtherBase` to be true or false');
  return {
    provider: parseText(fields, 'provider', 64),
    model: parseText(fields, 'model', 256),
    base,
    isOtherBase: fields.isOtherBase,
    flags: parseTexts(fields.flags, 'flags', 4096),
  };
}

function parseQuestion(value: unknown): RecordedQuestion {
  const fields = toFields(value, 'a question', ['method', 'path', 'headers', 'body', 'base64']);
  const path = parseText(fields, 'path', 8192);
  if (!path.startsWith('/')) throw new TypeError('expected `path` to begin with a slash');
  return {
    method: parseWord(fields, 'method', ['GET', 'POST']),
    path,
    headers: parseHeaders(fields.headers),
    ...(Object.hasOwn(fields, 'body') ? { body: fields.body } : {}),
    ...(Object.hasOwn(fields, 'base64') ? { base64: parseText(fields, 'base64', maxTrafficBytes, 0) } : {}),
  };
}

function parseAnswer(value: unknown): RecordedAnswer {
  const fields = toFields(value, 'an answer', ['status', 'headers', 'pieces', 'end', 'failed', 'found']);
  if (Object.hasOwn(fields, 'failed')) {
    toFields(value, 'a failed question', ['failed', 'found']);
    return {
      failed: parseWord(fields, 'failed', trafficFailures),
      found: parseText(fields, 'found', 1000, 0),
    };
  }
  const { status } = fields;
  if (!isCount(status, 100) || status > 599)
    throw new TypeError(`expected \`status\` to be one of HTTP, got ${nameOf(status)}`);
  return {
    status,
    headers: parseHeaders(fields.headers),
    pieces: parseList(fields.pieces, parsePiece, maxPieces),
    end: parseWord(fields, 'end', trafficEnds),
    ...(fields.found === undefined ? {} : { found: parseText(fields, 'found', 1000, 0) }),
  };
}

function parsePiece(value: unknown): RecordedPiece {
  if (typeof value === 'string') return value;
  const fields = toFields(value, 'a piece', ['base64']);
  const base64 = parseText(fields, 'base64', maxTrafficBytes, 0);
  if (Buffer.from(base64, 'base64').toString('base64') !== base64)
    throw new TypeError('expected `base64` to be base64 in its one form');
  return { base64 };
}

function parseHeaders(value: unknown): Readonly<Record<string, string>> {
  const headers = parseTexts(value, 'headers', 32 * 1024);
  const foreign = Object.keys(headers).find((name) => !isKeptHeader(name));
  if (foreign !== undefined) throw new TypeError('expected no headers but those that a recording keeps');
  return headers;
}

function parseTexts(value: unknown, wanted: string, maxLength: number): Readonly<Record<string, string>> {
  const fields: Fields = toFields(value, `\`${wanted}\``);
  return Object.fromEntries(Object.keys(fields).map((name) => [name, parseText(fields, name, maxLength, 0)]));
}

/** Returns the state that a message holds for this provider and model; `undefined` if it belongs to another. */
export function replayed(state: ReplayState | undefined, provider: string, model: string): unknown {
  return state?.provider === provider && state.model === model ? state.value : undefined;
}

/** A shorter value is a word, and would be found everywhere. */
const leastLength = 8;
const mark = '*';

/** Puts as many marks in the place of known values, so that lengths and cuts stay what they were. */
export interface ValueMask {
  bytes(found: Uint8Array): Buffer;
  text(found: string): string;
  /** Strings and names of a JSON value. */
  json(found: unknown): unknown;
}

/**
 * Masks values of at least eight characters wherever they occur: plain, in JSON and URL form, in base64 (at any
 * alignment) and in hexadecimal.
 */
export function maskValues(values: readonly string[]): ValueMask {
  const forms = [
    ...new Set(values.filter((value) => value.length >= leastLength).flatMap((value) => formsOf(value))),
  ].sort((one, other) => other.length - one.length);
  const octets = forms.map((form) => Buffer.from(form));
  const text = (found: string): string =>
    forms.reduce((all, form) => all.replaceAll(form, mark.repeat(form.length)), found.toWellFormed());
  const json = (found: unknown): unknown => {
    if (typeof found === 'string') return text(found);
    if (Array.isArray(found)) return found.map(json);
    if (typeof found !== 'object' || found === null) return found;
    return Object.fromEntries(Object.entries(found).map(([name, value]) => [text(name), json(value)]));
  };
  return {
    text,
    json,
    bytes(found) {
      const masked = Buffer.from(found);
      for (const form of octets)
        for (let at = masked.indexOf(form); at >= 0; at = masked.indexOf(form, at + form.length))
          masked.fill(mark, at, at + form.length);
      return masked;
    },
  };
}

function formsOf(value: string): readonly string[] {
  const escaped = JSON.stringify(value).slice(1, -1);
  return [value.toWellFormed(), escaped, escaped.replaceAll('/', '\\/'), ...codedForms(Buffer.from(value))];
}

/** The row of a name that somebody else chose: what every object inherits is none. */
export function rowOf<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
