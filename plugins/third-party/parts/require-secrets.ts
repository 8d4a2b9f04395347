import { WritError } from '../../../core/base/errors.ts';
import type { PluginAccess } from '../plugin-access.ts';
import type { PluginManifest } from '../plugin-manifest.ts';

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
      message: `plugin \`${plugin}\` is handed ${missing.map((name) => `\`${name}\``).join(', ')}, and ${missing.length === 1 ? 'that is' : 'those are'} nowhere to be found`,
      detail: { plugin, secrets: missing },
      hints: [
        `keep it: \`writ vault set ${first}\`, with \`--global\` for every repository of yours`,
        `or set \`${first}\` in the environment, or in the file of \`--env-file\``,
      ],
    });
  for (const line of lines) told?.(line);
}
