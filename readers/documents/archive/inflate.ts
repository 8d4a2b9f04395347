import { createGunzip, type Gunzip, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import type { ArchiveFault } from './archive-fault.ts';

const formats = { raw: inflateRawSync, zlib: inflateSync, gzip: gunzipSync } as const;

/**
 * What was deflated (RFC 1951; in the wrapping of RFC 1950 or 1952), at most `maxBytes` of it: beyond that it ends
 * without more being inflated. Zlib knows no bound of 0: it is taken for 1.
 */
export function inflate(
  packed: Uint8Array,
  format: keyof typeof formats,
  maxBytes: number,
): Buffer | ArchiveFault {
  try {
    return formats[format](packed, { maxOutputLength: Math.max(1, maxBytes) });
  } catch (cause) {
    if (isTooLarge(cause))
      return { fault: `it unpacks to more than ${maxBytes} bytes`, bound: 'bytes', cause };
    return { fault: 'it is damaged', cause };
  }
}

/** Inflates gzip as it comes. The reader counts what comes out and stops, as nothing else bounds it. */
export function inflateStream(): Gunzip {
  return createGunzip();
}

function isTooLarge(cause: unknown): boolean {
  return cause instanceof RangeError && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE';
}
