import { WritError } from '../core/base/errors.ts';
import { parseStrictJson } from '../core/base/strict-json.ts';
import type { ModelChoice } from '../core/contract/turns.ts';

const format = 'urn:writ:model-choice:v1';
const known = ['format', 'provider', 'model', 'apiBase', 'temperature', 'flags'];

/** The choice as a run keeps it, to make its worker again. */
export function formatModelChoice(choice: ModelChoice): Uint8Array {
  return Buffer.from(`${JSON.stringify({ format, ...choice })}\n`);
}

/** Reads it back. RECORDING_MALFORMED names the field. */
export function parseModelChoice(bytes: Uint8Array): ModelChoice {
  const { value } = parseStrictJson(bytes, { code: 'RECORDING_MALFORMED', maxBytes: 64 * 1024 });
  if (!isRecord(value) || value.format !== format) throw malformed('format');
  const stray = Object.keys(value).find((field) => !known.includes(field));
  if (stray !== undefined) throw malformed(stray);
  const { provider, model, apiBase, temperature, flags = {} } = value;
  if (typeof provider !== 'string' || provider === '') throw malformed('provider');
  if (model !== undefined && !isLine(model)) throw malformed('model');
  if (apiBase !== undefined && !isLine(apiBase)) throw malformed('apiBase');
  if (temperature !== undefined && !(typeof temperature === 'number' && temperature >= 0 && temperature <= 2))
    throw malformed('temperature');
  if (!isRecord(flags) || !Object.values(flags).every(isLine)) throw malformed('flags');
  return {
    provider,
    ...(model === undefined ? {} : { model }),
    ...(apiBase === undefined ? {} : { apiBase }),
    ...(temperature === undefined ? {} : { temperature }),
    flags: flags as Readonly<Record<string, string>>,
  };
}

/** One line of text that a header or a URL may hold. */
function isLine(value: unknown): value is string {
  return typeof value === 'string' && /^[\x20-\x7e]{1,2048}$/.test(value);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function malformed(field: string): WritError {
  return new WritError('RECORDING_MALFORMED', {
    message: `the choice of a model has no usable \`${field.slice(0, 64)}\``,
    detail: { field: field.slice(0, 64) },
  });
}
