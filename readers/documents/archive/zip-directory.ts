import type { ArchiveFault } from './archive-fault.ts';
import { wide32, type ZipLimits, type ZipSteps, zipSignatures, zipSizes } from './zip-format.ts';

/** Where the records of an archive's members stand. */
export interface ZipDirectory {
  readonly entries: number;
  readonly offset: number;
  readonly end: number;
}

/** Finds the directory of an archive of `size` bytes by the record at its end, or by that of zip64. */
export function* findZipDirectory(size: number, limits: ZipLimits): ZipSteps<ZipDirectory | ArchiveFault> {
  const start = Math.max(0, size - zipSizes.end - zipSizes.text);
  const tail = yield { at: start, length: size - start };
  const at = tail.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  if (at === -1 || at + zipSizes.end > tail.length)
    return { fault: 'its directory is missing: it is cut off' };
  if (tail.readUInt16LE(at + 4) !== 0) return { fault: 'it is one of several disks' };
  const entries = tail.readUInt16LE(at + 10);
  const bytes = tail.readUInt32LE(at + 12);
  const offset = tail.readUInt32LE(at + 16);
  if (limits.isPlain) return withinLimits({ entries, offset, end: start + at }, size, limits);
  const isWide = entries === 0xffff || bytes === wide32 || offset === wide32;
  const found = isWide ? yield* wideDirectory(start + at) : { entries, offset, end: offset + bytes };
  return 'fault' in found ? found : withinLimits(found, size, limits);
}

function* wideDirectory(end: number): ZipSteps<ZipDirectory | ArchiveFault> {
  const missing = { fault: 'its zip64 directory is missing' };
  const locator = yield { at: Math.max(0, end - zipSizes.locator), length: zipSizes.locator };
  if (locator.length < zipSizes.locator || locator.readUInt32LE(0) !== zipSignatures.locator) return missing;
  const at = Number(locator.readBigUInt64LE(8));
  if (!Number.isSafeInteger(at)) return { fault: 'it states a size that no file has' };
  const record = yield { at, length: zipSizes.wideEnd };
  if (record.length < zipSizes.wideEnd || record.readUInt32LE(0) !== zipSignatures.wideEnd) return missing;
  const [entries = 0, bytes = 0, offset = 0] = [32, 40, 48].map((field) =>
    Number(record.readBigUInt64LE(field)),
  );
  return [entries, bytes, offset].every(Number.isSafeInteger)
    ? { entries, offset, end: offset + bytes }
    : { fault: 'it states a size that no file has' };
}

function withinLimits(
  directory: ZipDirectory,
  size: number,
  { members }: ZipLimits,
): ZipDirectory | ArchiveFault {
  if (directory.entries > members) return { fault: `it has more than ${members} entries`, bound: 'members' };
  return directory.end > size ? { fault: 'its directory lies outside of it' } : directory;
}
