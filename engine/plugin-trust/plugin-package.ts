import { sha256Hex } from '../../core/base/digest.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';

/** All files of a plugin, by path, and what they amount to. */
export interface PluginPackage {
  /** Sorted by path (code units of UTF-8). */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** SHA-256, lower-case hex, over `<sha256>  <path>\n` of each file: what `sha256sum` prints, hashed again. */
  readonly digest: string;
}

export const packageLimits = { files: 2000, bytes: 32 * 1024 * 1024, pathBytes: 255, depth: 16 } as const;

/**
 * Files → package. Throws PLUGIN_INVALID on a path that could land elsewhere, on two files at one place (or names that
 * some file system takes for one), and beyond `packageLimits`.
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
      // A file system that folds case keeps one of the two: which one judges would depend on the machine.
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

/** Why a path is not a plain relative one; nothing if it is. */
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
  const { pointer, line, column } = isWritError(cause) ? cause.detail : {};
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

/** What is wrong with a package as a whole. */
export function invalidPackage(place: string, what: string, cause?: unknown): WritError {
  return new WritError('PLUGIN_INVALID', {
    message: `the plugin at \`${place}\`: ${what}`,
    detail: { plugin: place },
    cause,
  });
}
