import { crc32 } from 'node:zlib';
import type { TarPart } from './read-tar.ts';
import { tarChecksum } from './tar-checksum.ts';

const block = 512;

/** The archive of these members, their headers with the sizes that they have now. */
export function writeTar(parts: readonly TarPart[]): Buffer {
  return Buffer.concat(
    parts.flatMap(({ header, bytes }, index) => {
      if (index === parts.length - 1 && bytes.length === 0 && header.every((octet) => octet === 0))
        return [header];
      const changed = Buffer.from(header);
      changed.write(`${bytes.length.toString(8).padStart(11, '0')}\0`, 124, 'latin1');
      changed.write(`${tarChecksum(changed).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
      return [changed, bytes, Buffer.alloc((block - (bytes.length % block)) % block)];
    }),
  );
}

/** What every file of such an archive has, so that the same files are the same bytes. */
const mode = 0o644;
/** Seconds since 1970: the time that `npm pack` gives to every file. */
const madeAt = 499_162_500;

/**
 * A ustar archive of these files in this order, nobody's, at a fixed time and with fixed rights; a name that a ustar
 * header cannot hold stands in a pax header.
 */
export function plainTar(files: Iterable<readonly [name: string, bytes: Uint8Array]>): Buffer {
  const parts: TarPart[] = [];
  for (const [name, content] of files) {
    const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
    const isPlain = name.length <= 100 && /^[\x20-\x7e]*$/.test(name);
    if (!isPlain)
      parts.push({
        header: headerOf(`pax/${parts.length}`, 'x'),
        bytes: Buffer.from(paxRecord('path', name)),
      });
    parts.push({ header: headerOf(isPlain ? name : `file/${parts.length}`, '0'), bytes });
  }
  return writeTar([...parts, { header: Buffer.alloc(2 * block), bytes: Buffer.alloc(0) }]);
}

/** Size and checksum are for whoever writes it. */
function headerOf(name: string, type: '0' | 'x'): Buffer {
  const header = Buffer.alloc(block);
  const octal = (value: number, digits: number, at: number): void => {
    header.write(`${value.toString(8).padStart(digits, '0')}\0`, at, 'latin1');
  };
  header.write(name, 0, 'latin1');
  octal(mode, 7, 100);
  octal(0, 7, 108);
  octal(0, 7, 116);
  octal(madeAt, 11, 136);
  header.write(type, 156, 'latin1');
  header.write('ustar\x0000', 257, 'latin1');
  octal(0, 7, 329);
  octal(0, 7, 337);
  return header;
}

/** Its length counts itself. */
function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  let length = Buffer.byteLength(rest);
  while (Buffer.byteLength(`${length}${rest}`) !== length) length += 1;
  return `${length}${rest}`;
}

/** Octets that one stored block of deflate holds. */
const maxStored = 65_535;

/**
 * Bytes as gzip, stored and not deflated: how well a version of zlib packs is then no part of the result (RFC 1951,
 * 3.2.4; RFC 1952).
 */
export function storeGzip(bytes: Uint8Array): Buffer {
  // No name, no time, no system that it was made on.
  const parts: Uint8Array[] = [Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])];
  for (let from = 0; from === 0 || from < bytes.length; from += maxStored) {
    const piece = bytes.subarray(from, from + maxStored);
    const head = Buffer.alloc(5);
    head.writeUInt8(from + maxStored >= bytes.length ? 1 : 0, 0);
    head.writeUInt16LE(piece.length, 1);
    head.writeUInt16LE(0xffff - piece.length, 3);
    parts.push(head, piece);
  }
  const tail = Buffer.alloc(8);
  tail.writeUInt32LE(crc32(bytes), 0);
  tail.writeUInt32LE(bytes.length, 4);
  return Buffer.concat([...parts, tail]);
}
