/* Decides which of the user's files a plugin may never read. */
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { WritError } from '../../core/base/errors.ts';

/** User directories with a `writ` directory of ours: the variable that names the parent, and its default. */
const userDirectories = {
  XDG_CONFIG_HOME: '.config',
  XDG_DATA_HOME: '.local/share',
  XDG_STATE_HOME: '.local/state',
  XDG_CACHE_HOME: '.cache',
} as const;

/** Below a home, folded: keys, vaults, what is trusted. */
const ownBelowHome = Object.values(userDirectories).map((directory) => `${directory}/writ`);

/** In a repository: its vault is there. */
const ownAnywhere = /(?:^|\/)(?:\.writ|\.git\/writ)(?:\/|$)/;

/** Whether a path below the home (without `~/`) leads by its name into what is writ's own, on any file system. */
export function isOwnPlace(path: string): boolean {
  const folded = path.normalize('NFKC').toLowerCase().split('/').filter(Boolean).join('/');
  return (
    ownAnywhere.test(folded) || ownBelowHome.some((own) => folded === own || folded.startsWith(`${own}/`))
  );
}

/**
 * Returns the real path of a user's file: every link before its last name is followed. Throws PLUGIN_FILE_REFUSED for
 * writ's own files, under any name. Returns `undefined` if its directory does not exist.
 */
export async function ownFilePlace(
  env: Readonly<Record<string, string | undefined>>,
  path: string,
): Promise<string | undefined> {
  const home = env.HOME ?? '';
  if (!isAbsolute(home)) return undefined;
  const below = path.replace(/^~\//, '');
  const place = join(home, below);
  const directory = await realpath(dirname(place)).catch(() => undefined);
  if (directory === undefined) return undefined;
  const found = join(directory, basename(place));
  const own = await identitiesOf(ownDirectories(env, home));
  const isOwn = async (): Promise<boolean> => {
    for (let one = directory; ; one = dirname(one)) {
      if ((await identitiesOf([one])).some((identity) => own.includes(identity))) return true;
      if (one === dirname(one)) return false;
    }
  };
  // Two names of one directory may differ in case, or be mounts; the file system identifies them as one.
  const names = await stat(found).then(
    ({ nlink }) => nlink,
    () => 1,
  );
  // A file with a second name may have it anywhere.
  if (names > 1 || isOwnPlace(below) || isOwnPlace(found.slice(1)) || (await isOwn()))
    throw new WritError('PLUGIN_FILE_REFUSED', {
      message:
        names > 1
          ? `\`${path}\` has ${names} names (hard links), and may be a key of writ: no plugin is handed it`
          : `\`${path}\` lies in a directory of writ itself, where keys and vaults are: no plugin is handed it`,
      detail: { path },
    });
  return found;
}

function ownDirectories(env: Readonly<Record<string, string | undefined>>, home: string): readonly string[] {
  return Object.entries(userDirectories).flatMap(([variable, usual]) => {
    const named = env[variable] ?? '';
    return [join(home, usual, 'writ'), ...(isAbsolute(named) ? [join(named, 'writ')] : [])];
  });
}

async function identitiesOf(directories: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    directories.map((one) => stat(one, { bigint: true }).catch(() => undefined)),
  );
  return found.flatMap((status) => (status === undefined ? [] : [`${status.dev}:${status.ino}`]));
}
