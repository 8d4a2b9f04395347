/* Stores the context snapshot of an attempt. */
import { uuidV7From } from '../../core/base/ids.ts';
import type { DigestedThing } from '../../core/interfaces/sealing.ts';
import { schedulerOf } from '../../spec/facts.ts';
import { retainBlobs } from '../../store/retain-blobs.ts';
import { sealObject } from '../../store/stored-object.ts';
import { collectContext } from '../context/collect-context.ts';
import { openEvidence } from '../state/open-evidence.ts';
import { type OpenRun, policyOf } from '../state/open-run.ts';
import type { Steps } from '../state/record-collector.ts';

/** The context snapshot of an attempt, as its Run names it. */
export interface ContextSnapshot {
  readonly objectId: string;
  /** Of the stored object. */
  readonly sha256: string;
  readonly dependencies: readonly DigestedThing[];
}

/**
 * Stores the context snapshot of an attempt's base tree in the record; `undefined` if
 * `objmodel.runPolicy.snapshotOnRunStart` is off. Content that is in no tree is retained as
 * `objectStore.blobRetentionStrategy` requires.
 */
export async function writeSnapshot(
  run: OpenRun,
  steps: Steps,
  name: string,
  tree: string,
): Promise<ContextSnapshot | undefined> {
  const {
    identity: { contract, runId, startedAtMs },
    services: { engine, scratch },
  } = run;
  const spec = contract.effective;
  return steps.once('snapshot', async () => {
    const { snapshot, blobs, dependencies } = await collectContext({
      objects: scratch,
      tree,
      spec,
      strategy: await openEvidence(run),
      hooks: engine.hooks,
      runId,
      words: policyOf(run).words,
    });
    if (!snapshot) return undefined;
    const { blobRetentionStrategy, aiRefPrefix } = spec.objmodel.objectStore;
    if (blobs.length > 0)
      await retainBlobs(run.environment.repository, blobRetentionStrategy, runId, blobs, { aiRefPrefix });
    const { object, bytes, sha256 } = sealObject('context_snapshot', snapshot, {
      nowMs: await steps.once('snapshot-at', () => run.services.settings.clock.now()),
      objectId: uuidV7From(startedAtMs, `${runId}/${name}/snapshot`),
      createdBy: schedulerOf(spec),
    });
    await run.services.record.put([[`${name}/snapshot.json`, bytes]]);
    return { objectId: object.object_id, sha256, dependencies };
  });
}
