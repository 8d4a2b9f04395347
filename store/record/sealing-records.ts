import { isWritError } from '../../core/base/errors.ts';
import type { RunStore } from '../run-store.ts';
import { parseObject } from '../stored-object.ts';
import { sealPaths } from './seal-paths.ts';

/** A record of a run that sealed a commit; `store` reads it as the record of the run. */
export interface SealingRecord {
  readonly store: RunStore;
  readonly commit: string;
  /** Full name of the branch that the commit was put on. */
  readonly target: string;
}

/**
 * The records of a run that sealed a commit: the one that holds, then those kept beside it. The commits of all of them
 * exist, whichever record holds here. A record that was rolled back, or that cannot be read, sealed none.
 */
export async function sealingRecords(store: RunStore, runId: string): Promise<readonly SealingRecord[]> {
  const beside = (await store.objects.refs(store.refs.fetched(runId))).map(({ ref }) => ref);
  const stores = beside
    .filter((ref) => ref.endsWith('-run'))
    .map((run): RunStore => {
      const content = run.replace(/run$/, 'content');
      const refs = { ...store.refs, run: () => run };
      return { ...store, refs: beside.includes(content) ? { ...refs, content: () => content } : refs };
    });
  const found: SealingRecord[] = [];
  for (const one of [store, ...stores]) {
    const sealed = await sealedBy(one, runId);
    if (sealed) found.push({ store: one, ...sealed });
  }
  return found;
}

async function sealedBy(
  { objects, refs }: RunStore,
  runId: string,
): Promise<Omit<SealingRecord, 'store'> | undefined> {
  try {
    const files = await objects.readMany(refs.run(runId), ['decision.json', sealPaths.rollback]);
    const decision = files.get('decision.json');
    if (decision === undefined || files.has(sealPaths.rollback)) return undefined;
    const { commit_sha: commit, target_ref: target } = parseObject('decision', decision);
    return commit === undefined || target === undefined ? undefined : { commit, target };
  } catch (fault) {
    if (isWritError(fault, 'OBJECT_CORRUPT')) return undefined;
    throw fault;
  }
}
