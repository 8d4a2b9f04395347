/* Parses JSON strictly: no duplicate names, limits on size and depth. */
import { isUtf8 } from 'node:buffer';
import type { ErrorCode } from './error-codes.ts';
import { WritError } from './errors.ts';

export interface StrictJsonOptions {
  /** Error code of a refusal; default `INTENTSPEC_MALFORMED`. */
  readonly code?: ErrorCode;
  /** Default 4 MiB. */
  readonly maxBytes?: number;
  /** Nested objects and arrays; default 64. */
  readonly maxDepth?: number;
  /** Rounds a number that a double cannot hold, as `JSON.parse` does, instead of refusing it. */
  readonly roundsNumbers?: boolean;
  /** Reads half of a pair of surrogates, and with `true` a property that is there twice, as `JSON.parse` does. */
  readonly allowsIllFormed?: boolean | 'surrogates';
}

export interface StrictJson {
  readonly value: unknown;
  /** The decoded text. */
  readonly text: string;
}

/**
 * Parses I-JSON (RFC 7493) in linear time. Refuses with `detail {reason, line, column}` (from 1; columns count code
 * points): duplicate keys, lone surrogates, invalid UTF-8, a BOM, trailing data, control characters in strings,
 * numbers that a double cannot hold, plain integers beyond 2^53-1, too much depth or size. `__proto__` is an ordinary
 * own key; `-0` is 0.
 */
export function parseStrictJson(bytes: Uint8Array, options: StrictJsonOptions = {}): StrictJson {
  const code = options.code ?? 'INTENTSPEC_MALFORMED';
  const text = decode(bytes, code, options.maxBytes ?? 4 * 1024 * 1024);
  return { value: readDocument(text, code, options), text };
}

function decode(bytes: Uint8Array, code: ErrorCode, maxBytes: number): string {
  if (bytes.length > maxBytes) {
    throw jsonRefusal(code, 'too-large', '', 0, `expected at most ${maxBytes} bytes, found ${bytes.length}`);
  }
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    throw jsonRefusal(
      code,
      'byte-order-mark',
      '',
      0,
      'expected JSON, found a byte order mark; save the file without it',
    );
  }
  if (!isUtf8(bytes)) {
    const good = new TextDecoder().decode(bytes.subarray(0, validPrefix(bytes)));
    throw jsonRefusal(code, 'invalid-utf8', good, good.length, 'expected UTF-8, found a byte that is not');
  }
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

function validPrefix(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length) {
    const lead = bytes[at] ?? 0;
    const size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (size > 1 && (at + size > bytes.length || !isUtf8(bytes.subarray(at, at + size)))) break;
    at += size;
  }
  return at;
}

const numberForm = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
/** Finds the unescaped run of a string in one regex search; always matches, perhaps zero characters. */
const plainForm = /[^"\\\u0000-\u001f]*/y;
const simpleEscapes = '"\\/bfnrt';
const howToEscape = 'expected a JSON escape after the backslash';

/** Parses a JSON string with its quotes; `undefined` if it is invalid. */
function readByRuntime(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted);
  } catch {
    return undefined;
  }
}

