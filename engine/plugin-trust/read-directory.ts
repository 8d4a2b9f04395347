import { constants } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  invalidPackage,
  type PluginPackage,
  packageLimits,
  packagePathFault,
  toPluginPackage,
} from './plugin-package.ts';

/** Never part of a plugin, wherever it comes from: what a package manager or git keeps beside it. */
export const leftOut: ReadonlySet<string> = new Set(['node_modules', '.git']);

/** A plugin as it lies on the disk. Links and special files are PLUGIN_INVALID: what they lead to is not pinned. */
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
        const content = await readPlainFile(join(directory, path), packageLimits.bytes - bytes);
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

/** A regular file, never through a link; `undefined` for anything else and for one of more than `maxBytes`. */
export async function readPlainFile(path: string, maxBytes: number): Promise<Buffer | undefined> {
  // Without O_NONBLOCK a pipe of that name would hang us before it can be refused.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const status = await file.stat();
    if (!status.isFile() || status.size > maxBytes) return undefined;
    const bytes = Buffer.alloc(status.size);
    const { bytesRead } = await file.read(bytes, 0, status.size, 0);
    return bytes.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
