/* Which plans belong to the records of runs: they move together. */
import { isWritError } from '../../core/base/errors.ts';
import { parseObject } from '../../store/stored-object.ts';
import type { GitDirectory } from '../../workspace/git/git.ts';
import { readSmall } from '../../workspace/git/read-each.ts';
import { encodeId } from '../../workspace/git/ref-name.ts';
import type { StoredRef } from './stored-ref.ts';
import { walkTrees } from './walk-trees.ts';

/** A plan is a few kilobytes; what is larger is read as none. */
const maxPlanBytes = 4 * 1024 * 1024;
const ofPlan = /^(?:plans\/\d+\/)?plan\.json$/;

/** The refs of all plans in these records, each with its record. A plan that cannot be read is none. */
export async function plansOfRuns<Run extends Pick<StoredRef, 'object' | 'prefix'>>(
  place: GitDirectory,
  runs: readonly Run[],
): Promise<ReadonlyMap<string, Run>> {
  const objects = [...new Set(runs.map(({ object }) => object))];
  const walked = await walkTrees(place, objects, { broken: () => {} });
  const blobs = new Map<string, Run>();
  for (const run of runs)
    for (const [path, blob] of walked.get(run.object)?.files ?? [])
      if (ofPlan.test(path)) blobs.set(blob, run);
  const found = new Map<string, Run>();
  for (const [id, bytes] of await readSmall(place, blobs.keys(), maxPlanBytes)) {
    const run = blobs.get(id);
    const plan = planOf(bytes);
    if (run && plan !== undefined) found.set(`${run.prefix}/plans/${encodeId(plan)}`, run);
  }
  return found;
}

function planOf(bytes: Buffer): string | undefined {
  try {
    return parseObject('plan', bytes).object_id;
  } catch (fault) {
    if (isWritError(fault, 'OBJECT_CORRUPT')) return undefined;
    throw fault;
  }
}
