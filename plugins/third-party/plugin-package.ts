/* The files of a plugin as a package, within limits. */
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256Hex } from '../../core/base/canonical.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import { readPlain } from '../../core/base/files.ts';
import { toPointer } from '../../core/base/json-pointer.ts';
import { SchemaFault } from '../../core/base/schema.ts';
import { type ArchiveFault, inflate, isFault } from '../../readers/documents/archive/inflate.ts';
import { readTar, shownName, type TarEntry, tarEntries } from '../../readers/documents/archive/tar.ts';

/** All files of a plugin, by path, and what they amount to. */
export interface PluginPackage {
  /** Sorted by path (code units of UTF-8). */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** SHA-256, lower-case hex, over `<sha256>  <path>\n` of each file: what `sha256sum` prints, hashed again. */
  readonly digest: string;
}

export const packageLimits = { files: 2000, bytes: 32 * 1024 * 1024, pathBytes: 255, depth: 16 } as const;

/**
 * Builds a package from files. Throws PLUGIN_INVALID for a path that could escape the package, and above
 * `packageLimits`. Also throws it for two files at the same path, or at paths that some file systems treat as equal.
 */
export function toPluginPackage(
  given: Iterable<readonly [string, Uint8Array]>,
  place: string,
): PluginPackage {
  const files = new Map<string, Uint8Array>();
  const directories = new Set<string>();
  const byFolded = new Map<string, string>();
  let bytes = 0;
  for (const [path, content] of given) {
    const fault = packagePathFault(path);
    if (fault !== undefined) throw invalidPackage(place, `${JSON.stringify(path.slice(0, 200))}: ${fault}`);
    if (files.has(path)) throw invalidPackage(place, `\`${path}\` is there twice`);
    files.set(path, content);
    bytes += content.length;
    const segments = path.split('/');
    for (let count = 1; count <= segments.length; count += 1) {
      const name = segments.slice(0, count).join('/');
      if (count < segments.length) directories.add(name);
      // A case-folding file system keeps only one of the two files, so which code runs would depend on the machine.
      const folded = name.normalize('NFC').toLowerCase();
      const other = byFolded.get(folded) ?? name;
      if (other !== name)
        throw invalidPackage(place, `\`${other}\` and \`${name}\` differ in case or form alone`);
      byFolded.set(folded, name);
    }
    if (files.size > packageLimits.files)
      throw invalidPackage(place, `expected at most ${packageLimits.files} files`);
    if (bytes > packageLimits.bytes)
      throw invalidPackage(place, `expected at most ${packageLimits.bytes} bytes`);
  }
  const both = [...files.keys()].find((path) => directories.has(path));
  if (both !== undefined) throw invalidPackage(place, `\`${both}\` is a file and a directory`);
  if (files.size === 0) throw invalidPackage(place, 'expected files, found none');
  const sorted = [...files].sort(([left], [right]) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
  const listing = sorted.map(([path, content]) => `${sha256Hex(content)}  ${path}\n`).join('');
  return { files: new Map(sorted), digest: sha256Hex(listing) };
}

/** Returns why `path` is not a plain relative path, or `undefined` if it is one. */
export function packagePathFault(path: string): string | undefined {
  if (Buffer.byteLength(path) > packageLimits.pathBytes)
    return `expected at most ${packageLimits.pathBytes} bytes`;
  if (!path.isWellFormed() || /[\p{Cc}\p{Cf}\\:]/u.test(path))
    return 'expected no control character, `\\` or `:`';
  const segments = path.split('/');
  if (segments.length > packageLimits.depth) return `expected at most ${packageLimits.depth} segments`;
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..'))
    return 'expected a relative path without empty, `.` and `..` segments';
  return undefined;
}

/** A package that is refused as it is. */
/** What is wrong with a file of it: with the member, or the line and column, where that is known. */
export function invalidFile(place: string, file: string, cause: unknown): WritError {
  const { pointer, line, column } = isWritError(cause) ? cause.detail : { pointer: pointerOf(cause) };
  const at = pointer === undefined ? '' : ` at \`${pointer}\``;
  return new WritError('PLUGIN_INVALID', {
    message: `the plugin at \`${place}\`: \`${file}\`${at}: ${messageOf(cause)}`,
    detail: {
      plugin: place,
      file,
      ...(pointer === undefined ? {} : { pointer }),
      ...(line === undefined ? {} : { line, column }),
    },
    cause,
  });
}

/** Points to the entry that has the fault: the words name its member. */
function pointerOf(cause: unknown): string | undefined {
  if (!(cause instanceof SchemaFault)) return undefined;
  const { path, expected } = cause.facts;
  const isNamed = expected.startsWith(`\`${path.at(-1)}\``);
  return toPointer(isNamed && typeof path.at(-1) === 'string' ? path.slice(0, -1) : path);
}

/** What is wrong with a package as a whole. */
export function invalidPackage(place: string, what: string, cause?: unknown): WritError {
  return new WritError('PLUGIN_INVALID', {
    message: `the plugin at \`${place}\`: ${what}`,
    detail: { plugin: place },
    cause,
  });
}

/** Headers and padding included. */
const maxUnpackedBytes = packageLimits.bytes + packageLimits.files * 4096;
export const maxTarballBytes = packageLimits.bytes;

/**
 * Reads a packed plugin (`npm pack`): a gzipped ustar archive with pax headers, with every entry below `package/`.
 * Throws PLUGIN_INVALID for links, devices, GNU extensions, sparse files and every other entry that is not a plain
 * file or directory. Also throws it for a wrong checksum or a truncated archive.
 */
export async function readTarball(bytes: Uint8Array, place: string): Promise<PluginPackage> {
  if (bytes.length > maxTarballBytes)
    throw invalidPackage(place, `expected at most ${maxTarballBytes} packed bytes, found ${bytes.length}`);
  const archive = inflate(bytes, 'gzip', maxUnpackedBytes);
  if (isFault(archive))
    throw archive.bound === undefined
      ? invalidPackage(place, 'expected a gzip archive', archive.cause)
      : invalidPackage(place, `unpacks to more than ${maxUnpackedBytes} bytes`);
  // So many headers as its bytes can hold.
  const parts = sound(readTar(archive, { members: maxUnpackedBytes, isStrict: true }), place);
  return toPluginPackage(filesOf(sound(tarEntries(parts), place), place), place);
}

function sound<T extends object>(read: T | ArchiveFault, place: string): T {
  if (isFault(read)) throw invalidPackage(place, read.fault, read.cause);
  return read;
}

function* filesOf(entries: readonly TarEntry[], place: string): Generator<readonly [string, Uint8Array]> {
  for (const { name, type, bytes } of entries) {
    if (type === '5') {
      if (bytes.length > 0) throw invalidPackage(place, `the directory \`${shownName(name)}\` has content`);
      continue;
    }
    if (type !== '0' && type !== '\0' && type !== '7')
      throw invalidPackage(place, `\`${shownName(name)}\` is no plain file (type \`${shownName(type)}\`)`);
    const below = /^package\/(.+)$/su.exec(name)?.[1];
    if (below === undefined) throw invalidPackage(place, `\`${shownName(name)}\` is not below \`package/\``);
    yield [below, Uint8Array.from(bytes)];
  }
}

/** Never part of a plugin, wherever it comes from: what a package manager or git keeps beside it. */
export const leftOut: ReadonlySet<string> = new Set(['node_modules', '.git']);

/**
 * Reads a plugin from a directory. Throws PLUGIN_INVALID for links and special files, because their targets are not
 * pinned.
 */
export async function readDirectory(
  directory: string,
  place = directory,
  without = leftOut,
): Promise<PluginPackage> {
  const files: [string, Uint8Array][] = [];
  let bytes = 0;
  const walk = async (below: string): Promise<void> => {
    const fault = below === '' ? undefined : packagePathFault(below);
    if (fault !== undefined) throw invalidPackage(place, `${JSON.stringify(below)}: ${fault}`);
    for (const entry of await readdir(join(directory, below), { withFileTypes: true })) {
      if (without.has(entry.name)) continue;
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) await walk(path);
      else if (!entry.isFile()) throw invalidPackage(place, `\`${path}\` is neither a file nor a directory`);
      else {
        const { bytes: content, fault } = readPlain(join(directory, path), packageLimits.bytes - bytes);
        if (content === undefined && !['EINVAL', 'EFBIG'].includes(fault.code ?? '')) throw fault;
        if (content === undefined)
          throw invalidPackage(place, `expected at most ${packageLimits.bytes} bytes of plain files`);
        bytes += content.length;
        files.push([path, content]);
        if (files.length > packageLimits.files)
          throw invalidPackage(place, `expected at most ${packageLimits.files} files`);
      }
    }
  };
  const status = await lstat(directory).catch(() => undefined);
  if (!status?.isDirectory()) throw invalidPackage(place, 'expected a directory');
  await walk('');
  return toPluginPackage(files, place);
}
