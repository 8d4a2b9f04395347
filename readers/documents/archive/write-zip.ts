import { crc32, deflateRawSync } from 'node:zlib';
import { type ZipMember, zipSignatures, zipSizes } from './read-zip.ts';

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
    // Version to names' length stand in both, in this order.
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
