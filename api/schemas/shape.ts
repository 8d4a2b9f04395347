/* Data of a `--json` answer: its JSON Schema, and the TypeScript type that the schema describes. */
import { type Camel, camelCase } from '../../store/shape.ts';

/**
 * What a program reads as JSON: JSON-safe, snake_case, absent fields left out; its shape is what `writ schema COMMAND`
 * prints.
 */
export type JsonData = Readonly<Record<string, unknown>>;

declare const admits: unique symbol;

/** A JSON Schema (2020-12) and the type of what it admits: the schema is written, the type follows. */
export type Shape<T> = JsonData & { readonly [admits]?: (_: never) => T };

/** The type that a schema admits; `unknown` for a hand-written schema. */
export type Admitted<S> = S extends { readonly [admits]?: (_: never) => infer T } ? T : unknown;

type Required<R> = { readonly [Name in keyof R]: Admitted<R[Name]> };
type Optional<O> = { readonly [Name in keyof O]?: Admitted<O[Name]> };
type Both<T> = { readonly [Name in keyof T]: T[Name] };

export const text: Shape<string> = { type: 'string' };
export const flag: Shape<boolean> = { type: 'boolean' };
/** A whole number from 0. */
export const count: Shape<number> = { type: 'integer', minimum: 0 };
export const countOrNull: Shape<number | null> = { anyOf: [count, { type: 'null' }] };
export const integer: Shape<number> = { type: 'integer' };
export const number: Shape<number> = { type: 'number' };
/** Milliseconds. */
export const duration: Shape<number> = { type: 'number', minimum: 0 };
/** 64 lower-case hex digits. */
export const sha256: Shape<string> = { type: 'string', pattern: '^[0-9a-f]{64}$' };
/** RFC 3339. */
export const moment: Shape<string> = { type: 'string', format: 'date-time' };
/** Any JSON object. */
export const anything: Shape<JsonData> = { type: 'object' };
export const textOrNull: Shape<string | null> = { type: ['string', 'null'] };

/** A whole number within bounds. */
export function within(minimum: number, maximum?: number): Shape<number> {
  return { type: 'integer', minimum, ...(maximum === undefined ? {} : { maximum }) };
}

/** One of these words. */
export function oneOf<const Words extends readonly string[]>(...words: Words): Shape<Words[number]> {
  return { enum: words };
}

export function list<const Items>(items: Items): Shape<readonly Admitted<Items>[]> {
  return { type: 'array', items };
}

/** Names of an object's members in the order of documents, where it is not the order of the schema. */
const orders = new WeakMap<object, readonly string[]>();
const kept = new WeakSet<object>();

/** A closed object schema: `required` fields, `optional` fields, no others. `order` names all of them. */
export function record<
  const R extends Readonly<Record<string, unknown>>,
  const O extends Readonly<Record<string, unknown>> = Record<never, never>,
>(required: R, optional?: O, order?: string): Shape<Both<Required<R> & Optional<O>>> {
  const schema = {
    type: 'object',
    required: Object.keys(required),
    properties: { ...required, ...optional },
    additionalProperties: false,
  };
  if (order !== undefined) orders.set(schema, order.split(' '));
  return schema;
}

/** The same schema, of a value that `toShape` leaves as it is. */
export function asItIs<S extends object>(schema: S): S {
  kept.add(schema);
  return schema;
}

/** A value as the code holds it: the same members, named in camelCase. */
type InCode<T> = T extends readonly (infer Item)[]
  ? readonly InCode<Item>[]
  : T extends object
    ? { readonly [Name in keyof T as Camel<Name>]: InCode<T[Name]> }
    : T;

/** Converts a value to the form that a schema describes: its members alone, in snake_case, without absent ones. */
export function toShape<T>(schema: Shape<T>, value: InCode<T>): T {
  return convert(schema, value) as T;
}

function convert(schema: object, value: unknown): unknown {
  if (kept.has(schema)) return value;
  const { items, properties } = schema as { readonly items?: object; readonly properties?: JsonData };
  if (Array.isArray(value)) return items ? value.map((item) => convert(items, item)) : value;
  if (properties === undefined || typeof value !== 'object' || value === null) return value;
  const given = new Map<string, unknown>(Object.entries(value));
  return Object.fromEntries(
    (orders.get(schema) ?? Object.keys(properties)).flatMap((name) => {
      const found = given.get(camelCase(name));
      return found === undefined ? [] : [[name, convert(properties[name] as object, found)]];
    }),
  );
}
