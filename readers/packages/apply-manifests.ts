/* The packages of a tree: those of its lockfiles, with what their manifests declare. */
import { isDependencyFile } from './file-kind.ts';
import { purlOf } from './lock-builder.ts';
import type { LockedPackage, PackageSet } from './locked-package.ts';
import { LocksOf } from './lockfile-drift.ts';
import { readDependencies } from './read-dependencies.ts';
import { type DeclaredDependency, directoryOf, type FileReading, stated } from './reading.ts';

export type { DependencyProblem, Ecosystem, LockedPackage, PackageSet } from './locked-package.ts';
export { isDependencyFile };

/**
 * Packages out of manifests and lockfiles by repository path; files of other kinds are passed over, except those that a
 * requirements file includes. A manifest's dependency comes on its own only where no lockfile of the set holds it.
 * Never throws: what is malformed, too large or of a kind that cannot be read is a problem.
 */
export function readPackageSet(files: ReadonlyMap<string, Uint8Array>): PackageSet {
  const { readings, problems, notes } = readDependencies(files);
  return { packages: mergeByPurl(applyManifests(readings)), problems, notes };
}

const scopes: readonly LockedPackage['scope'][] = ['runtime', 'optional', 'development', 'unknown'];

/** One package for each purl and file, sorted: lists joined, the strongest scope, direct where any is. */
function mergeByPurl(packages: readonly LockedPackage[]): readonly LockedPackage[] {
  const groups = Map.groupBy(packages, (one) => `${one.ecosystem}\0${one.purl}\0${one.declaredIn}`);
  return [...groups]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .flatMap(([, [first, ...others]]) =>
      first && others.length > 0 ? merged(first, others) : (first ?? []),
    );
}

function merged(first: LockedPackage, others: readonly LockedPackage[]): LockedPackage {
  const same = [first, ...others];
  const license = same.find((one) => one.license)?.license;
  const integrity = same.find((one) => one.integrity)?.integrity;
  return {
    ...first,
    direct: same.some(({ direct }) => direct),
    scope: scopes.find((scope) => same.some((one) => one.scope === scope)) ?? 'unknown',
    dependsOn: [...new Set(same.flatMap(({ dependsOn }) => dependsOn))].sort(),
    ...(license ? { license } : {}),
    ...(integrity ? { integrity } : {}),
  };
}

type Scope = LockedPackage['scope'];
type Marked = { -readonly [Key in keyof LockedPackage]: LockedPackage[Key] };

/**
 * Merges the packages of all readings. Manifests decide which locked packages are direct, and their scope, unless the
 * lockfile states it. Without a manifest, a package that no other package requires is direct. A dependency that is in
 * no lockfile is added with its requirement. Vendored metadata fills in licenses.
 */
export function applyManifests(readings: readonly FileReading[]): readonly LockedPackage[] {
  const locks = new LocksOf(readings);
  const licenses = licensesOf(readings);
  const hashes = new Map(
    readings.flatMap(({ path, hashes: found }) =>
      [...(found ?? [])].map(([key, value]) => [`${directoryOf(path)} ${key}`, value] as const),
    ),
  );
  const complete = new Set(readings.flatMap(({ path, listsAll }) => (listsAll ? directoryOf(path) : [])));
  const asked = new Map<FileReading, DeclaredDependency[]>();
  for (const manifest of readings) {
    if (manifest.kind.role !== 'manifest') continue;
    for (const lock of locks.nearest(manifest))
      asked.set(lock, [...(asked.get(lock) ?? []), ...manifest.declared]);
  }
  const packages: Marked[] = [];
  const namesBy = new Map<string, ReadonlySet<string>>();
  const holds = ({ path, locked }: FileReading, name: string): boolean => {
    const names = namesBy.get(path) ?? new Set(locked.map((one) => one.name));
    namesBy.set(path, names);
    return names.has(name);
  };
  for (const reading of readings) {
    if (reading.kind.id === 'go.sum' && complete.has(directoryOf(reading.path))) continue;
    const copies = reading.locked.map((one): Marked => ({ ...one }));
    if (reading.kind.role === 'lockfile' && reading.kind.id !== 'go.sum')
      markDirect(copies, reading, asked.get(reading) ?? []);
    for (const copy of copies) packages.push(copy);
  }
  for (const manifest of readings) {
    const governing = locks.nearest(manifest);
    for (const one of manifest.declared) {
      if (one.field === 'constraint' || (one.isOverride && one.source === 'registry')) continue;
      if (one.source === 'path' && !one.origin?.startsWith('../')) continue;
      if (governing.some((lock) => holds(lock, one.name))) continue;
      packages.push(unlocked(one, versionsBy(readings, one)));
    }
  }
  for (const one of packages) {
    const [key, place] = [`${one.ecosystem} ${one.name}`, directoryOf(one.declaredIn)];
    const license = licenses.get(`${key}@${one.version}`) ?? licenses.get(key);
    const hash = hashes.get(`${place} ${one.name}@${one.version}`);
    if (license && !one.license) one.license = license;
    if (hash && !one.integrity) one.integrity = hash;
  }
  return packages;
}

