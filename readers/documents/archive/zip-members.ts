import { crc32 } from 'node:zlib';
import { type ArchiveFault, isFault } from './archive-fault.ts';
import { inflate } from './inflate.ts';
import { findZipDirectory } from './zip-directory.ts';
import { type WantedBytes, type ZipLimits, type ZipSteps, zipSignatures, zipSizes } from './zip-format.ts';
import { parseZipRecord, type ZipRecord } from './zip-record.ts';

/** One file in an archive. */
export interface ZipMember {
  /** Bytes of its name, in whatever encoding the archive has it; never checked for where it leads. */
  readonly name: Buffer;
  readonly bytes: Buffer;
  /** What else its directory says of it: version, flags, time, attributes. */
  readonly record: Buffer;
}

const windowBytes = 1024 * 1024;
const maxRecordBytes = zipSizes.central + 3 * zipSizes.text;

/**
 * The members of a zip archive (APPNOTE 6.3) of `size` bytes, one at a time, in the order of its directory, stored or
 * deflated; sizes and CRC-32 must hold, and no member may reach into the directory. Yields the bytes that it needs
 * next, to be handed in, and the members. Members that share bytes count each. Ends with the fault, if there is one:
 * damaged, cut off, encrypted, packed otherwise, on several disks, beyond the limits.
 */
export function* zipMembers(
  size: number,
  limits: ZipLimits,
): Generator<WantedBytes | ZipMember, ArchiveFault | undefined, Buffer> {
  const directory = yield* findZipDirectory(size, limits);
  if (isFault(directory)) return directory;
  let left = limits.bytes;
  let at = directory.offset;
  let window: { at: number; bytes: Buffer } = { at, bytes: Buffer.alloc(0) };
  for (let count = 0; count < directory.entries; count += 1) {
    const windowEnd = window.at + window.bytes.length;
    if (at + maxRecordBytes > windowEnd && windowEnd < directory.end)
      window = { at, bytes: yield { at, length: Math.max(0, Math.min(windowBytes, directory.end - at)) } };
    const record = parseZipRecord(window.bytes.subarray(at - window.at), limits.isPlain);
    if (isFault(record)) return record;
    if (record.size > limits.memberBytes || record.packed > limits.memberBytes)
      return { fault: `an entry has more than ${limits.memberBytes} bytes`, bound: 'memberBytes' };
    at += record.length;
    if (limits.isWanted?.(record.name.toString('latin1')) === false) continue;
    left -= record.size;
    if (left < 0) return { fault: `it unpacks to more than ${limits.bytes} bytes`, bound: 'bytes' };
    const bytes = yield* readContent(record, directory.offset);
    if (isFault(bytes)) return bytes;
    yield { name: record.name, bytes, record: record.head };
  }
  return limits.isPlain && at !== directory.end ? { fault: 'its directory is damaged' } : undefined;
}

function* readContent(record: ZipRecord, before: number): ZipSteps<Buffer | ArchiveFault> {
  const head = yield { at: record.offset, length: zipSizes.local };
  if (head.length < zipSizes.local || head.readUInt32LE(0) !== zipSignatures.local)
    return { fault: 'an entry is not where its directory says' };
  const from = record.offset + zipSizes.local + head.readUInt16LE(26) + head.readUInt16LE(28);
  if (from + record.packed > before) return { fault: 'an entry reaches into its directory' };
  const content = unpack(yield { at: from, length: record.packed }, record);
  if (isFault(content)) return content;
  return content.length === record.size && crc32(content) === record.crc
    ? content
    : { fault: 'an entry is damaged' };
}

function unpack(packed: Buffer, { method, size }: ZipRecord): Buffer | ArchiveFault {
  if (method === 0) return packed;
  if (method !== 8)
    return { fault: `an entry is packed with method ${method}; stored and deflated are read` };
  const content = inflate(packed, 'raw', size);
  return isFault(content) ? { fault: 'an entry is damaged', cause: content.cause } : content;
}
