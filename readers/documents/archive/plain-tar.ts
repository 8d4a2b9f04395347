import type { TarPart } from './read-tar.ts';
import { writeTar } from './write-tar.ts';

/** What every file of such an archive has, so that the same files are the same bytes. */
const mode = 0o644;
/** Seconds since 1970: the time that `npm pack` gives to every file. */
const madeAt = 499_162_500;
const block = 512;

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
