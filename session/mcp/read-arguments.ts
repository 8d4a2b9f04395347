import { WritError } from '../../core/base/errors.ts';
import { quoted } from '../../core/base/printable.ts';

/** One argument of a tool. */
export interface ArgumentSpec {
  readonly type: 'string' | 'strings' | 'count';
  readonly about: string;
  readonly optional?: true;
  /** The only values taken. */
  readonly choices?: readonly string[];
  /** Characters of a string, strings of a list, the largest number. */
  readonly most: number;
}

export type ArgumentTable = Readonly<Record<string, ArgumentSpec>>;

const maxItem = 20_000;

/**
 * The arguments of a call, each of its type and within its bounds. TOOL_ARGUMENTS for one that is missing, unknown or
 * of another form: what nobody declared is refused and not ignored, whatever it is called.
 */
export function readArguments(table: ArgumentTable, given: unknown): ReadonlyMap<string, unknown> {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw wrong('arguments', 'an object', given);
  const known = Object.keys(table);
  const stranger = Object.keys(given).find((name) => !known.includes(name));
  if (stranger !== undefined)
    throw wrong('arguments', known.length === 0 ? 'none' : `none but ${known.join(', ')}`, stranger);
  const read = new Map<string, unknown>();
  for (const [name, spec] of Object.entries(table)) {
    const value: unknown = Object.getOwnPropertyDescriptor(given, name)?.value;
    if (value === undefined && spec.optional === true) continue;
    if (!isSound(spec, value)) throw wrong(name, expectationOf(spec), value);
    read.set(name, value);
  }
  return read;
}

/** JSON Schema of the table, as clients hand it to models. */
export function toInputSchema(
  table: ArgumentTable,
): Readonly<Record<string, unknown>> & { readonly type: 'object' } {
  const entries = Object.entries(table);
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, spec]) => [name, toSchema(spec)])),
    required: entries.filter(([, { optional }]) => optional !== true).map(([name]) => name),
    additionalProperties: false,
  };
}

function toSchema({ type, about, choices, most }: ArgumentSpec): Readonly<Record<string, unknown>> {
  if (type === 'count') return { type: 'integer', minimum: 1, maximum: most, description: about };
  if (type === 'strings')
    return {
      type: 'array',
      items: { type: 'string', maxLength: maxItem },
      maxItems: most,
      description: about,
    };
  return { type: 'string', ...(choices ? { enum: choices } : { maxLength: most }), description: about };
}

function isSound({ type, choices, most }: ArgumentSpec, value: unknown): boolean {
  if (type === 'count') return Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= most;
  if (type === 'strings')
    return Array.isArray(value) && value.length <= most && value.every((one) => isText(one, maxItem));
  return isText(value, most) && (choices === undefined || choices.includes(value));
}

/** A NUL ends an argument for the system, and half a pair of surrogates is no text. */
function isText(value: unknown, most: number): value is string {
  return typeof value === 'string' && value.length <= most && value.isWellFormed() && !value.includes('\0');
}

function expectationOf({ type, choices, most }: ArgumentSpec): string {
  if (type === 'count') return `a whole number from 1 to ${most}`;
  if (type === 'strings') return `a list of at most ${most} strings`;
  return choices === undefined ? `a string of at most ${most} characters` : `one of ${choices.join(', ')}`;
}

function wrong(name: string, expected: string, value: unknown): WritError {
  const found = value === undefined ? 'nothing' : quoted(JSON.stringify(value) ?? typeof value);
  return new WritError('TOOL_ARGUMENTS', {
    message: `expected \`${name}\` to be ${expected}, found ${found}`,
    detail: { argument: name, expected, found },
  });
}
