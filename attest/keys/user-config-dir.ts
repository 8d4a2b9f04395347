/* The directories of the user's configuration and keys. */
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** Environment variables by name, as `process.env` holds them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** `writ` below XDG_CONFIG_HOME (where that is absolute), else `~/.config/writ`. */
export function userConfigDir(env: Environment): string {
  const given = env.XDG_CONFIG_HOME ?? '';
  return join(isAbsolute(given) ? given : join(homeOf(env), '.config'), 'writ');
}

/** HOME if it is an absolute path, else the home directory that the system reports. */
export function homeOf(env: Environment): string {
  const home = env.HOME ?? '';
  return isAbsolute(home) ? home : homedir();
}

/** Where this user's own keys are. */
export function userKeysDir(env: Environment): string {
  return join(userConfigDir(env), 'keys');
}
