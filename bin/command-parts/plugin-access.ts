import { userPluginAccess } from '../../api/user-plugins.ts';
import type { PluginAccess } from '../../engine/plugin-trust/plugin-access.ts';
import { findSecret } from '../../providers/find-secret.ts';
import { keyPlaceNames } from '../../providers/key-places.ts';
import type { CommandContext } from './command.ts';
import type { Reaching } from './reach-provider.ts';

/**
 * What this user trusts and keeps, with what the command line trusts for once; secrets are found where keys of
 * providers are, and each that is needed is told with its place.
 */
export function openPluginAccess(
  { env, options, print }: Pick<CommandContext, 'env' | 'options' | 'print'>,
  { keys }: Pick<Reaching, 'keys'>,
): PluginAccess {
  return {
    ...userPluginAccess(env, options.values('plugin')),
    async secret(name) {
      const found = await findSecret([name], keys);
      return found === undefined ? undefined : { value: found.value, place: keyPlaceNames[found.source] };
    },
    told: (line) => print.note(line),
  };
}
