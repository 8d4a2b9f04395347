import { compileGlob } from '../../core/base/glob.ts';
import type { ArtifactRequest } from '../../core/contract/artifact-producer.ts';
import { fileKind } from '../../readers/packages/file-kind.ts';
import { isDependencyFile, type PackageSet, readPackageSet } from '../../readers/packages/package-set.ts';

/** Every package that the candidate's dependency files name, and the files. */
export interface CandidatePackages extends PackageSet {
  /** Sorted. */
  readonly files: readonly string[];
  readonly excluded: readonly string[];
}

const maxFiles = 5000;
const maxTotalBytes = 256 * 1024 * 1024;
const maxShown = 5;
const parallel = 8;

/**
 * Reads all of them but those that `exclude` (globs) names; or says why the set would not be complete: a partial list
 * passes for a whole one.
 */
export async function readCandidatePackages(
  request: Pick<ArtifactRequest, 'listCandidate' | 'readCandidate'>,
  exclude: readonly string[],
): Promise<CandidatePackages | { readonly unmade: string }> {
  const globs = exclude.map(compileGlob);
  const listed = (await request.listCandidate()).filter((path) => !globs.some((glob) => glob.matches(path)));
  const found = listed.filter(isDependencyFile).sort();
  // A requirements file may include one of any name.
  const mayInclude = found.some((path) =>
    ['requirements.txt', 'setup.cfg'].includes(fileKind(path)?.id ?? ''),
  );
  const others = mayInclude
    ? listed.filter((path) => /\.(?:txt|in)$/.test(path) && !isDependencyFile(path))
    : [];
  const paths = [...found, ...others.slice(0, maxFiles)];
  if (found.length > maxFiles) return { unmade: `the candidate has more than ${maxFiles} dependency files` };
  const files = new Map<string, Uint8Array>();
  let total = 0;
  for (let at = 0; at < paths.length; at += parallel) {
    const chunk = paths.slice(at, at + parallel);
    const contents = await Promise.all(chunk.map((path) => request.readCandidate(path)));
    for (const [index, bytes] of contents.entries()) {
      const path = chunk[index];
      if (bytes === undefined || path === undefined) continue;
      total += bytes.length;
      files.set(path, bytes);
    }
    if (total > maxTotalBytes) return { unmade: `dependency files hold more than ${maxTotalBytes} bytes` };
  }
  const set = readPackageSet(files);
  if (set.problems.length > 0) return { unmade: inWords(set.problems) };
  return { ...set, files: found, excluded: exclude };
}

function inWords(problems: PackageSet['problems']): string {
  const shown = problems.slice(0, maxShown).map(({ path, reason }) => `\`${path}\`: ${reason}`);
  const more = problems.length > maxShown ? `; and ${problems.length - maxShown} more` : '';
  return `not every dependency can be read: ${shown.join('; ')}${more}`;
}
