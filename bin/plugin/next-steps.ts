import type { PartKind } from '../../engine/plugin-trust/part-fields.ts';
import type { PluginManifest } from '../../engine/plugin-trust/plugin-manifest.ts';
import { partsOf } from './parts-of.ts';

/** What has to stand in `.writ/config.toml` before anybody asks a part; absent: nothing beside `[[plugins]]`. */
const sections: { readonly [K in PartKind]?: (name: string) => string } = {
  log: (name) => `\`[log]\`: \`plugin = "${name}"\` and \`vkey\`, its public key`,
  artifact: (name) => `\`[artifacts.NAME]\`: \`plugin = "${name}"\``,
  evidence: (name) => `\`[evidence]\`: \`plugins = ["${name}"]\``,
};

/** What names the parts of a plugin in the configuration, each as one step. */
export function configSteps(manifest: PluginManifest): readonly string[] {
  return partsOf(manifest).flatMap(({ kind, name }) => {
    const section = sections[kind]?.(name);
    return section === undefined ? [] : [`say in .writ/config.toml, ${section}`];
  });
}

/** What stays open of what a plugin brings. */
export function openEnds({ logs }: PluginManifest): readonly string[] {
  return logs.flatMap(({ name, consistency }) =>
    consistency
      ? []
      : [
          `know that the log \`${name}\` does not prove how it grew: it is held to the first checkpoint that was seen of it`,
        ],
  );
}

/** What each user does before a run asks it. */
export function userSteps({ needs, providers }: PluginManifest): readonly string[] {
  const keep = needs.secrets.map(
    (name) => `keep the secret: writ vault set ${name}, or set it in the environment`,
  );
  return [...keep, ...providers.map(({ name }) => `have it work: writ run SPEC --provider ${name}`)];
}
