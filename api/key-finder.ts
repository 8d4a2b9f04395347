import type { Environment } from '../attest/keys/user-config-dir.ts';
import type { KeyFinder } from '../core/contract/provider.ts';

/** Finds keys of providers in an environment. */
export function keyFinder(env: Environment): KeyFinder {
  return async (names) => {
    for (const name of names) {
      const value = env[name]?.trim();
      if (value !== undefined && value !== '') return { value, source: 'environment', name };
    }
    return undefined;
  };
}
