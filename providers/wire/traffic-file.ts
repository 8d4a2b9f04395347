/* The format of recorded exchanges. */
import { serviceUrlFault } from '../../core/base/http-question.ts';
import {
  anything,
  count,
  either,
  flag,
  list,
  mapOf,
  object,
  oneOf,
  parse,
  type TypeOf,
  text,
  where,
} from '../../core/base/schema.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { ReplayState } from '../../core/interfaces/model.ts';
import { codedForms } from '../../readers/sensitive/encoded-text.ts';
import { maxBodyDepth } from '../../readers/sensitive/model-work.ts';

/** Form of a file that holds one exchange with a model's service. */
export const trafficFormat = 'urn:writ:model-traffic:v1';
/** Of one file. */
export const maxTrafficBytes = 64 * 1024 * 1024;
/** Of one recording; a name has four digits. */
export const maxExchanges = 9999;
/** Of one answer. */
export const maxPieces = 1_000_000;

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

/** How a body ended; `left`: the reader stopped. */
export const trafficEnds = ['whole', 'left', 'stalled', 'dropped', 'too-large'] as const;
/** Why there was no answer. */
export const trafficFailures = ['unreachable', 'stalled', 'left'] as const;

const texts = (wanted: string, most: number) => mapOf(`\`${wanted}\``, text(most, 0));

const headers = where(texts('headers', 32 * 1024), 'no headers but those that a recording keeps', (given) =>
  Object.keys(given).every(isKeptHeader),
);

/** The settings of the recorded provider; reading the recording needs no key. */
const opened = object('how the provider was opened', {
  provider: text(64),
  /** The default model. */
  model: text(256),
  // No request is sent to it.
  base: where(text(2048), 'to be an address', (base) => serviceUrlFault(base, 'any') === undefined),
  isOtherBase: flag,
  flags: texts('flags', 4096),
});
export type OpenedProvider = TypeOf<typeof opened>;

/** `path` is with its query. `body`: where it is JSON; `base64`: where it is something else. */
const question = object(
  'a question',
  {
    method: oneOf('GET', 'POST'),
    path: where(text(8192), 'to begin with a slash', (path) => path.startsWith('/')),
    headers,
  },
  { body: anything, base64: text(maxTrafficBytes, 0) },
);
export type RecordedQuestion = TypeOf<typeof question>;

const encoded = object('a piece', {
  base64: where(
    text(maxTrafficBytes, 0),
    'to be base64 in its one form',
    (base64) => Buffer.from(base64, 'base64').toString('base64') === base64,
  ),
});

/** A piece of a body as it came: text, where its octets are the text's own. */
const piece = either((one) => typeof one === 'string', text(maxTrafficBytes, 0), encoded);
export type RecordedPiece = TypeOf<typeof piece>;

const answered = object(
  'an answer',
  { status: count(100, 599), headers, pieces: list(piece, maxPieces), end: oneOf(...trafficEnds) },
  { found: text(1000, 0) },
);
const unanswered = object('a failed question', { failed: oneOf(...trafficFailures), found: text(1000, 0) });
const answer = either((given) => Object.hasOwn(Object(given), 'failed'), unanswered, answered);
export type RecordedAnswer = TypeOf<typeof answer>;

/** `number` counts from 1, in the order of the questions. */
const exchange = object('an exchange', {
  format: oneOf(trafficFormat),
  number: count(1),
  opened,
  request: question,
  answer,
});
export type RecordedExchange = TypeOf<typeof exchange>;

/** Parses the file of one exchange; throws an error with the reason if the file is invalid. */
export function parseExchange(bytes: Uint8Array, number: number): RecordedExchange {
  const { value } = parseStrictJson(bytes, {
    code: 'RECORDING_MALFORMED',
    maxBytes: maxTrafficBytes,
    maxDepth: maxBodyDepth + 2,
  });
  const read = parse(exchange, value);
  if (read.number !== number) throw new TypeError(`expected \`number\` to be ${number}`);
  return read;
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
