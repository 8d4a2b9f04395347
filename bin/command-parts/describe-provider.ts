import { plainHttpHost } from '../../core/base/service-url.ts';
import type { ProviderSource } from '../../core/contract/provider.ts';
import { findBase } from '../../providers/find-base.ts';
import { findKey } from '../../providers/find-key.ts';
import { keyPlaceNames } from '../../providers/key-places.ts';
import type { CommandContext } from './command.ts';
import { openVaults } from './open-vaults.ts';

/**
 * Where a provider would be asked and where its key is, never the key; what reaching it refuses is thrown
 * (PROVIDER_KEY_MISSING names the variable).
 */
export async function describeProvider(
  name: string,
  source: Pick<ProviderSource, 'keys' | 'keyless'> & Parameters<typeof findBase>[0],
  context: Pick<CommandContext, 'repoPath' | 'cwd' | 'env'>,
): Promise<string> {
  const variable = (one: string): string | undefined => context.env[one];
  const { base, from } = findBase(source, undefined, variable, 'any');
  const vaults = openVaults(context);
  const key = await findKey(name, source, base, {
    'repo-vault': (one) => vaults.find('repository', one),
    'global-vault': (one) => vaults.find('global', one),
    environment: variable,
  });
  const found = key === undefined ? 'needs no key' : `${key.name} of ${keyPlaceNames[key.source]}`;
  const clear = plainHttpHost(base) === undefined ? '' : ', over plain HTTP: it needs `[models] allow_http`';
  return `${found}; at ${base}${from === undefined ? '' : ` (${from})`}${clear}`;
}
