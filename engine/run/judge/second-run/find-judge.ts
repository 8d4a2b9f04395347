import type { EffectiveIntentSpec } from '../../../../core/contract/intentspec.gen.ts';
import type { JudgeReach } from '../../../../core/contract/judge-reach.ts';
import { type LinkedEntry, readLinks } from '../../../../readers/judges/tree.ts';
import { readBlobs } from '../../../vcs/blobs.ts';
import type { GitDirectory } from '../../../vcs/git.ts';
import { listTree } from '../../../vcs/tree.ts';
import { Following } from '../reach/following.ts';

/** What the checks of a contract execute to judge, followed through the tree of the base. */
export async function findJudge(
  objects: GitDirectory,
  baseTree: string,
  spec: EffectiveIntentSpec,
): Promise<JudgeReach> {
  const checks = Object.values(spec.acceptance.verificationPlan).flat();
  if (!checks.some(({ command = '' }) => command !== '')) return nothing;
  const entries = await listTree(objects, baseTree);
  const files = entries.filter(({ mode }) => mode.startsWith('1') && !mode.startsWith('16'));
  return followChecks(checks, files, (paths) => readBlobs(objects, baseTree, paths));
}

const nothing: JudgeReach = { files: [], scripts: {}, programs: [], gaps: [] };

/**
 * Follows the commands of checks through a tree: scripts that they name, scripts of manifests with their hooks,
 * recipes, and what these call and import. At most 500 files of 1 MiB, six hops; what is left out is told.
 */
export async function followChecks(
  checks: readonly { readonly id: string; readonly command?: string }[],
  entries: readonly LinkedEntry[],
  read: (paths: readonly string[]) => Promise<ReadonlyMap<string, Buffer>>,
): Promise<JudgeReach> {
  const following = new Following(entries, await readLinks(entries, read));
  for (const { id, command = '' } of checks) {
    following.begin(id);
    following.text(command, '', `the command of check \`${id}\``, 0);
    // What runs says which configuration is read, and that may say what runs.
    do
      for (let wanted = following.next(); wanted.length > 0; wanted = following.next()) {
        const bytes = await read(wanted.map(({ path }) => path));
        for (const visit of wanted) following.read(visit, bytes.get(visit.path));
      }
    while (following.configure());
  }
  return following.reach();
}
