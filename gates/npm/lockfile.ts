import { type DependencySource, dependencySource } from './dependency-source.ts';
import { entriesOf, isObject } from './read-json-object.ts';

/** One package of a package-lock.json; workspaces and links to them are left out. */
export interface LockedPackage {
  /** Key in the lockfile, e.g. `node_modules/a/node_modules/b`. */
  readonly location: string;
  /** Real package name: of an alias, what it stands for. */
  readonly name: string;
  readonly version: string;
  readonly source: DependencySource;
  /** Scheme and host that it is fetched from. */
  readonly origin?: string;
  /** As the lockfile states it; anything but a string is unknown. */
  readonly license?: unknown;
  /** The package that `resolved` names, where that is another one. */
  readonly resolvedAs?: string;
}

export interface Lockfile {
  readonly packages: readonly LockedPackage[];
  /** Names that the root or a workspace asks for itself; `undefined` where the lockfile does not say (version 1). */
  readonly direct: ReadonlySet<string> | undefined;
  /** Names that anything in the lockfile asks for. */
  readonly requested: ReadonlySet<string>;
  readonly faults: readonly string[];
}

const maxDepth = 100;
const requestFields = [
  'dependencies',
  'devDependencies',
  'optionalDependencies',
  'peerDependencies',
  'requires',
];

/** Reads lockfile versions 1, 2 and 3; version 2 says everything twice, and both tellings count. */
export function readLockfile(lock: Readonly<Record<string, unknown>>): Lockfile {
  const packages = new Map<string, LockedPackage>();
  const requested = new Set<string>();
  const faults: string[] = [];
  const direct = isObject(lock.packages) ? new Set<string>() : undefined;
  for (const [location, entry] of entriesOf(lock.packages)) {
    if (!isObject(entry)) {
      faults.push(`\`packages["${location}"]\` is not an object`);
      continue;
    }
    for (const field of requestFields) for (const [name] of entriesOf(entry[field])) requested.add(name);
    const at = location.lastIndexOf('node_modules/');
    if (at === -1) {
      for (const field of requestFields) for (const [name] of entriesOf(entry[field])) direct?.add(name);
    } else if (entry.link !== true) {
      const key = location.slice(at + 'node_modules/'.length);
      add(packages, location, typeof entry.name === 'string' ? entry.name : key, entry);
    }
  }
  readNested(lock.dependencies, '', packages, requested, faults, 0);
  if (!isObject(lock.packages) && !isObject(lock.dependencies) && lock.lockfileVersion === undefined) {
    faults.push('it has neither `packages` nor `dependencies`');
  }
  return { packages: [...packages.values()], direct, requested, faults };
}

function readNested(
  value: unknown,
  parent: string,
  packages: Map<string, LockedPackage>,
  requested: Set<string>,
  faults: string[],
  depth: number,
): void {
  if (depth > maxDepth) {
    faults.push(`\`dependencies\` is nested deeper than ${maxDepth}`);
    return;
  }
  for (const [key, entry] of entriesOf(value)) {
    if (!isObject(entry)) {
      faults.push(`\`dependencies["${key}"]\` is not an object`);
      continue;
    }
    const location = `${parent}node_modules/${key}`;
    for (const [name] of entriesOf(entry.requires)) requested.add(name);
    const source = dependencySource(key, String(entry.version ?? ''));
    if (source.kind !== 'local' && !packages.has(location))
      add(packages, location, source.name ?? key, entry);
    readNested(entry.dependencies, `${location}/`, packages, requested, faults, depth + 1);
  }
}

function add(
  packages: Map<string, LockedPackage>,
  location: string,
  name: string,
  entry: Readonly<Record<string, unknown>>,
): void {
  const written = typeof entry.version === 'string' ? entry.version : '';
  const resolved = typeof entry.resolved === 'string' ? entry.resolved : undefined;
  const version = /^npm:.[^@]*@(.*)$/.exec(written)?.[1] ?? written;
  const source = sourceOf(name, written, resolved);
  const url = resolved === undefined ? undefined : toUrl(resolved);
  const resolvedAs = url && source.kind === 'registry' ? otherPackage(url, name) : undefined;
  packages.set(location, {
    location,
    name,
    version,
    source,
    ...(url ? { origin: `${url.protocol}//${url.host}` } : {}),
    ...(entry.license === undefined ? {} : { license: entry.license }),
    ...(resolvedAs === undefined ? {} : { resolvedAs }),
  });
}

function sourceOf(name: string, version: string, resolved: string | undefined): DependencySource {
  for (const text of [resolved, version]) {
    if (text === undefined) continue;
    if (/^git(?:\+\w+)?:|^git@|^ssh:/.test(text)) return dependencySource(name, text);
    if (/^file:/.test(text)) return { kind: 'tarball', id: `tarball:${text}` };
  }
  const url = resolved === undefined ? undefined : toUrl(resolved);
  if (url && /^https?:$/.test(url.protocol) && /^https?:/i.test(version))
    return { kind: 'url', id: `url:${resolved}` };
  return { kind: 'registry', id: `npm:${name}`, name };
}

/** Registries serve `<base>/<name>/-/<file>`; what stands before `/-/` is the package that is really fetched. */
function otherPackage(url: URL, name: string): string | undefined {
  let path: string;
  try {
    path = decodeURIComponent(url.pathname);
  } catch {
    return url.pathname;
  }
  const at = path.indexOf('/-/');
  if (at === -1) return path.includes(`/${name}/`) || path.includes(`/${name}-`) ? undefined : path.slice(1);
  const before = path.slice(0, at);
  if (!before.endsWith(`/${name}`))
    return before
      .split('/')
      .slice(before.split('/').at(-2)?.startsWith('@') ? -2 : -1)
      .join('/');
  // `/lodash` must not be the end of `/@types/lodash`.
  const outer =
    before
      .slice(0, -name.length - 1)
      .split('/')
      .at(-1) ?? '';
  if (!name.startsWith('@') && outer.startsWith('@')) return `${outer}/${name}`;
  const file = path.slice(at + 3);
  const bare = name.slice(name.indexOf('/') + 1);
  return file.startsWith(`${bare}-`) || file.startsWith(`${name}-`) ? undefined : file;
}

function toUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}
