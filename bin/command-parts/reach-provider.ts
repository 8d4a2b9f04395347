import type { Environment } from '../../attest/keys/user-config-dir.ts';
import type { ReachProvider } from '../../core/contract/provider.ts';
import { findBase } from '../../providers/find-base.ts';
import { findKey } from '../../providers/find-key.ts';

/** Reaches providers as an environment says. */
export function reachProvider(env: Environment): ReachProvider {
  return async (name, source, apiBase) => {
    const { base, isOtherBase } = findBase(source, apiBase, (variable) => env[variable]);
    const found = await findKey(name, source, base, { environment: (variable) => env[variable] });
    return { base, isOtherBase, ...(found === undefined ? {} : { key: found.value }) };
  };
}
