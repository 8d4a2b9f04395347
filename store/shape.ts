/* Describes the shapes of stored JSON, with the types of their values. */
import { isRecord } from '../core/base/json-pointer.ts';

/** Validates a value and adds its faults to `problems` as `path: expected …`; ignores unknown fields if `isOpen`. */
export interface Shape<T> {
  readonly check: (value: unknown, path: string, problems: string[], isOpen?: boolean) => void;
  /** Never present: carries the type. */
  readonly type?: T;
}

export type TypeOf<S> = S extends Shape<infer T> ? T : never;

type Fields = Readonly<Record<string, Shape<unknown>>>;
type Values<F extends Fields> = { readonly [Name in keyof F]: TypeOf<F[Name]> };

const maxProblems = 20;

function shape<T>(expected: string, accepts: (value: unknown) => boolean): Shape<T> {
  return { check: (value, path, problems) => accepts(value) || report(problems, path, expected) };
}

function report(problems: string[], path: string, expected: string): boolean {
  if (problems.length < maxProblems) problems.push(`${path}: expected ${expected}`);
  return false;
}

/** `expected` is the name of the pattern in messages. */
function pattern(expected: string, expression: RegExp): Shape<string> {
  return shape(expected, (value) => typeof value === 'string' && expression.test(value));
}

/** A string without NUL. */
export const text = shape<string>('a string', (value) => typeof value === 'string' && !value.includes('\0'));
export const flag = shape<boolean>('true or false', (value) => typeof value === 'boolean');
export const wholeNumber = shape<number>(
  'a whole number from 0',
  (value) => Number.isSafeInteger(value) && (value as number) >= 0,
);
export const decimal = shape<number>(
  'a finite number',
  (value) => typeof value === 'number' && Number.isFinite(value),
);
export const sha256Text = pattern('64 lower-case hex digits', /^[0-9a-f]{64}$/);
/** A git object id, SHA-1 or SHA-256. */
export const gitObject = pattern('a git object id', /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);
/** RFC 9562, version 7. */
export const uuid = pattern(
  'a UUIDv7',
  /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
);
/** RFC 3339 with a zone. */
export const time = pattern(
  'an RFC 3339 time',
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/,
);
/** Any JSON; for open objects alone. */
export const anything: Shape<unknown> = { check: () => {} };

export function oneOf<const T extends string>(...words: readonly T[]): Shape<T> {
  return shape(`one of ${words.join(', ')}`, (value) => (words as readonly unknown[]).includes(value));
}

export function orNull<T>(inner: Shape<T>): Shape<T | null> {
  return {
    check: (value, path, problems, isOpen) => value === null || inner.check(value, path, problems, isOpen),
  };
}

export function listOf<T>(inner: Shape<T>): Shape<readonly T[]> {
  return {
    check: (value, path, problems, isOpen) => {
      if (!Array.isArray(value)) return void report(problems, path, 'an array');
      for (const [index, item] of value.entries()) inner.check(item, `${path}/${index}`, problems, isOpen);
    },
  };
}

export function mapOf<T>(inner: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return {
    check: (value, path, problems, isOpen) => {
      if (!isRecord(value)) return void report(problems, path, 'an object');
      for (const [name, item] of Object.entries(value))
        inner.check(item, `${path}/${name}`, problems, isOpen);
    },
  };
}

/** The same shape, whose objects may have further fields. */
export function openShape<T>({ check }: Shape<T>): Shape<T> {
  return { check: (value, path, problems) => check(value, path, problems, true) };
}

/** The shape of an object, with the names of its fields. */
export interface ObjectShape<T> extends Shape<T> {
  readonly names: readonly string[];
}

/** An object with exactly these fields: unknown ones are refused, `optional` ones may be absent. */
export function fields<R extends Fields, O extends Fields = Record<never, never>>(
  required: R,
  optional?: O,
): ObjectShape<Values<R> & Partial<Values<O>>> {
  const known = new Map<string, Shape<unknown>>([
    ...Object.entries(required),
    ...Object.entries(optional ?? {}),
  ]);
  return {
    names: [...known.keys()],
    check: (value, path, problems, isOpen = false) => {
      if (!isRecord(value)) return void report(problems, path, 'an object');
      for (const name of Object.keys(required))
        if (!Object.hasOwn(value, name)) report(problems, `${path}/${name}`, 'a value');
      for (const [name, item] of Object.entries(value)) {
        const field = known.get(name);
        if (field) field.check(item, `${path}/${name}`, problems, isOpen);
        else if (!isOpen) report(problems, `${path}/${name}`, 'no such field');
      }
    },
  };
}

/** The name in camelCase of a name in snake_case. */
export type Camel<Name> = Name extends `${infer Before}_${infer After}`
  ? `${Before}${Capitalize<Camel<After>>}`
  : Name;

export function camelCase(name: string): string {
  return name.replace(/_./g, ([, letter = '']) => letter.toUpperCase());
}

/** The same, whose optional members may be `undefined`. */
export type Given<T> = {
  readonly [Name in keyof T]: Record<never, never> extends Pick<T, Name> ? T[Name] | undefined : T[Name];
};

type InCode<T> = { readonly [Name in keyof T as Camel<Name>]: T[Name] };

/**
 * An object of that shape from members in camelCase. Leaves out others and those that are `undefined`; what is inside
 * of a member stays.
 */
export function toStored<T>({ names }: ObjectShape<T>, value: InCode<Given<T>>): T {
  const given = new Map<string, unknown>(Object.entries(value));
  return Object.fromEntries(
    names.flatMap((name) => {
      const found = given.get(camelCase(name));
      return found === undefined ? [] : [[name, found]];
    }),
  ) as T;
}
