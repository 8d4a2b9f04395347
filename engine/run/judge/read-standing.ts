import type { PatchSet } from '../../../core/contract/patch-set.ts';
import { readBlobs } from '../../vcs/blobs.ts';
import type { GitDirectory } from '../../vcs/git.ts';

/** What every inline suppression of ours begins with. */
const marker = 'writ:allow-';
const maxBytes = 64 * 1024 * 1024;

/**
 * What stands at the policy commit of the changed files whose part of the diff holds an inline suppression, by path at
 * base: there alone it counts (4-resolutions, Inline suppressions). INPUT_TOO_LARGE.
 */
export async function readStanding(
  objects: GitDirectory,
  { diff, files }: Pick<PatchSet, 'diff' | 'files'>,
  policyTree: string,
): Promise<Readonly<Record<string, Uint8Array>>> {
  const bytes = Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength);
  const paths: string[] = [];
  let found = bytes.indexOf(marker);
  for (const { path, oldPath, start, end } of files) {
    if (found === -1) break;
    if (found >= end) continue;
    if (found < start) found = bytes.indexOf(marker, start);
    if (found === -1 || found >= end) continue;
    paths.push(oldPath ?? path);
    found = bytes.indexOf(marker, end);
  }
  return Object.fromEntries(await readBlobs(objects, policyTree, paths, maxBytes));
}
