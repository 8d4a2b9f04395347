import { gzipSync } from 'node:zlib';

/** One entry as a test wants it, sound or not. */
export interface TarEntry {
  readonly name: string;
  readonly content?: string | Buffer;
  readonly type?: string;
  readonly link?: string;
  readonly size?: number;
  readonly badChecksum?: boolean;
}

/** A pax record. */
export function pax(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  let length = Buffer.byteLength(rest);
  while (Buffer.byteLength(`${length}${rest}`) !== length) length += 1;
  return `${length}${rest}`;
}

/** A ustar archive, gzipped. `end` false leaves out the two empty blocks. */
export function tarball(entries: readonly TarEntry[], { end = true, zip = true } = {}): Buffer {
  const parts = entries.flatMap(({ name, content = '', type = '0', link = '', size, badChecksum }) => {
    const bytes = Buffer.from(content as string);
    const header = Buffer.alloc(512);
    header.write(name, 0, 100);
    header.write('0000644\0', 100);
    header.write(`${(size ?? bytes.length).toString(8).padStart(11, '0')}\0`, 124);
    header.write('00000000000\0', 136);
    header.write('        ', 148);
    header.write(type, 156);
    header.write(link, 157, 100);
    header.write('ustar\0', 257);
    header.write('00', 263);
    const sum = header.reduce((total, octet) => total + octet, badChecksum ? 1 : 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    return [header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)];
  });
  const archive = Buffer.concat([...parts, Buffer.alloc(end ? 1024 : 0)]);
  return zip ? gzipSync(archive) : archive;
}
