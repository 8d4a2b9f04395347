import { messageOf } from '../../core/base/errors.ts';
import { plainTar, storeGzip } from '../../readers/documents/archive/write-tar.ts';
import { packedFiles } from './packed-files.ts';
import { type PluginManifest, readManifest } from './plugin-manifest.ts';
import { invalidPackage, type PluginPackage, toPluginPackage } from './plugin-package.ts';
import { maxTarballBytes } from './read-tarball.ts';

/** A plugin as one file, and what is in it. */
export interface PackedPlugin {
  /** What `writ plugin add` takes: the same files are the same bytes, whoever packs them and when. */
  readonly tarball: Buffer;
  readonly pluginPackage: PluginPackage;
  readonly manifest: PluginManifest;
  /** What looks like somebody's secrets, and is not in it. */
  readonly leftOut: readonly string[];
}

/**
 * Packs what a directory's `package.json` calls the package; none of it runs. PLUGIN_INVALID for a manifest that is not
 * valid over just these files.
 */
export function packPlugin(directory: PluginPackage, place: string): PackedPlugin {
  const { files, leftOut } = taken(directory, place);
  const pluginPackage = toPluginPackage(files, place);
  const manifest = readManifest(pluginPackage, place);
  const named = [...pluginPackage.files].map(([path, bytes]) => [`package/${path}`, bytes] as const);
  const tarball = storeGzip(plainTar(named));
  if (tarball.length > maxTarballBytes)
    throw invalidPackage(place, `expected at most ${maxTarballBytes} packed bytes, found ${tarball.length}`);
  return { tarball, pluginPackage, manifest, leftOut };
}

function taken(directory: PluginPackage, place: string): ReturnType<typeof packedFiles> {
  try {
    return packedFiles(directory);
  } catch (cause) {
    throw invalidPackage(place, messageOf(cause), cause);
  }
}
