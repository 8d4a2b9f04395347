/* The envelope of every `--json` document: `ok`, `data` and `error`. */
import { isWritError, messageOf, WritError } from '../core/base/errors.ts';
import type { JsonData } from './schemas/shape.ts';

/**
 * Formats one `--json` document with a final line feed. `ok` is `error === undefined`. `inLine` writes a single line,
 * for streams in which other lines may precede it.
 */
export function toEnvelope(
  command: string,
  outcome: { readonly data?: JsonData | undefined; readonly error?: WritError | undefined },
  inLine = false,
): string {
  const { data, error } = outcome;
  const document = {
    ok: error === undefined,
    command,
    ...(data === undefined ? {} : { data }),
    ...(error === undefined ? {} : { error: toErrorRecord(error) }),
  };
  return `${escapeJson(JSON.stringify(document, null, inLine ? 0 : 2))}\n`;
}

/** One line of NDJSON. */
export function toJsonLine(value: object): string {
  return `${escapeJson(JSON.stringify(value))}\n`;
}

/** `{code, message, details?, hints?}`. */
export function toErrorRecord(error: WritError): Readonly<Record<string, unknown>> {
  return {
    code: error.code,
    message: error.message,
    ...(Object.keys(error.detail).length === 0 ? {} : { details: error.detail }),
    ...(error.hints.length === 0 ? {} : { hints: error.hints }),
  };
}

/**
 * Error codes of the file system that mean a broken environment: no access, no space, or a file of an unexpected
 * kind.
 */
const ofEnvironment = new Set(
  'EACCES EBUSY EDQUOT EIO EISDIR ELOOP EMFILE ENAMETOOLONG ENFILE ENOSPC ENOTDIR ENOTEMPTY EPERM EROFS'.split(
    ' ',
  ),
);

/** Converts any thrown value to a catalogued error; an uncatalogued one becomes `INTERNAL`. */
export function toFault(thrown: unknown): WritError {
  if (isWritError(thrown)) return thrown;
  const { code, path, syscall } = Object(thrown) as NodeJS.ErrnoException;
  // `mkdir` in a read-only directory may fail with ENOENT.
  const isServed = !ofEnvironment.has(code ?? '') && !(code === 'ENOENT' && syscall === 'mkdir');
  if (code !== undefined && syscall !== undefined && !isServed) {
    return new WritError('ENVIRONMENT_BROKEN', {
      message: messageOf(thrown),
      detail: { code, syscall, ...(path === undefined ? {} : { path }) },
      hints: ['free disk space, correct the permissions or the path, then try again'],
      cause: thrown,
    });
  }
  return new WritError('INTERNAL', {
    message: messageOf(thrown) || 'an internal fault',
    hints: ['this is a fault of writ; `WRIT_DEBUG=1` in the environment shows where it happened'],
    cause: thrown,
  });
}

/**
 * Finished JSON text with hidden characters as `\uXXXX`: the same document, safe on a terminal. Its line feeds stay.
 * Nor does it contain `##[`, which a runner of GitHub takes for a command.
 */
export function escapeJson(json: string): string {
  return revealHidden(json.replaceAll('##[', '#\\u0023['), (found) => {
    if (found === '\n') return found;
    let escaped = '';
    for (let at = 0; at < found.length; at += 1)
      escaped += `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`;
    return escaped;
  });
}

type Kept<T> = {
  readonly [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name];
} & {
  readonly [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>;
};

/** The same without what is `undefined`: absent fields are left out of JSON. */
export function compact<T extends object>(record: T): Kept<T> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as Kept<T>;
}

/** C0, DEL, C1, line separators, bidirectional and invisible formatting, byte order mark, tags, lone surrogates. */
const hidden =
  /[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|\p{Surrogate}/gu;

/** Replaces every character that a reader cannot see but a screen obeys; `code` is its code point in lower-case hex. */
export function revealHidden(text: string, show: (found: string, code: string) => string): string {
  return text.replace(hidden, (found) => show(found, (found.codePointAt(0) ?? 0).toString(16)));
}
