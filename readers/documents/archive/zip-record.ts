import type { ArchiveFault } from './archive-fault.ts';
import { wide32, zipSignatures, zipSizes } from './zip-format.ts';

/** What the directory of an archive says of a member. */
export interface ZipRecord {
  /** Bytes of its name, in whatever encoding the archive has it. */
  readonly name: Buffer;
  /** Version, flags, time, attributes, sizes: as they stand there. */
  readonly head: Buffer;
  readonly method: number;
  readonly crc: number;
  /** Bytes; packed and as they were. */
  readonly packed: number;
  readonly size: number;
  /** Where it begins. */
  readonly offset: number;
  /** Bytes of the record. */
  readonly length: number;
}

/** The record at the beginning of these bytes, the sizes of zip64 among them unless it is to be a plain one. */
export function parseZipRecord(bytes: Buffer, isPlain: boolean): ZipRecord | ArchiveFault {
  if (bytes.length < zipSizes.central || bytes.readUInt32LE(0) !== zipSignatures.central)
    return { fault: 'its directory is damaged' };
  const head = bytes.subarray(0, zipSizes.central);
  const nameEnd = zipSizes.central + head.readUInt16LE(28);
  const extraEnd = nameEnd + head.readUInt16LE(30);
  if (bytes.length < extraEnd) return { fault: 'its directory is damaged' };
  if ((head.readUInt16LE(8) & 1) !== 0) return { fault: 'an entry is encrypted' };
  const stated = [head.readUInt32LE(24), head.readUInt32LE(20), head.readUInt32LE(42)];
  const [size = 0, packed = 0, offset = 0] = isPlain
    ? stated
    : widened(stated, bytes.subarray(nameEnd, extraEnd));
  if (![size, packed, offset].every(Number.isSafeInteger))
    return { fault: 'it states a size that no file has' };
  return {
    name: bytes.subarray(zipSizes.central, nameEnd),
    head,
    method: head.readUInt16LE(10),
    crc: head.readUInt32LE(16),
    packed,
    size,
    offset,
    length: extraEnd + head.readUInt16LE(32),
  };
}

/** The values that did not fit stand in the extra field of zip64, in this order. */
function widened(stated: readonly number[], extra: Buffer): readonly number[] {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue;
    let from = at + 4;
    return stated.map((value) => {
      if (value !== wide32 || from + 8 > extra.length) return value;
      from += 8;
      return Number(extra.readBigUInt64LE(from - 8));
    });
  }
  return stated;
}
