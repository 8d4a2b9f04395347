/* Opens the parts of plugins, each in the process of its plugin. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, WritError } from '../../core/base/errors.ts';
import type { SandboxBackend } from '../../core/interfaces/sandbox.ts';
import type { CheckNetwork } from '../../core/interfaces/scanner.ts';
import type { Outside } from '../../workspace/egress/outside.ts';
import { keepFiles } from './find-plugins.ts';
import { readOptions } from './manifest-parts.ts';
import { type NamedParts, openPart, overParts, type PartField, partFields } from './part-kinds.ts';
import { type PartEnvironment, valuesFor } from './parts/outside-evidence.ts';
import type { PluginAccess } from './plugin-access.ts';
import type { PluginManifest } from './plugin-manifest.ts';
import type { PluginPackage } from './plugin-package.ts';
import { pluginProcess } from './process/plugin-process.ts';

/** What each plugin needs of its surroundings. */
export interface PluginEnvironment {
  /** Where files are kept between runs. */
  readonly cacheDir: string;
  /** What a process may hold; absent: what every sandbox may. */
  readonly maxMemoryBytes?: number;
  /** Called only if there is a plugin; never returns `none`. */
  readonly sandbox: () => Promise<SandboxBackend>;
  /** The user's secrets and files; absent: none. */
  readonly access?: Pick<PluginAccess, 'secret' | 'file' | 'told'>;
  /** The network that the egress proxy uses; absent: the real network. */
  readonly outside?: Outside;
}

/** Names of parts, by the field of the manifest that lists them. */
type PartNames = { readonly [F in PartField]?: readonly string[] };

/** What plugins bring beside rules, by name, each in the process of its plugin. */
export interface PluginParts extends NamedParts {
  /** Secrets given to these plugins, which must not appear in any prompt, answer or record. */
  secrets(): Promise<readonly string[]>;
  /** Throws PLUGIN_SECRET_MISSING, before any of these parts is called, if a secret of their plugins is missing. */
  requireSecrets(used: PartNames): Promise<void>;
  /** The network use of each of these plugins so far; plugins without connections are omitted. */
  networks(): readonly (CheckNetwork & { readonly plugin: string })[];
  /** Ends every process that was started. */
  close(): Promise<void>;
}

export const noParts: PluginParts = {
  ...overParts<NamedParts>(() => new Map()),
  secrets: async () => [],
  requireSecrets: async () => {},
  networks: () => [],
  close: async () => {},
};

/** The parts of one package; no process is started yet. CONFIG_INVALID for options that it does not have. */
export async function openParts(
  manifest: PluginManifest,
  pluginPackage: PluginPackage,
  given: Readonly<Record<string, unknown>>,
  ground: PluginEnvironment,
): Promise<PluginParts> {
  const options = optionsOf(manifest, given);
  if (Object.values(partFields).every((field) => manifest[field].length === 0)) return noParts;
  const { maxMemoryBytes, outside, access = {} } = ground;
  const { hosts } = manifest.needs;
  const process = pluginProcess({
    plugin: manifest.name,
    directory: await keepFiles(ground.cacheDir, pluginPackage),
    empty: await emptyIn(ground.cacheDir),
    sandbox: await ground.sandbox(),
    hosts,
    ...(maxMemoryBytes === undefined ? {} : { maxMemoryBytes }),
    ...(outside === undefined ? {} : { outside }),
  });
  const handed = () => valuesFor(manifest.needs, access);
  const part: PartEnvironment = { plugin: manifest.name, process, hosts, options, handed };
  return {
    ...overParts<NamedParts>(
      (field, kind) => new Map(manifest[field].map((one) => [one.name, openPart(kind, one, part)])),
    ),
    secrets: async () => Object.values((await handed()).secrets),
    async requireSecrets(used) {
      const isUsed = Object.values(partFields).some((field) =>
        manifest[field].some(({ name }) => used[field]?.includes(name)),
      );
      if (isUsed) await requireSecrets(manifest, access);
    },
    networks() {
      const network = process.network();
      return network === undefined ? [] : [{ plugin: manifest.name, ...network }];
    },
    close: () => process.close(),
  };
}

/** All of them; their names are their own (`requireOwnNames`). */
export function joinParts(all: readonly PluginParts[]): PluginParts {
  return {
    ...overParts<NamedParts>((field) => new Map<string, object>(all.flatMap((one) => [...one[field]]))),
    secrets: async () => (await Promise.all(all.map((one) => one.secrets()))).flat(),
    async requireSecrets(used) {
      for (const one of all) await one.requireSecrets(used);
    },
    networks: () => all.flatMap((one) => one.networks()),
    async close() {
      await Promise.all(all.map((one) => one.close()));
    },
  };
}

/** An empty directory beside the files of plugins. */
export async function emptyIn(cacheDir: string): Promise<string> {
  const empty = join(cacheDir, 'empty');
  await mkdir(empty, { recursive: true, mode: 0o700 });
  return empty;
}

function optionsOf({ name, options }: PluginManifest, given: Readonly<Record<string, unknown>>) {
  try {
    return readOptions(options, given);
  } catch (cause) {
    throw new WritError('CONFIG_INVALID', {
      message: `\`[[plugins]]\`: \`options\` of \`${name}\`: ${messageOf(cause)}`,
      detail: { plugin: name },
      cause,
    });
  }
}

/**
 * Throws PLUGIN_SECRET_MISSING if a secret that a plugin declares is not available; the error names plugin, secrets
 * and ways to provide them. Reports to the user where each secret was found. Excludes its providers' keys, because
 * one of them is enough: the code that opens the model checks those.
 */
export async function requireSecrets(
  { name: plugin, needs, providers }: Pick<PluginManifest, 'name' | 'needs' | 'providers'>,
  { secret, told }: Pick<PluginAccess, 'secret' | 'told'>,
): Promise<void> {
  const keys = providers.flatMap((one) => one.keys);
  const missing: string[] = [];
  const lines: string[] = [];
  for (const name of needs.secrets.filter((one) => !keys.includes(one))) {
    const found = await secret?.(name);
    if (found === undefined) missing.push(name);
    else lines.push(`secret of plugin ${plugin}: ${name}, of ${found.place}`);
  }
  const [first] = missing;
  if (first !== undefined)
    throw new WritError('PLUGIN_SECRET_MISSING', {
      message: `plugin \`${plugin}\` is handed ${missing.map((name) => `\`${name}\``).join(', ')}, and ${missing.length === 1 ? 'that is' : 'those are'} not set`,
      detail: { plugin, secrets: missing },
      hints: [
        `keep it: \`writ vault set ${first}\`, with \`--global\` for every repository of yours`,
        `or set \`${first}\` in the environment, or in the file of \`--env-file\``,
      ],
    });
  for (const line of lines) told?.(line);
}
