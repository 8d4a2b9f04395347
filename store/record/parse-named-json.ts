import { isWritError, WritError } from '../../core/base/errors.ts';
import { parseStrictJson, type StrictJsonOptions } from '../../core/base/strict-json.ts';

/** Strict JSON out of a stored file; OBJECT_CORRUPT says which file. */
export function parseNamedJson(
  path: string,
  bytes: Uint8Array,
  limits: Pick<StrictJsonOptions, 'maxBytes' | 'maxDepth'> = {},
): unknown {
  try {
    return parseStrictJson(bytes, { ...limits, code: 'OBJECT_CORRUPT' }).value;
  } catch (cause) {
    if (!isWritError(cause, 'OBJECT_CORRUPT')) throw cause;
    const detail = { ...cause.detail, path };
    throw new WritError('OBJECT_CORRUPT', { message: `\`${path}\`: ${cause.message}`, detail, cause });
  }
}
