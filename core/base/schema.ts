/* Shapes of data from outside: one declaration gives the type, the parser, the words of a fault and the JSON Schema. */
import * as z from 'zod/mini';
import { messageOf } from './errors.ts';
import { nearestName, quoted } from './printable.ts';

type Made<T> = z.ZodMiniType<T, unknown>;

/** A shape. `made` builds the validator when it is first used, so a declaration costs nothing at start-up. */
export interface Schema<T> {
  readonly made: () => Made<T>;
}

export type TypeOf<S> = S extends Schema<infer T> ? T : never;

type Members = Readonly<Record<string, Schema<unknown>>>;
type Values<R extends Members, O extends Members> = { readonly [Name in keyof R]: TypeOf<R[Name]> } & {
  readonly [Name in keyof O]?: TypeOf<O[Name]>;
};

const maxEntries = 10_000;

function shape<T>(make: () => z.ZodMiniType<unknown, unknown>): Schema<T> {
  let made: Made<T> | undefined;
  return {
    made: () => {
      made ??= make() as Made<T>;
      return made;
    },
  };
}

/** Text of so many UTF-16 units. zod counts code points, and reads an endless text to its end. */
export function text(most: number, least = 1): Schema<string> {
  const error = `to have ${least} to ${most} characters`;
  const fits = (found: string) => found.length >= least && found.length <= most;
  return shape(() =>
    z
      .string('to be text')
      .check(
        z.refine(fits, { error, abort: true, params: { got: sizeOf } }),
        z.meta({ ...(least > 0 && { minLength: least }), maxLength: most }),
      ),
  );
}

export const flag: Schema<boolean> = shape(() => z.boolean('to be true or false'));
export const number: Schema<number> = shape(() => z.number('to be a number'));
export const anything: Schema<unknown> = shape(() => z.unknown());
export const octets: Schema<Uint8Array> = shape(() =>
  z.custom((value) => value instanceof Uint8Array, { error: 'to be bytes', params: { got: nameOf } }),
);

/** A whole number. */
export function count(least: number, most?: number): Schema<number> {
  const words = most === undefined ? `to count from ${least}` : `to be a number from ${least} to ${most}`;
  const bounds = [z.minimum(least, words), ...(most === undefined ? [] : [z.maximum(most, words)])];
  return shape(() => z.int(words).check(...bounds));
}

export function oneOf<const W extends string>(...words: readonly W[]): Schema<W> {
  return shape(() => z.enum(words as readonly [W, ...W[]], `to be one of ${words.join(', ')}`));
}

export function list<T>(entry: Schema<T>, most = maxEntries): Schema<readonly T[]> {
  const kind = { error: 'a list', params: { got: nameOf } };
  const size = { error: `at most ${most} entries`, params: { got: sizeOf } };
  // zod would parse all entries before it looks at the length.
  const bounded = () =>
    z.custom<unknown[]>(Array.isArray, kind).check(z.refine((all) => all.length <= most, size));
  return shape(() => z.pipe(bounded(), z.array(entry.made()).check(z.maxLength(most))));
}

/** Members with names that the author of the data chose. `wanted` is the object in words. */
export function mapOf<T>(wanted: string, value: Schema<T>): Schema<Readonly<Record<string, T>>> {
  // zod leaves out a member with this name; here it is refused.
  const isPlain = (given: unknown) => !Object.hasOwn(Object(given), '__proto__');
  return shape(() =>
    z.pipe(z.unknown().check(z.refine(isPlain, wanted)), z.record(z.string(), value.made(), wanted)),
  );
}

/** An object with these members and no others. A member of `optional` that is undefined counts as absent. */
export function object<R extends Members, O extends Members = Record<never, never>>(
  wanted: string,
  required: R,
  optional?: O,
): Schema<Values<R, O>> {
  return shape(() => {
    const members = Object.entries(required).map(([name, { made }]) => [name, made()] as const);
    const more = Object.entries(optional ?? {}).map(
      ([name, { made }]) => [name, z.optional(made())] as const,
    );
    const known = [...members, ...more].map(([name]) => name);
    const error = (issue: object): string => {
      Object.assign(issue, { known });
      return wanted;
    };
    const whole = z.strictObject(Object.fromEntries([...members, ...more]), { error });
    return more.length === 0 ? whole : whole.check(z.overwrite(withoutUndefined));
  });
}

function withoutUndefined<T extends object>(value: T): T {
  for (const [name, member] of Object.entries(value))
    if (member === undefined) Reflect.deleteProperty(value, name);
  return value;
}

export function withDefault<T>(inner: Schema<T>, absent: z.core.util.NoUndefined<T>): Schema<T> {
  return shape(() => z._default(inner.made(), () => absent));
}

/** A value that also `holds`; `expected` says what it then is. */
export function where<T>(
  inner: Schema<T>,
  expected: string,
  holds: (value: T) => boolean,
  got?: (value: T) => string,
): Schema<T> {
  return shape(() => inner.made().check(z.refine(holds, { error: expected, params: { got } })));
}

/** The same, with a description for those who read its JSON Schema. */
export function says<T>(inner: Schema<T>, about: string): Schema<T> {
  return shape(() => inner.made().check(z.describe(about)));
}

