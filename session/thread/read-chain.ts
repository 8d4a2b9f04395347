import type { FileHandle } from 'node:fs/promises';
import { sha256Hex } from '../../core/base/digest.ts';

/** Octets up to the end of the last line of a journal that was read, and the digest of that line. */
export interface ChainPlace {
  readonly bytes: number;
  readonly digest: string;
}

/** How far reading came. */
export interface ChainEnd extends ChainPlace {
  /** A line is none, or does not follow on the one before: nothing behind it was read. */
  readonly isDamaged: boolean;
}

/** A line of a journal: what is in it, and where it begins. */
type ChainLine = (
  record: Readonly<Record<string, unknown>>,
  at: number,
  line: Buffer,
  digest: string,
) => void;

const chunkBytes = 1024 * 1024;
/** A command is 256 KiB at most, a tool result 64 KiB: nobody writes longer lines here. */
export const maxLineBytes = 16 * 1024 * 1024;

/**
 * Reads whole lines of a journal from a place on, a piece at a time, and calls `each` with every one that follows on
 * the one before. A last line without an end is not read yet.
 */
export async function readChain(file: FileHandle, from: ChainPlace, each: ChainLine): Promise<ChainEnd> {
  let { bytes, digest } = from;
  const chunk = Buffer.alloc(chunkBytes);
  let rest: Buffer = Buffer.alloc(0);
  for (let at = bytes; ; ) {
    const { bytesRead } = await file.read(chunk, 0, chunkBytes, at);
    if (bytesRead === 0) return { bytes, digest, isDamaged: false };
    at += bytesRead;
    rest = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
    let begin = 0;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10, begin)) {
      const line = rest.subarray(begin, end);
      const record = parseLine(line);
      if (record === undefined || record.prev !== digest) return { bytes, digest, isDamaged: true };
      digest = sha256Hex(line);
      each(record, bytes, line, digest);
      bytes += line.length + 1;
      begin = end + 1;
    }
    rest = rest.subarray(begin);
    if (rest.length > maxLineBytes) return { bytes, digest, isDamaged: true };
  }
}

/** One line as an object; `undefined` where it is none. */
export function parseLine(line: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
