import { mask } from './mask-patch.ts';

/** Bytes without any of these values, as they are and in base64, base64url, hex or URL-encoded; the longest are taken first. */
export function maskValues(bytes: Uint8Array, values: readonly Buffer[]): Uint8Array {
  let text = Buffer.from(bytes).toString('latin1');
  for (const value of values) for (const form of formsOf(value)) text = text.replaceAll(form, mask);
  return Buffer.from(text, 'latin1');
}

function formsOf(value: Buffer): ReadonlySet<string> {
  const hex = value.toString('hex');
  return new Set([
    value.toString('latin1'),
    value.toString('base64').replace(/=+$/, ''),
    value.toString('base64url'),
    hex,
    hex.toUpperCase(),
    encodeURIComponent(value.toString('utf8')),
  ]);
}
