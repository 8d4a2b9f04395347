import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { readInput } from '../../api/read-input.ts';
import { WritError } from '../../core/base/errors.ts';
import { type PluginManifest, readManifest } from '../../engine/plugin-trust/plugin-manifest.ts';
import type { PluginPackage } from '../../engine/plugin-trust/plugin-package.ts';
import { readDirectory } from '../../engine/plugin-trust/read-directory.ts';
import { maxTarballBytes, readTarball } from '../../engine/plugin-trust/read-tarball.ts';
import type { CommandContext } from '../command-parts/command.ts';

/** A plugin that the user named: a directory, or a file that `npm pack` made. */
export interface NamedPlugin {
  readonly pluginPackage: PluginPackage;
  readonly manifest: PluginManifest;
  /** Absolute. */
  readonly path: string;
}

/** Reads it without running any of it. INPUT_UNREADABLE, INPUT_TOO_LARGE, PLUGIN_INVALID. */
export async function readPlugin(
  context: Pick<CommandContext, 'cwd' | 'stdin' | 'signal'>,
  given: string,
): Promise<NamedPlugin> {
  const path = resolve(context.cwd, given);
  const status = await stat(path).catch(() => undefined);
  if (status === undefined)
    throw new WritError('INPUT_UNREADABLE', {
      message: `expected a directory or a \`.tgz\` file, found nothing at \`${given}\``,
      detail: { path: given },
      hints: ['get a package first: `npm pack NAME`'],
    });
  const pluginPackage = status.isDirectory()
    ? await readDirectory(path, given)
    : await readTarball(await readInput(context, given, { maxBytes: maxTarballBytes }), given);
  return { pluginPackage, manifest: readManifest(pluginPackage, given), path };
}
