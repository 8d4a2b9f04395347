import type { EffectiveIntentSpec } from '../../../core/contract/intentspec.gen.ts';
import type { PlanGround } from '../../plan/decompose.ts';
import { hintedFiles } from '../../plan/file-clusters.ts';
import { scopeRootOf } from '../../plan/scope.ts';
import type { GitDirectory } from '../../vcs/git.ts';
import { listNames, listTree } from '../../vcs/tree.ts';

/**
 * What planning needs to know of the base tree; files and imports are read only where the contract cuts the work by
 * them.
 */
export async function readPlanGround(
  objects: GitDirectory,
  tree: string,
  { intent, metadata, objmodel }: EffectiveIntentSpec,
): Promise<PlanGround> {
  const root = scopeRootOf(metadata.target.repo);
  const rootNames = await listNames(objects, tree, root);
  const hints = intent.touchHints.files;
  if (objmodel.planGeneration.decompositionMode !== 'per-file-cluster' || hints.length === 0)
    return { rootNames };
  const { readImportGraph } = await import('../../frame/import-graph.ts');
  const entries = await listTree(objects, tree);
  const tracked = entries.map(({ path }) => path);
  const around = hintedFiles(hints, tracked, root);
  const { graph } = await readImportGraph({ objects, entries, around });
  return { rootNames, tracked, imports: graph };
}
