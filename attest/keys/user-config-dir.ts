/* The user's own configuration: its directories and its file. */
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { readGuarded } from '../../core/base/files.ts';

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

/** The user's `config.toml`; `undefined` if there is none. KEY_INSECURE if somebody else could have written it. */
export async function readUserConfig(
  env: Environment,
): Promise<{ readonly path: string; readonly bytes: Uint8Array } | undefined> {
  const path = join(userConfigDir(env), 'config.toml');
  const text = await readGuarded(path, false);
  return text === undefined ? undefined : { path, bytes: Buffer.from(text) };
}
