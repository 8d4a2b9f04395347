import type { WritError } from '../core/base/errors.ts';
import { escapeJson } from './escape-json.ts';
import type { JsonData } from './json-data.ts';

/**
 * One `--json` document (`5-cli.md`, JSON), with a final line feed: `ok` is `error === undefined`. `inLine`: on a
 * single line, where others may stand before it.
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

/** `{code, message, details?, hints?}`. */
export function toErrorRecord(error: WritError): Readonly<Record<string, unknown>> {
  return {
    code: error.code,
    message: error.message,
    ...(Object.keys(error.detail).length === 0 ? {} : { details: error.detail }),
    ...(error.hints.length === 0 ? {} : { hints: error.hints }),
  };
}
