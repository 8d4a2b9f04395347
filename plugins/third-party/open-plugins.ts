/* Opens the third-party plugins of a run. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { WritError } from '../../core/base/errors.ts';
import type { Rule } from '../../core/interfaces/rule.ts';
import { type DigestedThing, pluginDependency } from '../../core/interfaces/sealing.ts';
import { type FoundPlugin, keepFiles } from './find-plugins.ts';
import { needsInWords } from './manifest-parts.ts';
import { emptyIn, joinParts, openParts, type PluginEnvironment, type PluginParts } from './open-parts.ts';
import { type PartField, type PartKind, partFields, partKindNames } from './part-kinds.ts';
import type { PluginManifest } from './plugin-manifest.ts';
import type { PluginPackage } from './plugin-package.ts';
import { callThirdPartyRule } from './rule/outside-rule.ts';

/** Third-party plugins of a run: rules, other parts, and their provenance entries. */
export interface OpenPlugins {
  readonly rules: readonly Rule[];
  readonly parts: PluginParts;
  readonly dependencies: readonly DigestedThing[];
}

const defaultTimeoutSeconds = 60;

/**
 * Opens every listed plugin or throws for the first that cannot be: PLUGIN_MISSING, PLUGIN_CHANGED, PLUGIN_UNTRUSTED,
 * SLOT_DUPLICATE.
 */