/** A constraint that fixes one version fixes it for every requirements file. */
function versionsBy(readings: readonly FileReading[], one: DeclaredDependency): string {
  if (one.ecosystem !== 'pypi' || one.version !== undefined) return one.version ?? '';
  for (const { kind, declared } of readings) {
    if (kind.id !== 'constraints.txt') continue;
    const fixed = declared.find(({ name, version }) => name === one.name && version !== undefined);
    if (fixed?.version !== undefined) return fixed.version;
  }
  return '';
}

function unlocked(one: DeclaredDependency, version: string): Marked {
  const { ecosystem, name, scope, source, origin, declaredIn, line, via } = one;
  const purl = purlOf({ name, version, source, origin }, ecosystem);
  const requirement = version === '' ? one.requirement || 'any version' : undefined;
  const direct = via === undefined || via.includes('-r');
  const found = { ecosystem, name, version, purl, scope, source, origin, requirement, declaredIn, line };
  return { direct, dependsOn: [], ...stated(found) };
}

function licensesOf(readings: readonly FileReading[]): ReadonlyMap<string, string> {
  const licenses = new Map<string, string>();
  for (const { kind, licenses: stated } of readings)
    for (const [key, license] of stated ?? []) licenses.set(`${kind.ecosystem} ${key}`, license);
  return licenses;
}

function markDirect(
  packages: readonly Marked[],
  lock: FileReading,
  asked: readonly DeclaredDependency[],
): void {
  const known = new Map<string, Scope>();
  for (const { name, scope, isOverride } of asked) {
    if (isOverride) continue;
    const before = known.get(name);
    if (before === undefined || scopes.indexOf(scope) < scopes.indexOf(before)) known.set(name, scope);
  }
  if (!lock.knowsDirect) {
    const wanted = new Set<string>();
    if (asked.length === 0)
      for (const { dependsOn } of packages) for (const purl of dependsOn) wanted.add(purl);
    for (const one of packages) one.direct = asked.length > 0 ? known.has(one.name) : !wanted.has(one.purl);
  }
  spreadScopes(packages, known);
}

/** Packages without a scope of their own get the strongest of those that need them. */
function spreadScopes(packages: readonly Marked[], scopes: ReadonlyMap<string, Scope>): void {
  if (!packages.some(({ scope }) => scope === 'unknown') || !packages.some((one) => one.direct)) return;
  const byPurl = Map.groupBy(packages, ({ purl }) => purl);
  const open = new Set(packages.filter(({ scope }) => scope === 'unknown'));
  const spread = new Set<Marked>();
  for (const scope of ['runtime', 'optional', 'development'] as const) {
    const pending = packages.filter(
      (one) =>
        !spread.has(one) &&
        one.direct &&
        (one.scope === 'unknown' ? scopes.get(one.name) : one.scope) === scope,
    );
    for (let one = pending.pop(); one !== undefined; one = pending.pop()) {
      if (spread.has(one)) continue;
      spread.add(one);
      if (open.has(one)) one.scope = scope;
      for (const purl of one.dependsOn) pending.push(...(byPurl.get(purl) ?? []));
    }
  }
}
