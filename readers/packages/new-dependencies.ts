/* Finds the dependencies that a change adds. */
import { type Ecosystem, type LockedPackage, repositoryKey } from './locked-package.ts';
import { type DeclaredDependency, type FileReading, stated } from './reading.ts';

export interface NewDependency {
  readonly ecosystem: Ecosystem;
  readonly name: string;
  /**
   * `unrequested`: in a lockfile in which no package requires it. `moved`: known, and now fetched from a host that no
   * lockfile named.
   */
  readonly relation: 'direct' | 'transitive' | 'unrequested' | 'moved';
  /** Names of packages that require it, at most three. */
  readonly through: readonly string[];
  readonly path: string;
  readonly line?: number;
  readonly version?: string;
  readonly requirement?: string;
  readonly field?: string;
  readonly source?: LockedPackage['source'];
  readonly origin?: string;
  /** What the manifest calls it, where that is another name. */
  readonly alias?: string;
}

/**
 * Returns the new dependencies. New is a name that the base's manifests and lockfiles lack in that ecosystem. New is
 * also a known name from another source (git, URL, path, another host). Another version, another copy, and a move
 * between fields or files are not new. A directory of the repository is new only if it replaces a known package.
 * Direct ones come first; each is reported once.
 */
export function newDependencies(
  base: readonly FileReading[],
  candidate: readonly FileReading[],
): readonly NewDependency[] {
  const known = knownIn(base);
  const seen = new Set<string>();
  const news: NewDependency[] = [];
  for (const { declared } of candidate) {
    for (const one of declared) {
      if (one.field === 'constraint' && one.source === 'registry') continue;
      const id = identityOf(one);
      if (known.ids.has(id) || seen.has(id) || isPartOfRepository(one, known)) continue;
      seen.add(id);
      // A git or URL source is locked under its resolved address: report it once.
      if (one.source !== undefined && one.source !== 'registry')
        seen.add(`elsewhere ${one.ecosystem} ${one.name}`);
      news.push(fromManifest(one));
    }
  }
  const asking = askersIn(candidate);
  for (const reading of candidate) {
    for (const one of reading.locked) {
      const id = identityOf(one);
      if (!known.ids.has(id)) {
        const isElsewhere = one.source !== undefined && one.source !== 'registry';
        if (seen.has(id) || isPartOfRepository(one, known)) continue;
        if (isElsewhere && seen.has(`elsewhere ${one.ecosystem} ${one.name}`)) continue;
        seen.add(id);
        news.push(fromLock(one, reading, asking));
      } else if (isMoved(one, known) && !seen.has(`host ${one.ecosystem} ${one.origin}`)) {
        seen.add(`host ${one.ecosystem} ${one.origin}`);
        news.push({ ...fromLock(one, reading, asking), relation: 'moved' });
      }
    }
  }
  return news;
}

interface Known {
  readonly ids: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
  /** Hosts of registries that lockfiles name, by ecosystem. */
  readonly hosts: ReadonlyMap<Ecosystem, ReadonlySet<string>>;
  /** Packages of a registry that a lockfile holds without saying which. */
  readonly unplaced: ReadonlySet<string>;
}

function knownIn(readings: readonly FileReading[]): Known {
  const ids = new Set<string>();
  const names = new Set<string>();
  const hosts = new Map<Ecosystem, Set<string>>();
  const unplaced = new Set<string>();
  for (const { declared, locked } of readings) {
    for (const one of [declared, locked].flat()) {
      if ('field' in one && one.field === 'constraint') continue;
      ids.add(identityOf(one));
      names.add(`${one.ecosystem} ${one.name}`);
    }
    for (const { ecosystem, name, source, origin } of locked) {
      if (source !== undefined && source !== 'registry') continue;
      if (origin === undefined) unplaced.add(`${ecosystem} ${name}`);
      else hosts.set(ecosystem, (hosts.get(ecosystem) ?? new Set()).add(origin));
    }
  }
  return { ids, names, hosts, unplaced };
}

