import { type ArchiveFault, isFault } from '../../readers/documents/archive/archive-fault.ts';
import { inflate } from '../../readers/documents/archive/inflate.ts';
import { readTar, shownName, type TarEntry, tarEntries } from '../../readers/documents/archive/read-tar.ts';
import { invalidPackage, type PluginPackage, packageLimits, toPluginPackage } from './plugin-package.ts';

/** Headers and padding included. */
const maxUnpackedBytes = packageLimits.bytes + packageLimits.files * 4096;
export const maxTarballBytes = packageLimits.bytes;

/**
 * A packed plugin (`npm pack`): gzip of a ustar archive with pax headers, everything below `package/`. Links, devices,
 * GNU extensions, sparse files and anything else that is no plain file or directory are PLUGIN_INVALID; so is a wrong
 * checksum or a cut-off archive.
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