export async function openPlugins(
  found: readonly FoundPlugin[],
  ground: PluginEnvironment,
  taken: TakenNames,
): Promise<OpenPlugins> {
  const trusted = found.map((plugin) => {
    if (plugin.status !== 'trusted') throw refusalOf(plugin, found);
    return plugin;
  });
  const names = trusted.map(({ manifest }) => manifest.name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw new WritError('PLUGIN_INVALID', {
      message: `plugin \`${twice}\` is listed twice`,
      detail: { plugin: twice },
    });
  requireOwnNames(
    trusted.map(({ manifest }) => manifest),
    taken,
  );
  const rules = await ended(
    trusted.map(({ manifest, pluginPackage }) => outsideRules(manifest, pluginPackage, ground)),
  );
  const parts = await ended(
    trusted.map(({ manifest, pluginPackage, listed }) =>
      openParts(manifest, pluginPackage, listed.options ?? {}, ground),
    ),
  );
  return {
    rules: rules.flat(),
    parts: joinParts(parts),
    dependencies: trusted.map(({ manifest, listed: { kind, place, digest } }) => ({
      name: `${pluginDependency.name}${manifest.name}`,
      uri: `${pluginDependency.uri}${kind}:${encodeURI(place)}@${encodeURIComponent(manifest.version)}`,
      digest: { sha256: digest },
      annotations: { brings: bringsInWords(manifest), given: needsInWords(manifest.needs) },
    })),
  };
}

/** Waits for all of them. Throws the first fault only after all have ended, so that the caller can clean up safely. */
async function ended<T>(works: readonly Promise<T>[]): Promise<readonly T[]> {
  await Promise.allSettled(works);
  return Promise.all(works);
}

/** Kind and name of everything that a plugin brings. */
function bringsInWords(manifest: PluginManifest): readonly string[] {
  return [
    ...manifest.rules.map(({ id }) => `rule ${id}`),
    ...partKindNames.flatMap((kind) =>
      manifest[partFields[kind]].map((part) => `${kind} ${part.name}${restOf(part)}`),
    ),
  ];
}

/**
 * Returns a note about a part that a reader must know: if a log proves no consistency, sealing can record little
 * about it.
 */
function restOf(part: object): string {
  return 'consistency' in part && part.consistency === false ? ' (does not prove how it grew)' : '';
}

/** The rules of one package, each run in the sandbox. */
export async function outsideRules(
  manifest: PluginManifest,
  pluginPackage: PluginPackage,
  ground: PluginEnvironment,
): Promise<readonly Rule[]> {
  if (manifest.rules.length === 0) return [];
  const sandbox = await ground.sandbox();
  const directory = await keepFiles(ground.cacheDir, pluginPackage);
  const empty = await emptyIn(ground.cacheDir);
  const most = ground.maxMemoryBytes === undefined ? {} : { maxMemoryBytes: ground.maxMemoryBytes };
  return manifest.rules.map(({ module, asked, rows, ...rule }): Rule => {
    const timeoutSeconds = rule.timeoutSeconds ?? defaultTimeoutSeconds;
    const place = { plugin: manifest.name, directory, module, empty, sandbox };
    return {
      ...rule,
      timeoutSeconds,
      module: pathToFileURL(join(directory, module)),
      ...(rows === undefined ? {} : { rows: async () => rows }),
      ...(asked === 'by-policy' ? { appliesTo: () => false } : {}),
      outside: (input, signal) =>
        callThirdPartyRule({ id: rule.id, ...place, ...most, timeoutSeconds }, input, signal),
    };
  });
}

/** Why a listed plugin is not opened, and what to do; of those beside it, which are not trusted either. */
export function refusalOf(plugin: FoundPlugin, all: readonly FoundPlugin[] = [plugin]): WritError {
  const { kind, place, digest } = plugin.listed;
  const expected = `sha256:${digest}`;
  if (plugin.status === 'missing')
    return new WritError('PLUGIN_MISSING', {
      message:
        kind === 'path'
          ? `the plugin \`${place}\` is not in the tree of the policy commit`
          : `the plugin \`${place}\` with digest \`${expected}\` is not on this machine`,
      detail: { plugin: place, expected },
      hints: [
        kind === 'path'
          ? 'commit it, or remove it from `[[plugins]]`'
          : 'download it, then `writ plugin add FILE.tgz`',
      ],
    });
  if (plugin.status === 'changed') {
    const found = `sha256:${plugin.foundDigest}`;
    if (kind === 'package')
      return new WritError('PLUGIN_CHANGED', {
        message: `the plugin \`${place}\` on this machine was changed: expected \`${expected}\`, found \`${found}\``,
        detail: { plugin: place, expected, found },
        hints: ['download it again, then `writ plugin add FILE.tgz`'],
      });
    return new WritError('PLUGIN_CHANGED', {
      message: `the plugin \`${place}\` differs from the digest in \`.writ/config.toml\` at the policy commit: expected \`${expected}\`, found \`${found}\``,
      detail: { plugin: place, expected, found },
      hints: [
        `read what changed, then pin it: \`digest = "${found}"\``,
        `and trust it: \`writ plugin trust ${found}\``,
      ],
    });
  }
  const untrusted = all.flatMap((one) => (one.status === 'untrusted' ? [one] : []));
  const digests = untrusted.map(({ listed }) => `sha256:${listed.digest}`);
  const others = untrusted.filter((one) => one !== plugin).map(({ manifest }) => `\`${manifest.name}\``);
  const more = others.length === 0 ? '' : `; nor are ${others.join(', ')}`;
  return new WritError('PLUGIN_UNTRUSTED', {
    message: `the plugin \`${place}\` (\`${plugin.manifest.name}\` ${plugin.manifest.version}) is not trusted by you: its digest is \`${expected}\`${more}`,
    detail: {
      plugin: plugin.manifest.name,
      place,
      found: expected,
      ...(others.length === 0
        ? {}
        : {
            untrusted: untrusted.map(({ manifest }, at) => ({ plugin: manifest.name, found: digests[at] })),
          }),
    },
    hints: [
      ...digests.map((digest) => `read it, then: \`writ plugin trust ${digest}\``),
      `or for one run: \`${digests.map((digest) => `--plugin ${digest}`).join(' ')}\``,
    ],
  });
}

/** Names that are given away, by the field of a manifest that would bring such a one. */
type TakenNames = { readonly [F in PartField | 'rules']?: readonly string[] };

/**
 * Throws SLOT_DUPLICATE, which names both owners, if two plugin parts have the same name, or one has that of a
 * built-in part of its kind. Findings of a stage check use its name as the rule.
 */
export function requireOwnNames(manifests: readonly PluginManifest[], taken: TakenNames): void {
  const owners = new Map<string, Brought>();
  for (const one of manifests.flatMap(broughtBy)) {
    const { plugin, kind, field, name } = one;
    const key = `${kind === 'stage-check' ? 'rule' : kind} ${name}`;
    const other = owners.get(key);
    const isBuiltIn = taken[field]?.includes(name) === true;
    if (isBuiltIn || other !== undefined) {
      const owner = isBuiltIn
        ? 'one that is built in'
        : `the ${other?.kind} \`${name}\` of plugin \`${other?.plugin}\``;
      throw new WritError('SLOT_DUPLICATE', {
        message: `the ${kind} \`${name}\` of plugin \`${plugin}\` bears the name of ${owner}`,
        detail: { slot: kind, name, plugins: isBuiltIn ? [plugin] : [other?.plugin, plugin] },
        hints: [
          isBuiltIn
            ? 'nothing that is built in is replaced: the plugin needs another name for it'
            : 'list one of the two in `[[plugins]]`',
        ],
      });
    }
    owners.set(key, one);
  }
}

interface Brought {
  readonly plugin: string;
  readonly kind: PartKind | 'rule';
  readonly field: PartField | 'rules';
  readonly name: string;
}

function broughtBy(manifest: PluginManifest): readonly Brought[] {
  const plugin = manifest.name;
  return [
    ...manifest.rules.map(({ id }): Brought => ({ plugin, kind: 'rule', field: 'rules', name: id })),
    ...partKindNames.flatMap((kind) => {
      const field = partFields[kind];
      return manifest[field].map(({ name }): Brought => ({ plugin, kind, field, name }));
    }),
  ];
}
