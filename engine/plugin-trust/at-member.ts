import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import { appendPointer } from '../../core/base/json-pointer.ts';
import { type Fields, parseList } from '../../core/base/parse-fields.ts';

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
