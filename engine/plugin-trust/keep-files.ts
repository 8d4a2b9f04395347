import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemClock } from '../../core/base/clock.ts';
import { uuidV7 } from '../../core/base/ids.ts';
import type { PluginPackage } from './plugin-package.ts';
import { readDirectory } from './read-directory.ts';

const maxTries = 5;

/**
 * Puts a package's files on the disk, below `root` under their digest, and answers where. What is there already is
 * looked at again, byte for byte: an entry that somebody altered is made anew.
 */
export async function keepFiles(root: string, pluginPackage: PluginPackage): Promise<string> {
  const directory = join(root, pluginPackage.digest);
  if (await isWhole(directory, pluginPackage)) return directory;
  await mkdir(root, { recursive: true, mode: 0o700 });
  const draft = join(root, `tmp-${uuidV7(systemClock.now())}`);
  const aside: string[] = [];
  try {
    for (const [path, bytes] of pluginPackage.files) {
      await mkdir(dirname(join(draft, path)), { recursive: true, mode: 0o700 });
      await writeFile(join(draft, path), bytes, { flag: 'wx', mode: 0o400 });
    }
    for (let tries = 1; ; tries += 1) {
      try {
        await rename(draft, directory);
        break;
      } catch (fault) {
        // Somebody else was quicker, with the same content; or what is there is not it.
        if (await isWhole(directory, pluginPackage)) break;
        if (tries === maxTries) throw fault;
        // Taken away whole: emptied where it stands, it would take what another has just put there.
        const gone = join(root, `tmp-${uuidV7(systemClock.now())}`);
        aside.push(gone);
        await rename(directory, gone).catch(() => undefined);
      }
    }
  } finally {
    for (const path of [draft, ...aside]) await rm(path, { recursive: true, force: true });
  }
  return directory;
}

/** Nothing is left out here: a file that came to be beside the package's own could be imported by them. */
async function isWhole(directory: string, { digest }: PluginPackage): Promise<boolean> {
  const kept = await readDirectory(directory, directory, new Set()).catch(() => undefined);
  return kept?.digest === digest;
}
