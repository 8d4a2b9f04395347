import { join } from 'node:path';
import { type Environment, userConfigDir } from './user-config-dir.ts';

/** Where this user's own keys are. */
export function userKeysDir(env: Environment): string {
  return join(userConfigDir(env), 'keys');
}
