import type { FileHandle } from 'node:fs/promises';
import { crc32, inflateRawSync } from 'node:zlib';
import { WritError } from '../../../core/base/errors.ts';
import { maxRecordBytes } from '../../../readers/advisories/split-json.ts';

const maxEntries = 4_000_000;
const maxTotalBytes = 64 * 1024 ** 3;
const windowBytes = 1024 * 1024;
const tail = { size: 22, comment: 0xffff, locator: 20 };
const none32 = 0xffffffff;

/**
 * Contents of the `.json` files in a zip archive (zip64 too), one at a time, in the order of its directory. Stored and deflated entries only; sizes
 * and CRC-32 must hold. Encryption, several disks and anything beyond the bounds are ADVISORIES_INVALID. Names are never used as paths.
 */
export async function* zipEntries(file: FileHandle): AsyncGenerator<Buffer> {
  const { size } = await file.stat();
  const directory = await findDirectory(file, size);
  let total = 0;
  let at = directory.offset;
  let window: Buffer = Buffer.alloc(0);
  let windowAt = at;
  for (let count = 0; count < directory.entries; count += 1) {
    const need = async (bytes: number): Promise<Buffer> => {
      if (at + bytes > windowAt + window.length) {
        window = await readAt(file, at, Math.min(Math.max(windowBytes, bytes), directory.end - at));
        windowAt = at;
      }
      return window.subarray(at - windowAt, at - windowAt + bytes);
    };
    const head = await need(46);
    if (head.length < 46 || head.readUInt32LE(0) !== 0x02014b50) throw invalid('its directory is damaged');
    const nameLength = head.readUInt16LE(28);
    const extraLength = head.readUInt16LE(30);
    const whole = await need(46 + nameLength + extraLength);
    if (whole.length < 46 + nameLength + extraLength) throw invalid('its directory is damaged');
    const name = whole.toString('latin1', 46, 46 + nameLength);
    const entry = readEntry(head, whole.subarray(46 + nameLength));
    at += 46 + nameLength + extraLength + head.readUInt16LE(32);
    if (!name.toLowerCase().endsWith('.json')) continue;
    total += entry.size;
    if (total > maxTotalBytes) throw invalid(`it unpacks to more than ${maxTotalBytes} bytes`);
    yield await readContent(file, entry, directory.offset);
  }
}

interface Entry {
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly offset: number;
}

async function findDirectory(file: FileHandle, size: number) {
  const start = Math.max(0, size - tail.size - tail.comment);
  const end = await readAt(file, start, size - start);
  const at = end.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  if (at === -1 || at + tail.size > end.length) throw invalid('its directory is missing: it is cut off');
  let entries = end.readUInt16LE(at + 10);
  let bytes = end.readUInt32LE(at + 12);
  let offset = end.readUInt32LE(at + 16);
  if (end.readUInt16LE(at + 4) !== 0) throw invalid('it is one of several disks');
  if (entries === 0xffff || bytes === none32 || offset === none32) {
    const locator = await readAt(file, Math.max(0, start + at - tail.locator), tail.locator);
    if (locator.length < tail.locator || locator.readUInt32LE(0) !== 0x07064b50)
      throw invalid('its zip64 directory is missing');
    const record = await readAt(file, toNumber(locator.readBigUInt64LE(8)), 56);
    if (record.length < 56 || record.readUInt32LE(0) !== 0x06064b50)
      throw invalid('its zip64 directory is missing');
    entries = toNumber(record.readBigUInt64LE(32));
    bytes = toNumber(record.readBigUInt64LE(40));
    offset = toNumber(record.readBigUInt64LE(48));
  }
  if (entries > maxEntries) throw invalid(`it has more than ${maxEntries} entries`);
  if (offset + bytes > size) throw invalid('its directory lies outside of it');
  return { entries, offset, end: offset + bytes };
}

function readEntry(head: Buffer, extra: Buffer): Entry {
  if ((head.readUInt16LE(8) & 1) !== 0) throw invalid('an entry is encrypted');
  const wide = [head.readUInt32LE(24), head.readUInt32LE(20), head.readUInt32LE(42)];
  // zip64: the values that did not fit stand in the extra field, in this order.
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue;
    let from = at + 4;
    for (const [index, value] of wide.entries()) {
      if (value !== none32 || from + 8 > extra.length) continue;
      wide[index] = toNumber(extra.readBigUInt64LE(from));
      from += 8;
    }
    break;
  }
  const [size = 0, packed = 0, offset = 0] = wide;
  if (size > maxRecordBytes || packed > maxRecordBytes)
    throw invalid(`a record has more than ${maxRecordBytes} bytes`);
  return { method: head.readUInt16LE(10), crc: head.readUInt32LE(16), packed, size, offset };
}

async function readContent(file: FileHandle, entry: Entry, before: number): Promise<Buffer> {
  const head = await readAt(file, entry.offset, 30);
  if (head.length < 30 || head.readUInt32LE(0) !== 0x04034b50)
    throw invalid('an entry is not where its directory says');
  const from = entry.offset + 30 + head.readUInt16LE(26) + head.readUInt16LE(28);
  if (from + entry.packed > before) throw invalid('an entry reaches into its directory');
  const packed = await readAt(file, from, entry.packed);
  const content = unpack(packed, entry);
  if (content.length !== entry.size || crc32(content) !== entry.crc) throw invalid('an entry is damaged');
  return content;
}

function unpack(packed: Buffer, { method, size }: Entry): Buffer {
  if (method === 0) return packed;
  if (method !== 8) throw invalid(`an entry is packed with method ${method}; stored and deflated are read`);
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, size) });
  } catch (cause) {
    throw invalid('an entry is damaged', cause);
  }
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(Math.max(0, length));
  const { bytesRead } = await file.read(bytes, 0, bytes.length, position);
  return bytes.subarray(0, bytesRead);
}

function toNumber(value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw invalid('it states a size that no file has');
  return Number(value);
}

function invalid(reason: string, cause?: unknown): WritError {
  return new WritError('ADVISORIES_INVALID', { message: `the archive cannot be read: ${reason}`, cause });
}
