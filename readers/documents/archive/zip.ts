/* Reads and writes zip archives. */
import { crc32, deflateRawSync } from 'node:zlib';
import { type ArchiveFault, inflate, isFault, orFault, refuseArchive } from './inflate.ts';

/** All members of a zip archive in memory, as `zipMembers` reads them. */
export function readZip(bytes: Buffer, limits: ZipLimits): readonly ZipMember[] | ArchiveFault {
  const read: ReadBytes = (at, length) => bytes.subarray(at, at + length);
  return orFault(() => [...zipMembers(bytes.length, read, limits)]);
}

/** Signatures of a zip archive's records, little-endian (APPNOTE 4.3). */
const zipSignatures = {
  local: 0x04034b50,
  central: 0x02014b50,
  end: 0x06054b50,
  wideEnd: 0x06064b50,
  locator: 0x07064b50,
} as const;

/** Bytes of its records, without names, extra fields and comments; of the longest of those (APPNOTE 4.3). */
const zipSizes = { local: 30, central: 46, end: 22, wideEnd: 56, locator: 20, text: 0xffff } as const;

/** Marks a 32-bit field with its value in the zip64 field. */
const wide32 = 0xffffffff;

export interface ZipLimits {
  readonly members: number;
  /** In sum, of the members that are wanted, unpacked. */
  readonly bytes: number;
  /** Of each member, wanted or not, packed and unpacked. */
  readonly memberBytes: number;
  /**
   * If true, zip64 is refused, and so are bytes between the last directory record and the end: no reader inspects
   * content that no directory lists.
   */
  readonly isPlain: boolean;
  /** By its name as latin1; the others are not unpacked. Absent: all are. */
  readonly isWanted?: (name: string) => boolean;
}

/** Bytes of the archive, fewer if it ends earlier. */
type ReadBytes = (at: number, length: number) => Buffer;

interface ZipMember {
  /** Bytes of its name, in whatever encoding the archive has it; never checked for where it leads. */
  readonly name: Buffer;
  readonly bytes: Buffer;
  /** The other fields of its directory record: version, flags, time, attributes. */
  readonly record: Buffer;
}

const windowBytes = 1024 * 1024;
const maxRecordBytes = zipSizes.central + 3 * zipSizes.text;

/**
 * Reads the members of a zip archive (APPNOTE 6.3) of `size` bytes, one at a time, in directory order. Members may be
 * stored or deflated; sizes and CRC-32 must match, and no member may overlap the directory. Members that share bytes
 * count separately. Throws an ArchiveRefusal if it is damaged, truncated, encrypted, packed by another method, on
 * several disks, or above the limits.
 */
export function* zipMembers(size: number, read: ReadBytes, limits: ZipLimits): Generator<ZipMember> {
  const directory = findZipDirectory(size, read, limits);
  if (directory.entries > limits.members)
    refuseArchive(`it has more than ${limits.members} entries`, { bound: 'members' });
  if (directory.end > size) refuseArchive('its directory lies outside of it');
  let left = limits.bytes;
  let at = directory.offset;
  let window: { at: number; bytes: Buffer } = { at, bytes: Buffer.alloc(0) };
  for (let count = 0; count < directory.entries; count += 1) {
    const windowEnd = window.at + window.bytes.length;
    if (at + maxRecordBytes > windowEnd && windowEnd < directory.end)
      window = { at, bytes: read(at, Math.max(0, Math.min(windowBytes, directory.end - at))) };
    const record = parseZipRecord(window.bytes.subarray(at - window.at), limits.isPlain);
    if (record.size > limits.memberBytes || record.packed > limits.memberBytes)
      refuseArchive(`an entry has more than ${limits.memberBytes} bytes`, { bound: 'memberBytes' });
    at += record.length;
    if (limits.isWanted?.(record.name.toString('latin1')) === false) continue;
    left -= record.size;
    if (left < 0) refuseArchive(`it unpacks to more than ${limits.bytes} bytes`, { bound: 'bytes' });
    yield { name: record.name, bytes: readContent(record, read, directory.offset), record: record.head };
  }
  if (limits.isPlain && at !== directory.end) refuseArchive('its directory is damaged');
}

function readContent(record: ZipRecord, read: ReadBytes, before: number): Buffer {
  const head = read(record.offset, zipSizes.local);
  if (head.length < zipSizes.local || head.readUInt32LE(0) !== zipSignatures.local)
    refuseArchive('an entry is not where its directory says');
  const from = record.offset + zipSizes.local + head.readUInt16LE(26) + head.readUInt16LE(28);
  if (from + record.packed > before) refuseArchive('an entry reaches into its directory');
  if (record.method !== 0 && record.method !== 8)
    refuseArchive(`an entry is packed with method ${record.method}; stored and deflated are read`);
  const packed = read(from, record.packed);
  const content = record.method === 0 ? packed : inflate(packed, 'raw', record.size);
  if (isFault(content)) refuseArchive('an entry is damaged', { cause: content.cause });
  if (content.length !== record.size || crc32(content) !== record.crc) refuseArchive('an entry is damaged');
  return content;
}

