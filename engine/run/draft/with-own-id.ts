import { parseStrictJson } from '../../../core/base/strict-json.ts';

/**
 * A contract as another one of the same words: Decision.Commit has closed the first, and what is committed beside it is
 * an intent of its own. INTENTSPEC_MALFORMED.
 */
export function withOwnId(specBytes: Uint8Array, id: string): Uint8Array {
  const { value } = parseStrictJson(specBytes, { code: 'INTENTSPEC_MALFORMED' });
  const document = value as { readonly metadata?: object };
  const changed = { ...document, metadata: { ...document.metadata, id } };
  return Buffer.from(`${JSON.stringify(changed, null, 2)}\n`);
}