function readDocument(
  text: string,
  code: ErrorCode,
  { maxDepth = 64, roundsNumbers = false, allowsIllFormed = false }: StrictJsonOptions,
): unknown {
  let at = 0;

  const value = readValue(1);
  skipSpace();
  if (at < text.length) fail('trailing-data', `expected the end of the document, found ${shown()}`);
  return value;

  function readValue(depth: number): unknown {
    skipSpace();
    switch (text.charCodeAt(at)) {
      case 0x22:
        return readString();
      case 0x7b:
        return readObject(depth);
      case 0x5b:
        return readArray(depth);
      case 0x74:
        return readWord('true', true);
      case 0x66:
        return readWord('false', false);
      case 0x6e:
        return readWord('null', null);
      default:
        return readNumber();
    }
  }

  function readObject(depth: number): unknown {
    enter(depth);
    const object: Record<string, unknown> = {};
    if (peek() === 0x7d) {
      at += 1;
      return object;
    }
    for (;;) {
      if (peek() !== 0x22) unexpected('a property name');
      const keyAt = at;
      const key = readString();
      if (allowsIllFormed !== true && Object.hasOwn(object, key)) {
        fail('duplicate-key', `expected each property once, found ${clipped(key)} again`, keyAt);
      }
      if (peek() !== 0x3a) unexpected('`:`');
      at += 1;
      const member = readValue(depth + 1);
      if (key === '__proto__') {
        Object.defineProperty(object, key, {
          value: member,
          enumerable: true,
          configurable: true,
          writable: true,
        });
      } else object[key] = member;
      const next = peek();
      if (next !== 0x2c && next !== 0x7d) unexpected('`,` or `}`');
      at += 1;
      if (next === 0x7d) return object;
      skipSpace();
    }
  }

  function readArray(depth: number): unknown {
    enter(depth);
    const array: unknown[] = [];
    if (peek() === 0x5d) {
      at += 1;
      return array;
    }
    for (;;) {
      array.push(readValue(depth + 1));
      const next = peek();
      if (next !== 0x2c && next !== 0x5d) unexpected('`,` or `]`');
      at += 1;
      if (next === 0x5d) return array;
    }
  }

  function enter(depth: number): void {
    if (depth > maxDepth)
      fail('too-deep', `expected at most ${maxDepth} nested objects and arrays, found more`);
    at += 1;
  }

  function readString(): string {
    const start = at + 1;
    plainForm.lastIndex = start;
    plainForm.test(text);
    const end = plainForm.lastIndex;
    const unit = text.charCodeAt(end);
    if (unit === 0x5c) return readEscapedString(start, end);
    if (unit !== 0x22) badUnit(end);
    at = end + 1;
    return text.slice(start, end);
  }

  /** `JSON.parse` decodes the string. It accepts lone surrogates, so they are checked here. */
  function readEscapedString(start: number, firstEscape: number): string {
    const end = closingQuote(firstEscape);
    const value = end < 0 ? undefined : readByRuntime(text.slice(start - 1, end + 1));
    if (value === undefined || !(allowsIllFormed !== false || value.isWellFormed()))
      return refuseString(firstEscape);
    at = end + 1;
    return value;
  }

  function closingQuote(from: number): number {
    for (let end = text.indexOf('"', from); end >= 0; end = text.indexOf('"', end + 1)) {
      let slashes = 0;
      while (text.charCodeAt(end - 1 - slashes) === 0x5c) slashes += 1;
      if (slashes % 2 === 0) return end;
    }
    return -1;
  }

  /** Throws an error that names the fault of the string and its position. */
  function refuseString(firstEscape: number): never {
    at = firstEscape;
    for (;;) {
      const unit = text.charCodeAt(at);
      if (unit === 0x5c) requireEscape();
      else if (unit >= 0x20) at += 1;
      else badUnit(at);
    }
  }

  function requireEscape(): void {
    const letter = text.charAt(at + 1);
    if (letter !== 'u') {
      if (letter === '') fail('unexpected-end', howToEscape);
      if (!simpleEscapes.includes(letter)) fail('syntax', howToEscape);
      at += 2;
      return;
    }
    const escapeAt = at;
    const unit = readHexUnit();
    if (unit < 0xd800 || unit > 0xdfff) return;
    if (unit <= 0xdbff && text.startsWith('\\u', at)) {
      const low = readHexUnit();
      if (low >= 0xdc00 && low <= 0xdfff) return;
    }
    fail('lone-surrogate', 'expected a pair of surrogates, found one alone', escapeAt);
  }

  function readHexUnit(): number {
    const digits = text.slice(at + 2, at + 6);
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) fail('syntax', 'expected four hexadecimal digits after `\\u`');
    at += 6;
    return Number.parseInt(digits, 16);
  }

  function readWord(word: string, meaning: boolean | null): boolean | null {
    if (!text.startsWith(word, at)) unexpected('a JSON value');
    at += word.length;
    return meaning;
  }

  function readNumber(): number {
    numberForm.lastIndex = at;
    const match = numberForm.exec(text);
    if (!match) return unexpected('a JSON value');
    const [literal, , exponent] = match;
    const number = Number(literal);
    if (roundsNumbers) {
      at += literal.length;
      return number === 0 ? 0 : number;
    }
    const lostInteger = exponent === undefined && Number.isInteger(number) && !Number.isSafeInteger(number);
    const underflow =
      number === 0 && /[1-9]/.test(exponent === undefined ? literal : literal.slice(0, -exponent.length));
    if (!Number.isFinite(number) || lostInteger || underflow) {
      fail(
        'number-range',
        `expected a number that a double holds exactly enough (RFC 7493), found ${clipped(literal)}`,
      );
    }
    at += literal.length;
    return number === 0 ? 0 : number;
  }

  function peek(): number {
    skipSpace();
    return text.charCodeAt(at);
  }

  function skipSpace(): void {
    for (;;) {
      const unit = text.charCodeAt(at);
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return;
      at += 1;
    }
  }

  function badUnit(where: number): never {
    if (where >= text.length)
      fail('unexpected-end', 'expected the closing quote, found the end of the document', where);
    return fail('control-character', 'expected an escape for a control character, found it bare', where);
  }

  function unexpected(expected: string): never {
    if (at >= text.length) fail('unexpected-end', `expected ${expected}, found the end of the document`);
    return fail('syntax', `expected ${expected}, found ${shown()}`);
  }

  function shown(): string {
    return clipped(String.fromCodePoint(text.codePointAt(at) ?? 0x20));
  }

  function fail(reason: StrictJsonReason, message: string, where = at): never {
    throw jsonRefusal(code, reason, text, where, message);
  }
}

/** `detail.reason` of a refusal. */
type StrictJsonReason =
  | 'too-large'
  | 'byte-order-mark'
  | 'invalid-utf8'
  | 'syntax'
  | 'unexpected-end'
  | 'trailing-data'
  | 'too-deep'
  | 'duplicate-key'
  | 'lone-surrogate'
  | 'control-character'
  | 'number-range';

/** Formats input for a message: quoted, without control characters, bounded. */
function clipped(input: string): string {
  const quoted = JSON.stringify([...input.slice(0, 80)].slice(0, 40).join('').toWellFormed()).slice(1, -1);
  return `\`${quoted.replaceAll(/[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069`]/g, '?')}\``;
}

/** Builds the error with `detail {reason, line, column}` of the position; lines end in LF, CR or both. */
function jsonRefusal(
  code: ErrorCode,
  reason: StrictJsonReason,
  text: string,
  at: number,
  message: string,
): WritError {
  const before = text.slice(0, at).split(/\r\n|\n|\r/);
  const line = before.length;
  const column = [...(before[line - 1] ?? '')].length + 1;
  return new WritError(code, {
    message: `${message} at line ${line}, column ${column}`,
    detail: { reason, line, column },
  });
}
