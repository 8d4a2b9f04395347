import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/**
 * `writ` below XDG_DATA_HOME (where that is absolute), else `~/.local/share/writ`: what a user keeps for all
 * repositories.
 */
function userDataDir(env: Readonly<Record<string, string | undefined>>): string {
  const given = env.XDG_DATA_HOME ?? '';
  if (isAbsolute(given)) return join(given, 'writ');
  const home = env.HOME ?? '';
  return join(isAbsolute(home) ? home : homedir(), '.local', 'share', 'writ');
}

/** Where this user's advisory database is. */
export function advisoryDir(env: Readonly<Record<string, string | undefined>>): string {
  return join(userDataDir(env), 'advisories');
}
