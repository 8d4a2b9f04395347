import { isWritError } from '../../core/base/errors.ts';
import { uuidTimeMs } from '../../core/base/ids.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { ObjectType } from '../../engine/store/object-shapes.ts';
import { parseObject, type StoredObject } from '../../engine/store/stored-object.ts';
import type { FoundFile } from './thread-record.ts';

/** A stored object, or why it is none; `id` is what it calls itself, as far as that can be told. */
export type ParsedFile<T extends ObjectType> =
  | { readonly id: string; readonly object: StoredObject<T> }
  | { readonly id: string | undefined; readonly object: undefined; readonly problem: string };

/** Reads a file as an object of that type; what is damaged is said to be, and never thrown. */
export function parseFile<T extends ObjectType>(type: T, { bytes, problem }: FoundFile): ParsedFile<T> {
  if (bytes === undefined) return { id: undefined, object: undefined, problem: problem ?? 'it is missing' };
  try {
    const object = parseObject(type, bytes);
    return { id: object.object_id, object };
  } catch (fault) {
    if (!isWritError(fault, 'OBJECT_CORRUPT')) throw fault;
    return { id: textIn(bytes, 'object_id', isUuid), object: undefined, problem: fault.message };
  }
}

/** A member of the document in `bytes`, whatever else is wrong with it; `undefined` where there is none that fits. */
export function textIn(
  bytes: Uint8Array,
  member: string,
  isFit: (text: string) => boolean,
): string | undefined {
  try {
    const { value } = parseStrictJson(bytes);
    const found = Object.hasOwn(Object(value), member)
      ? (value as Record<string, unknown>)[member]
      : undefined;
    return typeof found === 'string' && isFit(found) ? found : undefined;
  } catch (fault) {
    if (!isWritError(fault, 'INTENTSPEC_MALFORMED')) throw fault;
    return undefined;
  }
}

/** A whole UUIDv7, which is what objects, runs and threads are called by. */
export function isUuid(text: string): boolean {
  return text.length === 36 && uuidTimeMs(text) !== undefined;
}
