/* Finds the plugin that a command line names. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { readInput } from '../../api/read-input.ts';
import { listedPlugins, parsePluginDigest, userPluginAccess } from '../../api/user-plugins.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { quoted } from '../../core/base/printable.ts';
import type { FoundPlugin } from '../../plugins/third-party/find-plugins.ts';
import { refusalOf } from '../../plugins/third-party/open-plugins.ts';
import {
  type PartField,
  type PartKind,
  partFields,
  partKindNames,
} from '../../plugins/third-party/part-kinds.ts';
import { type PluginManifest, readManifest, usedNames } from '../../plugins/third-party/plugin-manifest.ts';
import {
  maxTarballBytes,
  type PluginPackage,
  readDirectory,
  readTarball,
} from '../../plugins/third-party/plugin-package.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import type { CommandContext } from '../command-parts/command.ts';
import { openEngine } from '../command-parts/engine.ts';

/** A plugin's content that the user named. `manifest` is absent if the content is not available here. */
export interface SpokenOf {
  readonly digest: string;
  readonly manifest?: PluginManifest;
}

/**
 * Resolves a digest, a directory or `.tgz`, or the name of a plugin listed at HEAD (plugin name, package name or
 * path). USAGE if it matches no content or two; PLUGIN_MISSING and PLUGIN_CHANGED if a listed plugin is not here as
 * pinned.
 */
export async function namedPlugin(context: CommandContext, given: string): Promise<SpokenOf> {
  if (given.startsWith('sha256:')) return knownByDigest(context, parsePluginDigest(given));
  const path = resolve(context.cwd, given);
  const status = given === '' ? undefined : await stat(path).catch(() => undefined);
  const there = status === undefined ? undefined : await readPlugin(context, given);
  const listed = (await listedHere(context)).find((found) => isCalled(found, given));
  if (there === undefined) {
    if (listed !== undefined) return trustable(listed);
    throw new WritError('USAGE', {
      message: `expected a digest, a directory or \`.tgz\`, or the name of a plugin that is listed at HEAD, found ${quoted(given)}`,
      detail: { command: 'plugin trust', given: given.slice(0, 200) },
      hints: ['see their names and digests: `writ plugin list`'],
    });
  }
  const { digest } = there.pluginPackage;
  if (listed !== undefined && listed.listed.digest !== digest)
    throw new WritError('USAGE', {
      message: `${quoted(given)} has two meanings: the directory or file here has the digest \`sha256:${digest}\`, the plugin that HEAD lists has \`sha256:${listed.listed.digest}\``,
      detail: { command: 'plugin trust', here: `sha256:${digest}`, listed: `sha256:${listed.listed.digest}` },
      hints: ['pass the digest of the one that you mean'],
    });
  return { digest, manifest: there.manifest };
}

function trustable(found: FoundPlugin): SpokenOf {
  if (found.status === 'missing' || found.status === 'changed') throw refusalOf(found);
  return { digest: found.listed.digest, manifest: found.manifest };
}

async function knownByDigest(context: CommandContext, digest: string): Promise<SpokenOf> {
  const kept = await userPluginAccess(context.env).find(digest);
  if (kept?.digest === digest) return { digest, manifest: readManifest(kept, digest) };
  const listed = (await listedHere(context)).find((found) => found.listed.digest === digest);
  return listed !== undefined && 'manifest' in listed ? { digest, manifest: listed.manifest } : { digest };
}

/** Returns the plugins listed at HEAD; empty without a repository, or if the list cannot be read. */
async function listedHere(context: CommandContext): Promise<readonly FoundPlugin[]> {
  try {
    const repository = await openRepository(context.repoPath ?? context.cwd);
    return await listedPlugins(context, repository, 'HEAD');
  } catch (fault) {
    if (isWritError(fault)) return [];
    throw fault;
  }
}

function isCalled(found: FoundPlugin, given: string): boolean {
  const names = [found.listed.place, ...('manifest' in found ? [found.manifest.name] : [])];
  return names.includes(given.replace(/^\.\//, '').replace(/\/$/, ''));
}

/** A plugin that the user named: a directory, or a file that `npm pack` made. */
interface NamedPlugin {
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
      hints: ['download a package first: `npm pack NAME`'],
    });
  const pluginPackage = status.isDirectory()
    ? await readDirectory(path, given)
    : await readTarball(await readInput(context, given, { maxBytes: maxTarballBytes }), given);
  return { pluginPackage, manifest: readManifest(pluginPackage, given), path };
}

/** What a plugin brings beside rules. */
export function partsOf(manifest: PluginManifest): { kind: PartKind; name: string }[] {
  return partKindNames.flatMap((kind) => manifest[partFields[kind]].map(({ name }) => ({ kind, name })));
}

/** Names that a plugin would bring, by the field of its manifest. */
type BroughtNames = { readonly [F in PartField | 'rules']?: readonly string[] };

/** What a manifest brings. */
export function namesOf(manifest: PluginManifest): BroughtNames {
  const parts = Object.values(partFields).map((field) => [field, manifest[field].map(({ name }) => name)]);
  return { rules: manifest.rules.map(({ id }) => id), ...Object.fromEntries(parts) };
}

/**
 * PLUGIN_INVALID if a part of the plugin has the name of a built-in part of its kind, or a rule that of a policy
 * engine. A run that lists such a plugin would not start.
 */
export async function requireFreeIds(
  context: Parameters<typeof openEngine>[0],
  plugin: string,
  names: BroughtNames,
): Promise<void> {
  await using engine = await openEngine(context);
  const ours = usedNames(engine);
  const kinds = [['rule', 'rules'], ...Object.entries(partFields)] as const;
  const taken = kinds.flatMap(([kind, field]) =>
    (names[field] ?? []).filter((name) => ours[field].includes(name)).map((name) => [kind, name]),
  );
  for (const [kind = '', name] of taken)
    throw new WritError('PLUGIN_INVALID', {
      message: `the ${kind} \`${name}\` of the plugin \`${plugin}\` has the name of a built-in one. Give it another name`,
      detail: { plugin, [kind]: name },
    });
}
