/* Collects the packages of all dependency files. */
import { applyManifests } from './apply-manifests.ts';
import { isDependencyFile } from './file-kind.ts';
import type { LockedPackage, PackageSet } from './locked-package.ts';
import { readDependencies } from './read-dependencies.ts';

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
  const sorted = [...packages].sort(byPlace);
  const merged: LockedPackage[] = [];
  for (let at = 0; at < sorted.length; ) {
    const first = sorted[at];
    if (first === undefined) break;
    let end = at + 1;
    while (end < sorted.length && byPlace(first, sorted[end] ?? first) === 0) end += 1;
    merged.push(end === at + 1 ? first : mergeAll(first, sorted.slice(at, end)));
    at = end;
  }
  return merged;
}

function byPlace(left: LockedPackage, right: LockedPackage): number {
  return (
    inOrder(left.ecosystem, right.ecosystem) ||
    inOrder(left.purl, right.purl) ||
    inOrder(left.declaredIn, right.declaredIn)
  );
}

function inOrder(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function mergeAll(first: LockedPackage, same: readonly LockedPackage[]): LockedPackage {
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