interface ZipDirectory {
  readonly entries: number;
  readonly offset: number;
  readonly end: number;
}

/** Finds the directory of an archive of `size` bytes by the record at its end, or by that of zip64. */
function findZipDirectory(size: number, read: ReadBytes, { isPlain }: ZipLimits): ZipDirectory {
  const start = Math.max(0, size - zipSizes.end - zipSizes.text);
  const tail = read(start, size - start);
  const at = tail.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  if (at === -1 || at + zipSizes.end > tail.length) refuseArchive('its directory is missing: it is cut off');
  if (tail.readUInt16LE(at + 4) !== 0) refuseArchive('it is one of several disks');
  const entries = tail.readUInt16LE(at + 10);
  const bytes = tail.readUInt32LE(at + 12);
  const offset = tail.readUInt32LE(at + 16);
  if (isPlain) return { entries, offset, end: start + at };
  const isWide = entries === 0xffff || bytes === wide32 || offset === wide32;
  return isWide ? wideDirectory(start + at, read) : { entries, offset, end: offset + bytes };
}

function wideDirectory(end: number, read: ReadBytes): ZipDirectory {
  const part = (at: number, length: number, signature: number): Buffer => {
    const bytes = Number.isSafeInteger(at) ? read(Math.max(0, at), length) : Buffer.alloc(0);
    if (bytes.length < length || bytes.readUInt32LE(0) !== signature)
      refuseArchive('its zip64 directory is missing');
    return bytes;
  };
  const locator = part(end - zipSizes.locator, zipSizes.locator, zipSignatures.locator);
  const record = part(Number(locator.readBigUInt64LE(8)), zipSizes.wideEnd, zipSignatures.wideEnd);
  const [entries = 0, bytes = 0, offset = 0] = [32, 40, 48].map((at) => Number(record.readBigUInt64LE(at)));
  if (![entries, bytes, offset].every(Number.isSafeInteger))
    refuseArchive('it states a size that no file has');
  return { entries, offset, end: offset + bytes };
}

interface ZipRecord {
  /** Bytes of its name, in whatever encoding the archive has it. */
  readonly name: Buffer;
  /** Version, flags, time, attributes and sizes, unparsed. */
  readonly head: Buffer;
  readonly method: number;
  readonly crc: number;
  /** Bytes; packed and as they were. */
  readonly packed: number;
  readonly size: number;
  readonly offset: number;
  readonly length: number;
}

/** The record at the beginning of these bytes, the sizes of zip64 among them unless it is to be a plain one. */
function parseZipRecord(bytes: Buffer, isPlain: boolean): ZipRecord {
  if (bytes.length < zipSizes.central || bytes.readUInt32LE(0) !== zipSignatures.central)
    refuseArchive('its directory is damaged');
  const head = bytes.subarray(0, zipSizes.central);
  const nameEnd = zipSizes.central + head.readUInt16LE(28);
  const extraEnd = nameEnd + head.readUInt16LE(30);
  if (bytes.length < extraEnd) refuseArchive('its directory is damaged');
  if ((head.readUInt16LE(8) & 1) !== 0) refuseArchive('an entry is encrypted');
  const stated = [head.readUInt32LE(24), head.readUInt32LE(20), head.readUInt32LE(42)];
  const [size = 0, packed = 0, offset = 0] = isPlain
    ? stated
    : widened(stated, bytes.subarray(nameEnd, extraEnd));
  if (![size, packed, offset].every(Number.isSafeInteger)) refuseArchive('it states a size that no file has');
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

/** Values that do not fit are in the zip64 extra field, in this order. */
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

/** Names are UTF-8: the one flag that stays. */
const keptFlags = 0x0800;

/** An archive of these files, deflated; comments and extra fields are left out. */
export function writeZip(members: readonly ZipMember[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, bytes, record } of members) {
    const packed = deflateRawSync(bytes);
    const central = Buffer.from(record);
    central.writeUInt16LE(record.readUInt16LE(8) & keptFlags, 8);
    central.writeUInt16LE(8, 10);
    central.writeUInt32LE(crc32(bytes), 16);
    central.writeUInt32LE(packed.length, 20);
    central.writeUInt32LE(bytes.length, 24);
    central.writeUInt16LE(name.length, 28);
    central.fill(0, 30, 36);
    central.writeUInt32LE(offset, 42);
    const local = Buffer.alloc(zipSizes.local);
    local.writeUInt32LE(zipSignatures.local, 0);
    // Both records hold the fields from version to name length, in this order.
    central.copy(local, 4, 6, 30);
    parts.push(local, name, packed);
    directory.push(central, name);
    offset += local.length + name.length + packed.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(zipSizes.end);
  end.writeUInt32LE(zipSignatures.end, 0);
  end.writeUInt16LE(members.length, 8);
  end.writeUInt16LE(members.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, listed, end]);
}