/** Equal for equal packages whatever the version. */
export function identityOf(one: {
  readonly ecosystem: Ecosystem;
  readonly name: string;
  readonly source?: LockedPackage['source'];
  readonly origin?: string;
}): string {
  const { ecosystem, name, source, origin = '' } = one;
  if (source === undefined || source === 'registry') return `${ecosystem} ${name}`;
  if (source === 'git') return `git ${ecosystem} ${name} ${repositoryKey(origin)}`;
  return `${source} ${ecosystem} ${name} ${origin}`;
}

/**
 * Whether it is a directory inside the repository: its files are checked as part of it. No check reads an archive, so
 * an archive does not count as part of the repository.
 */
export function isOwnDirectory({
  source,
  origin = '',
}: Pick<DeclaredDependency | LockedPackage, 'source' | 'origin'>): boolean {
  if (source !== 'path') return false;
  const isOutside = origin.startsWith('../') || origin.startsWith('/') || /^(?:~|[A-Za-z]:)/.test(origin);
  return !isOutside && !/\.(?:tgz|tar|gz|zip|whl|jar|aar|gem|phar|bz2)$/i.test(origin);
}

/** A directory of the repository under a name that was not somebody else's. */
function isPartOfRepository(one: DeclaredDependency | LockedPackage, known: Known): boolean {
  return isOwnDirectory(one) && !known.names.has(`${one.ecosystem} ${one.name}`);
}

/** Where lockfiles leave the registry unsaid, it is the ecosystem's own. */
const usualHosts: ReadonlySet<string> = new Set(
  ['registry.npmjs.org', 'registry.yarnpkg.com', 'pypi.org', 'files.pythonhosted.org'].map(
    (host) => `https://${host}`,
  ),
);

function isMoved({ ecosystem, name, source, origin }: LockedPackage, known: Known): boolean {
  if (source !== 'registry' || origin === undefined) return false;
  const hosts = known.hosts.get(ecosystem);
  if (hosts?.has(origin)) return false;
  const wasUnplaced = known.unplaced.has(`${ecosystem} ${name}`);
  return wasUnplaced ? !usualHosts.has(origin) : hosts !== undefined;
}

function fromManifest(one: DeclaredDependency): NewDependency {
  const { ecosystem, name, key, field, requirement, source, origin, declaredIn, line, version, via } = one;
  const isTransitive = via !== undefined && !via.includes('-r');
  return stated({
    ecosystem,
    name,
    relation: isTransitive ? ('transitive' as const) : ('direct' as const),
    through: isTransitive ? via.slice(0, 3) : [],
    path: declaredIn,
    field,
    requirement,
    source: source ?? 'registry',
    line,
    version,
    origin,
    alias: key === name || key.toLowerCase() === name ? undefined : key,
  });
}

interface Askers {
  /** Names of the requiring packages, by file and purl of the required package. */
  readonly by: ReadonlyMap<string, readonly string[]>;
  /** Files that record which package requires which. */
  readonly files: ReadonlySet<string>;
  readonly directNames: ReadonlySet<string>;
}

function askersIn(readings: readonly FileReading[]): Askers {
  const by = new Map<string, string[]>();
  const files = new Set<string>();
  const directNames = new Set<string>();
  for (const { path, locked, declared, local } of readings) {
    for (const { ecosystem, name, key } of declared)
      directNames.add(`${ecosystem} ${name}`).add(`${ecosystem} ${key}`);
    if (local.size > 0) files.add(path);
    for (const { name, dependsOn } of locked) {
      if (dependsOn.length > 0) files.add(path);
      for (const purl of dependsOn) {
        const known = by.get(`${path} ${purl}`);
        if (known === undefined) by.set(`${path} ${purl}`, [name]);
        else if (known.length < 3) known.push(name);
      }
    }
  }
  return { by, files, directNames };
}

