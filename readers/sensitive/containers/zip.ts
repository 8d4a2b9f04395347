import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';

/** One file in an archive. */
export interface Member {
  /** Bytes of its name, in whatever encoding the archive has it. */
  readonly name: Buffer;
  readonly bytes: Buffer;
  /** What else its directory says of it: version, flags, time, attributes. */
  readonly record: Buffer;
}

const maxMembers = 10_000;
const sizes = { end: 22, central: 46, local: 30, comment: 0xffff };
const keptFlags = 0x0800;

/** The files of a zip archive; `undefined` for one that is damaged, encrypted, zip64, packed otherwise, or beyond `maxBytes` or 10 000 files. */
export function readZip(bytes: Buffer, maxBytes: number): readonly Member[] | undefined {
  const end = bytes.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  if (end < Math.max(0, bytes.length - sizes.end - sizes.comment) || end + sizes.end > bytes.length)
    return undefined;
  const count = bytes.readUInt16LE(end + 10);
  if (count > maxMembers || bytes.readUInt16LE(end + 4) !== 0) return undefined;
  const members: Member[] = [];
  let left = maxBytes;
  let at = bytes.readUInt32LE(end + 16);
  for (let index = 0; index < count; index += 1) {
    if (at + sizes.central > end || bytes.readUInt32LE(at) !== 0x02014b50) return undefined;
    const nameLength = bytes.readUInt16LE(at + 28);
    const name = bytes.subarray(at + sizes.central, at + sizes.central + nameLength);
    const content = readMember(bytes, at, left);
    if (content === undefined) return undefined;
    left -= content.length;
    members.push({ name, bytes: content, record: bytes.subarray(at, at + sizes.central) });
    at += sizes.central + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  // What stands in no directory would be looked at by nobody.
  return at === end ? members : undefined;
}

function readMember(bytes: Buffer, at: number, left: number): Buffer | undefined {
  const isEncrypted = (bytes.readUInt16LE(at + 8) & 1) !== 0;
  const method = bytes.readUInt16LE(at + 10);
  const packedSize = bytes.readUInt32LE(at + 20);
  const size = bytes.readUInt32LE(at + 24);
  const local = bytes.readUInt32LE(at + 42);
  if (isEncrypted || size > left || local + sizes.local > bytes.length) return undefined;
  if (bytes.readUInt32LE(local) !== 0x04034b50) return undefined;
  const from = local + sizes.local + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
  const packed = bytes.subarray(from, from + packedSize);
  try {
    const content =
      method === 0
        ? packed
        : method === 8
          ? inflateRawSync(packed, { maxOutputLength: Math.max(1, size) })
          : undefined;
    return content?.length === size && crc32(content) === bytes.readUInt32LE(at + 16) ? content : undefined;
  } catch {
    return undefined;
  }
}

/** An archive of these files, deflated; comments and extra fields are left out. */
export function writeZip(members: readonly Member[]): Buffer {
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
    const local = Buffer.alloc(sizes.local);
    local.writeUInt32LE(0x04034b50, 0);
    // Version to names' length stand in both, in this order.
    central.copy(local, 4, 6, 30);
    parts.push(local, name, packed);
    directory.push(central, name);
    offset += local.length + name.length + packed.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(sizes.end);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(members.length, 8);
  end.writeUInt16LE(members.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, listed, end]);
}
