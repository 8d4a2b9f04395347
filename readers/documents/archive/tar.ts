/* Reads and writes tar archives. */
import { crc32 } from 'node:zlib';
import { type ArchiveFault, orFault, refuseArchive, tarChecksum } from './inflate.ts';

const block = 512;

/** A header with its content, as they follow each other; the end of the archive is one without content. */
export interface TarPart {
  readonly header: Buffer;
  readonly bytes: Buffer;
}

interface TarLimits {
  /** Extended headers count. */
  readonly members: number;
  /**
   * If true, every header must be ustar and two empty blocks must end the archive: two readers could otherwise
   * disagree about its end. If false, one empty block or the end of the bytes ends it.
   */
  readonly isStrict: boolean;
}

/** Whether bytes begin with a tar header (POSIX, GNU). */
export function isTar(head: string): boolean {
  return head.startsWith('ustar', 257);
}

/**
 * The members of a tar archive, its extended headers among them; what they are named and whether they are files is not
 * looked at. A fault: a wrong checksum, a size that is not octal (the binary form is for files beyond 8 GiB), what is
 * cut off, too many members.
 */
export function readTar(bytes: Buffer, limits: TarLimits): readonly TarPart[] | ArchiveFault {
  return orFault(() => partsOf(bytes, limits));
}

function partsOf(bytes: Buffer, { members, isStrict }: TarLimits): readonly TarPart[] {
  const parts: TarPart[] = [];
  for (let at = 0; at + (isStrict ? block : 1) <= bytes.length; ) {
    const header = bytes.subarray(at, at + block);
    if (isEmpty(header)) {
      const next = bytes.subarray(at + block, at + 2 * block);
      if (isStrict && !(next.length === block && isEmpty(next)))
        refuseArchive('the archive has no end of two empty blocks');
      return [...parts, { header: bytes.subarray(at), bytes: Buffer.alloc(0) }];
    }
    if (isStrict && !isTar(header.toString('latin1'))) refuseArchive('expected a ustar archive');
    if (header.length < block) refuseArchive('the archive is cut off');
    if (octalOf(header.subarray(148, 156)) !== tarChecksum(header))
      refuseArchive('a header has a wrong checksum');
    const size = octalOf(header.subarray(124, 136));
    const end = at + block + size;
    if (end > bytes.length) refuseArchive('the archive is cut off');
    if (parts.length >= members)
      refuseArchive(`the archive has more than ${members} members`, { bound: 'members' });
    parts.push({ header, bytes: bytes.subarray(at + block, end) });
    at += block + Math.ceil(size / block) * block;
  }
  return isStrict ? refuseArchive('the archive has no end') : parts;
}

function octalOf(field: Buffer): number {
  const digits = /^ *([0-7]{1,11})[ \0]*$/.exec(field.toString('latin1'))?.[1];
  return digits === undefined
    ? refuseArchive('a header holds no octal number where one is due')
    : Number.parseInt(digits, 8);
}

function isEmpty(header: Buffer): boolean {
  return header.every((octet) => octet === 0);
}

export interface TarEntry {
  /** As it is written: it may be absolute, or lead out of where it is unpacked. */
  readonly name: string;
  /** Of its header: `0` a file, `5` a directory, `2` a symbolic link. */
  readonly type: string;
  readonly bytes: Buffer;
}

/**
 * Returns the members of a tar archive with their names, also from pax headers (POSIX.1-2001). Faults: a name that is
 * not UTF-8, and anything that two readers could interpret differently. That is two sizes, two pax headers, a global
 * name or size, and links or GNU extensions in a pax header.
 */
export function tarEntries(parts: readonly TarPart[]): readonly TarEntry[] | ArchiveFault {
  return orFault(() => entriesOf(parts));
}

function entriesOf(parts: readonly TarPart[]): readonly TarEntry[] {
  const entries: TarEntry[] = [];
  let extended: ReadonlyMap<string, string> | undefined;
  for (const { header, bytes } of parts) {
    // The end of the archive; bytes after it are ignored.
    if (isEmpty(header.subarray(0, block))) break;
    const type = header.toString('latin1', 156, 157);
    const prefix = header[262] === 0 ? textOf(header.subarray(345, 500)) : '';
    const path = `${prefix === '' ? '' : `${prefix}/`}${textOf(header.subarray(0, 100))}`;
    if (type === 'g' || type === 'x') {
      const records = parsePax(bytes);
      // A global header may carry a comment (git archive does), never a name or a size for everything.
      const key = type === 'g' ? ['path', 'size'].find((one) => records.has(one)) : undefined;
      if (key !== undefined) refuseArchive(`a global pax header has a \`${key}\``);
      if (type === 'g') continue;
      // Whether the second replaces the first or adds to it would depend on the reader.
      if (extended !== undefined) refuseArchive('a file has two pax headers');
      extended = records;
      continue;
    }
    const name = extended?.get('path') ?? path;
    // Two sizes that differ are two archives: which one is unpacked would depend on the reader.
    const stated = extended?.get('size') ?? String(bytes.length);
    if (stated !== String(bytes.length)) refuseArchive(`\`${shownName(name)}\` has two sizes`);
    extended = undefined;
    entries.push({ name, type, bytes });
  }
  return extended === undefined ? entries : refuseArchive('the archive has no end of two empty blocks');
}

/** A name from an archive as a message may hold it. */
export function shownName(text: string): string {
  return text.slice(0, 200).replaceAll(/[\p{Cc}\p{Cf}`]/gu, '?');
}

function textOf(field: Buffer): string {
  const end = field.indexOf(0);
  const bytes = field.subarray(0, end < 0 ? field.length : end);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    return refuseArchive('a name is not UTF-8', { cause });
  }
}

/** `<length> <key>=<value>\n`, each; the keys that change what a file is are refused. */
function parsePax(content: Buffer): ReadonlyMap<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < content.length; ) {
    const length = Number(/^([1-9]\d{0,6}) /.exec(content.toString('latin1', at, at + 9))?.[1]);
    const record = content.subarray(at, at + length);
    const [, key = '', value = ''] =
      (record.length === length && /^\d+ ([^=]+)=(.*)\n$/su.exec(textOf(record))) || [];
    if (key === '') refuseArchive('a pax header is malformed');
    if (key === 'linkpath' || key.startsWith('GNU.'))
      refuseArchive(`the pax header \`${shownName(key)}\` is not supported`);
    records.set(key, value);
    at += length;
  }
  return records;
}

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
 * Builds a ustar archive of these files in this order, with owner 0, a fixed time and a fixed mode. A name that does
 * not fit a ustar header goes into a pax header.
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

/** `writeTar` fills in size and checksum. */
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