function fromLock(one: LockedPackage, reading: FileReading, asking: Askers): NewDependency {
  const { ecosystem, name, version, source, origin, declaredIn, line, purl, requirement } = one;
  const through = asking.by.get(`${declaredIn} ${purl}`) ?? [];
  const isDirect = one.direct || (!reading.knowsDirect && asking.directNames.has(`${ecosystem} ${name}`));
  const saysWho = asking.files.has(declaredIn) || hasGraph.has(reading.kind.id);
  const indirect = through.length > 0 || !saysWho ? ('transitive' as const) : ('unrequested' as const);
  return stated({
    ecosystem,
    name,
    relation: isDirect ? ('direct' as const) : indirect,
    through: isDirect ? [] : through,
    path: declaredIn,
    version,
    source: source ?? 'registry',
    origin,
    requirement: requirement || undefined,
    line,
  });
}

/** Lockfiles that record, for every package, which packages require it. */
const hasGraph: ReadonlySet<string> = new Set(
  (
    'package-lock.json pnpm-lock.yaml yarn.lock bun.lock Cargo.lock poetry.lock uv.lock pdm.lock ' +
    'Gemfile.lock composer.lock'
  ).split(' '),
);

/** An unchanged version with a content hash that is gone or different. */
export interface ChangedHash {
  readonly path: string;
  readonly line?: number;
  readonly name: string;
  readonly version: string;
  readonly is: 'gone' | 'another';
}

interface Held {
  readonly name: string;
  readonly version: string;
  readonly line?: number;
  /** Copies with and without a hash; a bundled copy has none. */
  hashed: number;
  bare: number;
  readonly values: Set<string>;
}

/**
 * Entries of the same file, package, source and version, base to candidate. A stronger algorithm, and more files, are
 * no change.
 */
export function changedHashes(
  base: readonly FileReading[],
  candidate: readonly FileReading[],
): readonly ChangedHash[] {
  const before = new Map(base.map((reading) => [reading.path, reading]));
  return candidate.flatMap((reading): readonly ChangedHash[] => {
    const old = before.get(reading.path);
    // Entries missing from a broken file are unknown, not removed.
    if (old === undefined || old === reading || reading.problems.length > 0) return [];
    const held = hashesOf(old);
    return [...hashesOf(reading)].flatMap(([key, { name, version, line, hashed, bare, values }]) => {
      const was = held.get(key);
      if (was === undefined || was.hashed === 0) return [];
      const isGone = hashed < was.hashed && bare > was.bare;
      const isAnother = [...values].some((value) => isOther(value, was.values));
      if (!isGone && !isAnother) return [];
      const is = isGone ? ('gone' as const) : ('another' as const);
      return [stated({ path: reading.path, name, version, is, line })];
    });
  });
}

function hashesOf({ locked, declared }: FileReading): ReadonlyMap<string, Held> {
  const held = new Map<string, Held>();
  for (const one of [...locked, ...declared]) {
    if (one.version === undefined || one.version === '') continue;
    const key = `${identityOf(one)} ${one.version}`;
    const { name, version, line, isHashed } = one;
    const same = held.get(key) ?? {
      name,
      version,
      hashed: 0,
      bare: 0,
      values: new Set(),
      ...(line === undefined ? {} : { line }),
    };
    if (isHashed) same.hashed += 1;
    else same.bare += 1;
    if ('integrity' in one && one.integrity)
      same.values.add(`${one.integrity.algorithm} ${one.integrity.value}`);
    held.set(key, same);
  }
  return held;
}

/** The same algorithm gave only other values. */
function isOther(value: string, before: ReadonlySet<string>): boolean {
  const algorithm = value.slice(0, value.indexOf(' ') + 1);
  return !before.has(value) && [...before].some((one) => one.startsWith(algorithm));
}
