/* Finds runtimes that toolchain managers have installed. */
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { compareNumbers } from '../../readers/advisories/number-order.ts';
import { findVersion, type Version } from '../../spec/language-runtime.ts';
import { isInside } from '../process/find-program.ts';

/** One runtime that a toolchain manager has installed. */
export interface Toolchain {
  /** `mise`, `nvm` … */
  readonly manager: string;
  /** Name of its directory: mostly the version. */
  readonly name: string;
  /** Parsed from the directory name. Absent for names such as `stable`: then the tool must be queried. */
  readonly version?: Version;
  /** Where its programs are, symlinks resolved. */
  readonly bin: string;
}

/** Where managers are found: the user's home, and the variables that move them elsewhere. */
export interface ToolchainPlace {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A manager: its root, and the places of each tool's versions below it. `*` is the one directory per version. */
interface Manager {
  readonly name: string;
  readonly variable?: string;
  readonly root: string;
  readonly places: Readonly<Record<string, readonly string[]>>;
}

const node = ['node', 'nodejs', 'npm'] as const;
const python = ['python', 'python3'] as const;
const rust = ['rust', 'rustc', 'cargo'] as const;
const java = ['java', 'jdk'] as const;

function each(
  names: readonly string[],
  ...places: readonly string[]
): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(names.map((name) => [name, places]));
}

/** By tool as mise and asdf call their plugins. */
const installs: Manager['places'] = {
  ...each(node, 'installs/node/*/bin', 'installs/nodejs/*/bin'),
  ...each(python, 'installs/python/*/bin'),
  ...each(java, 'installs/java/*/bin'),
  ...each(['go'], 'installs/go/*/bin', 'installs/golang/*/go/bin'),
  ...each(['ruby'], 'installs/ruby/*/bin'),
  ...each(['php'], 'installs/php/*/bin'),
  ...each(['perl'], 'installs/perl/*/bin'),
  ...each(['deno'], 'installs/deno/*/bin'),
  ...each(['bun'], 'installs/bun/*/bin'),
};

/** In the order in which they are looked at; of equal versions the first wins. */
const managers: readonly Manager[] = [
  { name: 'mise', variable: 'MISE_DATA_DIR', root: '.local/share/mise', places: installs },
  { name: 'asdf', variable: 'ASDF_DATA_DIR', root: '.asdf', places: installs },
  { name: 'nvm', variable: 'NVM_DIR', root: '.nvm', places: each(node, 'versions/node/*/bin') },
  {
    name: 'fnm',
    variable: 'FNM_DIR',
    root: '.local/share/fnm',
    places: each(node, 'node-versions/*/installation/bin'),
  },
  { name: 'pyenv', variable: 'PYENV_ROOT', root: '.pyenv', places: each(python, 'versions/*/bin') },
  { name: 'rbenv', variable: 'RBENV_ROOT', root: '.rbenv', places: each(['ruby'], 'versions/*/bin') },
  { name: 'rustup', variable: 'RUSTUP_HOME', root: '.rustup', places: each(rust, 'toolchains/*/bin') },
  { name: 'sdkman', variable: 'SDKMAN_DIR', root: '.sdkman', places: each(java, 'candidates/java/*/bin') },
];

/** `v22.1.0`, `3.12.1`, `temurin-21.0.2`; not `stable-x86_64-unknown-linux-gnu`. */
const saysVersion = /^(?:[a-z]{1,32}-)?v?\d/;

/** Directories of one manager's tool that are looked at. */
const maxVersions = 200;

/**
 * Returns the installed versions of a tool in toolchain managers, newest first, entries without a version last. None
 * of them is run. Directories that others may write, or that lead out of their manager's root, are omitted.
 */
export async function findToolchains(tool: string, place: ToolchainPlace): Promise<readonly Toolchain[]> {
  const found: Toolchain[] = [];
  for (const { name: manager, variable, root, places } of managers) {
    const given = variable === undefined ? undefined : place.env[variable];
    const top = await real(given && path.isAbsolute(given) ? given : path.join(place.home, root));
    if (top === undefined) continue;
    for (const pattern of Object.hasOwn(places, tool) ? (places[tool] ?? []) : []) {
      const [above = '', below = ''] = pattern.split('*');
      const names = await readdir(path.join(top, above)).catch(() => []);
      for (const name of names.sort().slice(0, maxVersions)) {
        const bin = await real(path.join(top, above, name, below));
        if (bin === undefined || !isInside(top, bin) || !(await isSafe(bin))) continue;
        const version = saysVersion.test(name) ? findVersion(name) : undefined;
        found.push({ manager, name, bin, ...(version ? { version } : {}) });
      }
    }
  }
  const unique = [...new Map(found.map((one) => [one.bin, one])).values()];
  return unique.sort((a, b) => compareNumbers(b.version?.numbers ?? [], a.version?.numbers ?? []));
}

async function real(file: string): Promise<string | undefined> {
  return realpath(file).catch(() => undefined);
}

/** Returns whether a directory and its parent belong to this user or root, and no one else may change them. */
async function isSafe(bin: string): Promise<boolean> {
  for (const directory of [bin, path.dirname(bin)]) {
    const facts = await stat(directory).catch(() => undefined);
    if (!facts?.isDirectory() || (facts.mode & 0o002) !== 0) return false;
    if (process.getuid !== undefined && ![0, process.getuid()].includes(facts.uid)) return false;
  }
  return (await lstat(bin)).isDirectory();
}