/** JSON Schema 2020-12 of an object. */
export function toJsonSchema(
  schema: Schema<object>,
): Readonly<Record<string, unknown>> & { readonly type: 'object' } {
  const { $schema: _, ...more } = z.toJSONSchema(schema.made());
  return { required: [], ...more, type: 'object' };
}

/** The value in another form. `change` may throw the words of a fault, or parse with another schema. */
export function as<T, U>(inner: Schema<T>, change: (value: T) => U): Schema<U> {
  return shape(() =>
    z.pipe(
      inner.made(),
      z.transform((value, { issues }) => {
        try {
          return change(value);
        } catch (fault) {
          issues.push({ code: 'custom', input: value, params: { fault } });
          return z.NEVER;
        }
      }),
    ),
  );
}

/** A value of the first shape where it `isFirst`, else of the second. */
export function either<A, B>(
  isFirst: (value: unknown) => boolean,
  first: Schema<A>,
  second: Schema<B>,
): Schema<A | B> {
  return as(anything, (value) => (isFirst(value) ? parse(first, value) : parse(second, value)));
}

interface FaultFacts {
  readonly path: readonly (string | number)[];
  /** What the value should be, with the name of the member. */
  readonly expected: string;
  readonly found: unknown;
  /** The unknown member, and the names of the known ones. */
  readonly stray?: { readonly name: string; readonly known: readonly string[] };
  /** The words of the schema, and how the found value is called; absent: the message says all. */
  readonly words?: { readonly said: string; readonly got?: string };
}

/** The first fault of a value. Its message is in words: `expected \`name\` to be text, got a list`. */
export class SchemaFault extends TypeError {
  readonly facts: FaultFacts;

  constructor(message: string, facts: FaultFacts, cause?: unknown) {
    super(message, { cause });
    this.facts = facts;
  }
}

/** Returns the value in its normal form: members in the declared order, defaults filled in. Throws SchemaFault. */
export function parse<T>(schema: Schema<T>, value: unknown): T {
  const result = z.safeParse(schema.made(), value, { reportInput: true });
  if (result.success) return result.data;
  const { issues } = result.error;
  const [first] = issues;
  // An unknown member explains a missing one, so it is reported first.
  const stray = issues.find(
    ({ code, path }) => code === 'unrecognized_keys' && path.every((token, at) => token === first?.path[at]),
  );
  throw toFault(stray ?? first);
}

/** A function that parses values of the shape. */
export function parser<T>(schema: Schema<T>): (value: unknown) => T {
  return (value) => parse(schema, value);
}

type Issue = Partial<z.core.$ZodIssue> & { readonly known?: readonly string[] };

function toFault({
  code,
  message = '',
  input: found,
  path: tokens = [],
  known = [],
  ...more
}: Issue = {}): SchemaFault {
  const path = tokens.map((token) => (typeof token === 'symbol' ? String(token) : token));
  const { fault, got = code === 'custom' ? undefined : nameOf } = ('params' in more && more.params) || {};
  if (fault instanceof SchemaFault) {
    const { facts } = fault;
    const whole = [...path, ...facts.path];
    return facts.words === undefined
      ? new SchemaFault(fault.message, { ...facts, path: whole }, fault)
      : inWords(whole, facts.words, facts);
  }
  if (fault !== undefined)
    return new SchemaFault(messageOf(fault), { path, expected: messageOf(fault), found }, fault);
  const [key] = ('keys' in more && more.keys) || [];
  const stray = key === undefined ? undefined : { name: key, known };
  const ending = stray === undefined ? got?.(found) : strayWords(stray);
  // zod has no words of the schema for a required member that is absent.
  const said = message === 'Invalid input' ? 'to be given' : message;
  return inWords(
    path,
    { said, ...(ending !== undefined && { got: ending }) },
    { found, ...(stray !== undefined && { stray }) },
  );
}

function inWords(
  path: FaultFacts['path'],
  words: NonNullable<FaultFacts['words']>,
  facts: Pick<FaultFacts, 'found' | 'stray'>,
): SchemaFault {
  const { said, got } = words;
  const name = path.findLast((token) => typeof token === 'string');
  const subject = name === undefined ? `entry ${Number(path[0] ?? 0) + 1}` : `\`${name}\``;
  const expected = said.startsWith('to ') ? `${subject} ${said}` : said;
  const message = got === undefined ? `expected ${expected}` : `expected ${expected}, got ${got}`;
  return new SchemaFault(message, { ...facts, path, expected, words });
}

function strayWords({ name, known }: NonNullable<FaultFacts['stray']>): string {
  const meant = nearestName(name, known);
  const hint = meant === undefined ? '' : `, did you mean \`${meant}\`?`;
  return `the unknown field ${quoted(name)}${hint} (known here: ${known.map((one) => `\`${one}\``).join(', ')})`;
}

/** Returns the kind of a value, without printing what may be large or secret. */
export function nameOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'number' || typeof value === 'boolean' || value === undefined
    ? `\`${value}\``
    : typeof value;
}

function sizeOf(value: string | readonly unknown[]): string {
  return String(value.length);
}
