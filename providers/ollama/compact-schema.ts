import { type Json, listIn, objectIn, partsOf, textIn } from '../wire/json-parts.ts';

const simple = ['string', 'number', 'integer', 'boolean', 'array', 'object'];

/**
 * A schema of the arguments that a simple server takes: one level of properties, each with one type, its choices and,
 * in a list, the type of its items. No descriptions, references, alternatives or bounds: what a call holds is judged
 * by the whole schema where it arrives.
 */
export function compactSchema(schema: Json): Json {
  const properties = objectIn(schema.properties) ?? {};
  const names = Object.keys(properties);
  const required = listIn(schema.required).filter((name) => names.includes(textIn(name)));
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, compactProperty(properties[name])])),
    ...(required.length === 0 ? {} : { required }),
  };
}

function compactProperty(value: unknown): Json {
  const schema = partsOf(value);
  const type = typeOf(schema);
  const choices = (Object.hasOwn(schema, 'const') ? [schema.const] : listIn(schema.enum)).filter(
    (choice) => typeof choice === 'string',
  );
  return {
    type,
    ...(type === 'string' && choices.length > 0 ? { enum: choices } : {}),
    ...(type === 'array' ? { items: { type: typeOf(partsOf(schema.items)) } } : {}),
  };
}

/** Its one type; of several, the first that is not `null`; of none, what it looks like. */
function typeOf(schema: Json): string {
  const named = [schema.type].flat().find((type) => simple.includes(textIn(type)));
  if (named !== undefined) return textIn(named);
  if (objectIn(schema.properties) || schema.$ref !== undefined) return 'object';
  if (schema.items !== undefined) return 'array';
  const alternatives = [...listIn(schema.anyOf), ...listIn(schema.oneOf)].map(partsOf);
  const first = alternatives.find(({ type }) => type !== 'null');
  if (first !== undefined)
    return (
      [first.type]
        .flat()
        .map(textIn)
        .find((type) => simple.includes(type)) ?? 'object'
    );
  return typeof schema.const === 'number'
    ? 'number'
    : typeof schema.const === 'boolean'
      ? 'boolean'
      : 'string';
}
