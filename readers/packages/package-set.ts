import { applyManifests } from './apply-manifests.ts';
import { isDependencyFile } from './file-kind.ts';
import type { PackageSet } from './locked-package.ts';
import { mergeByPurl } from './merge-by-purl.ts';
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
