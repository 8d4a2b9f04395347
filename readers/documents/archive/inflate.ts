/* What the archive formats share: inflation within limits, faults, and the checksum of a tar header. */
import { createGunzip, type Gunzip, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';

/** Sum of a tar header's bytes, with its checksum field counted as blanks. */
export function tarChecksum(header: Buffer): number {
  let sum = 0;
  for (const [at, octet] of header.entries()) sum += at >= 148 && at < 156 ? 32 : octet;
  return sum;
}

/**
 * Why an archive was refused, as the end of a sentence. It is a value and not an error, because the caller decides
 * the consequence.
 */
export interface ArchiveFault {
  readonly fault: string;
  /** The argument that it is beyond, where it is that. */
  readonly bound?: 'members' | 'bytes' | 'memberBytes';
  readonly cause?: unknown;
}

/** Whether an archive, or a part of one, was refused. */
export function isFault<T extends object>(value: T | ArchiveFault): value is ArchiveFault {
  return 'fault' in value;
}

/** A fault, thrown inside a reader of archives. */
export class ArchiveRefusal extends Error {
  readonly fault: ArchiveFault;

  constructor(fault: ArchiveFault) {
    super(fault.fault);
    this.fault = fault;
  }
}

export function refuseArchive(fault: string, more: Omit<ArchiveFault, 'fault'> = {}): never {
  throw new ArchiveRefusal({ fault, ...more });
}

/** The result of a reader, or the fault that it threw. */
export function orFault<T extends object>(read: () => T): T | ArchiveFault {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof ArchiveRefusal) return thrown.fault;
    throw thrown;
  }
}

const formats = { raw: inflateRawSync, zlib: inflateSync, gzip: gunzipSync } as const;

/**
 * Inflates deflate data (RFC 1951; also in the RFC 1950 or RFC 1952 container). Stops with a fault once the output
 * exceeds `maxBytes`. Zlib has no limit of 0, so 0 counts as 1.
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

/** Inflates gzip as a stream. The reader must count the output and stop, because the output has no other limit. */
export function inflateStream(): Gunzip {
  return createGunzip();
}

function isTooLarge(cause: unknown): boolean {
  return cause instanceof RangeError && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE';
}
