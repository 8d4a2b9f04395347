import { type Redaction, Redactor } from './redactor.ts';

const chunkBytes = 1024 * 1024;

/** Bytes without the known secrets in them, and the receipt. The same array comes back where nothing was found. */
export function redact(
  bytes: Uint8Array,
  key: Uint8Array,
): { readonly bytes: Uint8Array; readonly redactions: readonly Redaction[] } {
  const redactor = new Redactor(key);
  const parts: Buffer[] = [];
  for (let from = 0; from < bytes.length; from += chunkBytes)
    parts.push(redactor.write(bytes.subarray(from, from + chunkBytes)));
  parts.push(redactor.end());
  const { redactions } = redactor;
  return redactions.length === 0 ? { bytes, redactions } : { bytes: Buffer.concat(parts), redactions };
}
