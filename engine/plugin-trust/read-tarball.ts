import { createGunzip } from 'node:zlib';
import { invalidPackage, type PluginPackage, packageLimits, toPluginPackage } from './plugin-package.ts';

/** Headers and padding included. */
const maxUnpackedBytes = packageLimits.bytes + packageLimits.files * 4096;
export const maxTarballBytes = packageLimits.bytes;
const blockBytes = 512;

/**
 * A packed plugin (`npm pack`): gzip of a ustar archive with pax headers, everything below `package/`. Links, devices, GNU extensions,
 * sparse files and anything else that is no plain file or directory are PLUGIN_INVALID; so is a wrong checksum or a cut-off archive.
 */
export async function readTarball(bytes: Uint8Array, place: string): Promise<PluginPackage> {
  if (bytes.length > maxTarballBytes)
    throw invalidPackage(place, `expected at most ${maxTarballBytes} packed bytes, found ${bytes.length}`);
  const archive = await gunzip(bytes, place);
  return toPluginPackage(entriesOf(archive, place), place);
}

async function gunzip(bytes: Uint8Array, place: string): Promise<Buffer> {
  const stream = createGunzip();
  stream.end(bytes);
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of stream as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > maxUnpackedBytes) break;
      parts.push(part);
    }
  } catch (cause) {
    throw invalidPackage(place, 'expected a gzip archive', cause);
  }
  if (size > maxUnpackedBytes) throw invalidPackage(place, `unpacks to more than ${maxUnpackedBytes} bytes`);
  return Buffer.concat(parts);
}

function* entriesOf(archive: Buffer, place: string): Generator<readonly [string, Uint8Array]> {
  let extended: ReadonlyMap<string, string> | undefined;
  for (let at = 0; at + blockBytes <= archive.length; ) {
    const header = archive.subarray(at, at + blockBytes);
    // Two empty blocks end an archive; what a packer pads it with after that is not read. After one alone some readers go on.
    if (isEmpty(header)) {
      if (extended === undefined && isEmpty(archive.subarray(at + blockBytes, at + 2 * blockBytes))) return;
      throw invalidPackage(place, 'the archive has no end of two empty blocks');
    }
    const { path, size, type } = parseHeader(header, place);
    const start = at + blockBytes;
    if (start + size > archive.length) throw invalidPackage(place, 'the archive is cut off');
    const content = archive.subarray(start, start + size);
    at = start + Math.ceil(size / blockBytes) * blockBytes;
    if (type === 'g') refuseForAll(parsePax(content, place), place);
    else if (type === 'x') {
      // Whether the second replaces the first or adds to it would depend on the reader.
      if (extended !== undefined) throw invalidPackage(place, 'a file has two pax headers');
      extended = parsePax(content, place);
    } else {
      const name = extended?.get('path') ?? path;
      // Two sizes that differ are two archives: which one is unpacked would depend on the reader.
      const stated = extended?.get('size') ?? String(size);
      if (stated !== String(size)) throw invalidPackage(place, `\`${shown(name)}\` has two sizes`);
      extended = undefined;
      if (type === '5') {
        if (size > 0) throw invalidPackage(place, `the directory \`${shown(name)}\` has content`);
        continue;
      }
      if (type !== '0' && type !== '\0' && type !== '7')
        throw invalidPackage(place, `\`${shown(name)}\` is no plain file (type \`${shown(type)}\`)`);
      const below = /^package\/(.+)$/su.exec(name)?.[1];
      if (below === undefined) throw invalidPackage(place, `\`${shown(name)}\` is not below \`package/\``);
      yield [below, Uint8Array.from(content)];
    }
  }
  throw invalidPackage(place, 'the archive has no end');
}

function parseHeader(header: Buffer, place: string): { path: string; size: number; type: string } {
  if (header.toString('latin1', 257, 262) !== 'ustar')
    throw invalidPackage(place, 'expected a ustar archive');
  // The checksum field itself counts as spaces.
  let sum = 8 * 32;
  for (const [index, octet] of header.entries()) if (index < 148 || index >= 156) sum += octet;
  if (parseOctal(header.subarray(148, 156), place) !== sum)
    throw invalidPackage(place, 'a header has a wrong checksum');
  const isUstar = header[262] === 0;
  const prefix = isUstar ? parseText(header.subarray(345, 500), place) : '';
  const name = parseText(header.subarray(0, 100), place);
  return {
    path: prefix === '' ? name : `${prefix}/${name}`,
    size: parseOctal(header.subarray(124, 136), place),
    type: header.toString('latin1', 156, 157),
  };
}

function parseText(field: Buffer, place: string): string {
  const end = field.indexOf(0);
  const bytes = field.subarray(0, end < 0 ? field.length : end);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw invalidPackage(place, 'a name is not UTF-8', cause);
  }
}

/** Octal only: the binary form is for files beyond 8 GiB. */
function parseOctal(field: Buffer, place: string): number {
  const digits = /^ *([0-7]{1,11})[ \0]*$/.exec(field.toString('latin1'))?.[1];
  if (digits === undefined) throw invalidPackage(place, 'a header holds no octal number where one is due');
  return Number.parseInt(digits, 8);
}

/** `<length> <key>=<value>\n`, each; the keys that change what a file is are refused. */
function parsePax(content: Buffer, place: string): ReadonlyMap<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < content.length; ) {
    const length = Number(/^([1-9]\d{0,6}) /.exec(content.toString('latin1', at, at + 9))?.[1]);
    const record = content.subarray(at, at + length);
    const match =
      record.length === length ? /^\d+ ([^=]+)=(.*)\n$/su.exec(parseText(record, place)) : undefined;
    if (!match) throw invalidPackage(place, 'a pax header is malformed');
    const [, key = '', value = ''] = match;
    if (key === 'linkpath' || key.startsWith('GNU.'))
      throw invalidPackage(place, `the pax header \`${shown(key)}\` is not supported`);
    records.set(key, value);
    at += length;
  }
  return records;
}

/** A global header may carry a comment (git archive does), never a name or a size for everything. */
function refuseForAll(records: ReadonlyMap<string, string>, place: string): void {
  const key = ['path', 'size'].find((one) => records.has(one));
  if (key !== undefined) throw invalidPackage(place, `a global pax header has a \`${key}\``);
}

function isEmpty(block: Buffer): boolean {
  return block.length === blockBytes && block.every((octet) => octet === 0);
}

function shown(text: string): string {
  return text.slice(0, 200).replaceAll(/[\p{Cc}\p{Cf}`]/gu, '?');
}
