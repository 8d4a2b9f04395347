import { asksFor, licenseOf, nameFromPath, type Table, tableOf, textOf } from './manifest.ts';
import { type LockedPackage, type NpmProject, resolveDependencies } from './npm-project.ts';

const maxPackages = 200_000;

/**
 * A project out of its `package.json` and its lockfile of version 1, 2 or 3. `manifestAt` answers the manifest of a local directory
 * relative to the project (version 1 does not repeat it). `undefined` for another version or more than 200,000 packages.
 */
export async function readLockfile(
  directory: string,
  manifest: Table,
  lock: Table,
  manifestAt: (path: string) => Promise<Table | undefined>,
): Promise<NpmProject | undefined> {
  const packages = new Map<string, LockedPackage>();
  const links = new Map<string, string>();
  if (lock.lockfileVersion === 2 || lock.lockfileVersion === 3)
    readPackages(tableOf(lock.packages), packages, links);
  else if (lock.lockfileVersion === 1)
    await readTree(tableOf(lock.dependencies), packages, links, manifestAt);
  else return undefined;
  if (packages.size > maxPackages) return undefined;
  packages.set('', rootPackage(directory, manifest, packages));
  return { directory, packages: resolveDependencies(packages, links) };
}

function rootPackage(
  directory: string,
  manifest: Table,
  packages: ReadonlyMap<string, LockedPackage>,
): LockedPackage {
  const members = [...packages.values()].filter(({ local }) => manifest.workspaces !== undefined && local);
  return {
    path: '',
    name: textOf(manifest.name, 214) ?? (directory === '' ? 'unnamed' : nameFromPath(directory)),
    ...optional('version', textOf(manifest.version, 256)),
    ...optional('license', licenseOf(manifest)),
    local: true,
    dev: false,
    optional: false,
    bundled: false,
    asksFor: [...new Set([...asksFor(manifest, true), ...members.map(({ name }) => name)])],
  };
}

/** Versions 2 and 3: one entry per place. */
function readPackages(
  entries: Table,
  packages: Map<string, LockedPackage>,
  links: Map<string, string>,
): void {
  for (const [path, value] of Object.entries(entries)) {
    const entry = tableOf(value);
    const resolved = textOf(entry.resolved);
    if (path === '') continue;
    if (entry.link === true) {
      if (resolved !== undefined) links.set(path, resolved);
      continue;
    }
    const local = !path.split('/').includes('node_modules');
    packages.set(path, {
      path,
      name: textOf(entry.name, 214) ?? nameFromPath(path),
      ...optional('version', textOf(entry.version, 256)),
      ...optional('license', licenseOf(entry)),
      ...optional('integrity', textOf(entry.integrity)),
      ...optional('resolved', resolved),
      local,
      dev: entry.dev === true,
      optional: entry.optional === true || entry.devOptional === true,
      bundled: entry.inBundle === true,
      asksFor: asksFor(entry, local),
    });
  }
}

/** Version 1: a tree of names; what a `version` says depends on where the package came from. */
async function readTree(
  root: Table,
  packages: Map<string, LockedPackage>,
  links: Map<string, string>,
  manifestAt: (path: string) => Promise<Table | undefined>,
): Promise<void> {
  const pending: { readonly below: string; readonly entries: Table }[] = [{ below: '', entries: root }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const [installedAs, value] of Object.entries(next.entries)) {
      if (packages.size > maxPackages) return;
      const entry = tableOf(value);
      const path = `${next.below}node_modules/${installedAs}`;
      const source = readSource(installedAs, textOf(entry.version) ?? '');
      const requires = Object.keys(tableOf(entry.requires));
      pending.push({ below: `${path}/`, entries: tableOf(entry.dependencies) });
      const flags = {
        dev: entry.dev === true,
        optional: entry.optional === true,
        bundled: entry.bundled === true,
      };
      if (source.directory !== undefined) {
        const manifest = (await manifestAt(source.directory)) ?? {};
        links.set(path, source.directory);
        packages.set(source.directory, {
          path: source.directory,
          name: textOf(manifest.name, 214) ?? source.name,
          ...optional('version', textOf(manifest.version, 256)),
          ...optional('license', licenseOf(manifest)),
          local: true,
          ...flags,
          asksFor: [...new Set([...requires, ...asksFor(manifest, false)])],
        });
        continue;
      }
      packages.set(path, {
        path,
        name: source.name,
        ...optional('version', source.version),
        ...optional('integrity', textOf(entry.integrity)),
        ...optional('resolved', textOf(entry.resolved) ?? source.resolved),
        local: false,
        ...flags,
        asksFor: requires,
      });
    }
  }
}

interface Source {
  readonly name: string;
  readonly version?: string;
  readonly resolved?: string;
  /** Set for a `file:` directory. */
  readonly directory?: string;
}

function readSource(installedAs: string, version: string): Source {
  const alias = /^npm:((?:@[^/@]+\/)?[^/@]+)@(.+)$/.exec(version);
  if (alias?.[1] !== undefined && alias[2] !== undefined) return { name: alias[1], version: alias[2] };
  if (version.startsWith('file:')) {
    const path = version.slice('file:'.length);
    return /\.(?:tgz|tar|tar\.gz)$/.test(path)
      ? { name: installedAs, resolved: version }
      : { name: installedAs, directory: path.replace(/^\.\//, '') };
  }
  if (/^[\w+.-]+:/.test(version)) return { name: installedAs, resolved: version };
  return version === '' ? { name: installedAs } : { name: installedAs, version };
}

function optional<Key extends string>(key: Key, value: string | undefined): { readonly [K in Key]?: string } {
  return (value === undefined ? {} : { [key]: value }) as { readonly [K in Key]?: string };
}
