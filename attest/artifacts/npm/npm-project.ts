/** One installed package, or the project itself (`path` is `''`). Paths are those of the lockfile: `node_modules/a`, `packages/b`. */
export interface NpmPackage {
  readonly path: string;
  /** The package's own name, also where it is installed under an alias. */
  readonly name: string;
  readonly version?: string;
  /** As the author wrote it; not necessarily SPDX. */
  readonly license?: string;
  /** Subresource integrity, possibly several digests. */
  readonly integrity?: string;
  readonly resolved?: string;
  /** Part of this repository: the project, a workspace, or a `file:` directory. */
  readonly local: boolean;
  readonly dev: boolean;
  readonly optional: boolean;
  readonly bundled: boolean;
  /** Paths of the packages that it gets when it asks for its dependencies; sorted, without duplicates. */
  readonly dependsOn: readonly string[];
}

/** Everything that one lockfile installs; sorted by path, the project first. */
export interface NpmProject {
  /** Repository-relative directory of the lockfile, `''` for the root. */
  readonly directory: string;
  readonly packages: readonly NpmPackage[];
}

/** A package before its dependencies are resolved to paths. */
export interface LockedPackage extends Omit<NpmPackage, 'dependsOn'> {
  /** Names as they are asked for: aliases where there are aliases. */
  readonly asksFor: readonly string[];
}

/**
 * Resolves names to paths as Node does: `node_modules` beside the asking package, then in each directory above it. Names that
 * nothing provides (optional or peer, not installed) are left out. `links` maps `node_modules/x` to a local package.
 */
export function resolveDependencies(
  packages: ReadonlyMap<string, LockedPackage>,
  links: ReadonlyMap<string, string>,
): readonly NpmPackage[] {
  const find = (from: string, name: string): string | undefined => {
    for (let directory: string | undefined = from; directory !== undefined; directory = parentOf(directory)) {
      const path = directory === '' ? `node_modules/${name}` : `${directory}/node_modules/${name}`;
      const target = links.get(path) ?? path;
      if (packages.has(target)) return target;
    }
    return undefined;
  };
  return [...packages.values()]
    .map(({ asksFor, ...rest }): NpmPackage => {
      const found = new Set<string>();
      for (const name of asksFor) {
        const path = find(rest.path, name);
        if (path !== undefined && path !== rest.path) found.add(path);
      }
      return { ...rest, dependsOn: [...found].sort() };
    })
    .sort((left, right) => (left.path < right.path ? -1 : 1));
}

function parentOf(directory: string): string | undefined {
  if (directory === '') return undefined;
  const slash = directory.lastIndexOf('/');
  return slash < 0 ? '' : directory.slice(0, slash);
}
