import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import { appendPointer } from '../../core/base/json-pointer.ts';
import { nearestName } from '../../core/base/nearest-name.ts';
import { type Fields, nameOf, parseList, toFields } from '../../core/base/parse-fields.ts';
import { quoted } from '../../core/base/quoted.ts';

/** Reads a member; what that throws becomes PLUGIN_INVALID with the `pointer` to it (RFC 6901), from here on. */
export function atMember<T>(member: string | number, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const { pointer = '' } = isWritError(cause, 'PLUGIN_INVALID') ? cause.detail : {};
    throw faultAt(`${appendPointer('', member)}${pointer}`, messageOf(cause), cause);
  }
}

/** PLUGIN_INVALID: what is wrong at a place of a document. */
export function faultAt(pointer: string, message: string, cause?: unknown): WritError {
  return new WritError('PLUGIN_INVALID', { message, detail: { pointer }, cause });
}

/** A member that is a list, each entry read at its place; absent: none. */
export function listAt<T>(
  fields: Fields,
  field: string,
  read: (item: unknown) => T,
  most?: number,
): readonly T[] {
  let index = -1;
  return atMember(field, () =>
    parseList(
      fields[field] ?? [],
      (item) => {
        index += 1;
        return atMember(index, () => read(item));
      },
      most,
    ),
  );
}

/** The fields of an object of a manifest, none but `known` ones; a fault says which was meant, and which there are. */
export function membersOf(value: unknown, wanted: string, known: readonly string[]): Fields {
  const fields = toFields(value, wanted);
  const stray = Object.keys(fields).find((field) => !known.includes(field));
  if (stray === undefined) return fields;
  throw new TypeError(
    `expected ${wanted}, got the unknown field ${quoted(stray)}${meantBy(stray, known)} (known here: ${known.map((name) => `\`${name}\``).join(', ')})`,
  );
}

/** An entry of a list that is one of `words`. */
export function wordOf<W extends string>(value: unknown, words: readonly W[]): W {
  const word = words.find((candidate) => candidate === value);
  if (word !== undefined) return word;
  const found = typeof value === 'string' ? `${quoted(value)}${meantBy(value, words)}` : nameOf(value);
  throw new TypeError(`expected one of ${words.join(', ')}, got ${found}`);
}

function meantBy(typed: string, known: readonly string[]): string {
  const meant = nearestName(typed, known);
  return meant === undefined ? '' : `, did you mean \`${meant}\`?`;
}
