import { WritError } from '../../../core/base/errors.ts';
import type { PluginAccess } from '../plugin-access.ts';
import type { PluginManifest } from '../plugin-manifest.ts';

/**
 * Every secret that a plugin declares is to be had, or PLUGIN_SECRET_MISSING names plugin, secrets and the ways to give
 * them; the user is told where each was found. Not the keys of its providers, of which one will do: whoever reaches the
 * model asks for it.
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
      message: `plugin \`${plugin}\` is handed ${missing.map((name) => `\`${name}\``).join(', ')}, and ${missing.length === 1 ? 'that is' : 'those are'} nowhere to be found`,
      detail: { plugin, secrets: missing },
      hints: [
        `keep it: \`writ vault set ${first}\`, with \`--global\` for every repository of yours`,
        `or set \`${first}\` in the environment, or in the file of \`--env-file\``,
      ],
    });
  for (const line of lines) told?.(line);
}
