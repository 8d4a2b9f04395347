import type { Clock } from '../../core/base/clock.ts';
import { patchContentPath } from '../../engine/record/settle-run.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import { findRun } from '../../store/record/find-run.ts';
import { openRepository } from '../../workspace/git/repository.ts';

/**
 * The patch that a run was judged with, as its record keeps it: masked where it was refused for a secret. `undefined`
 * where its content is not kept, by the contract's retention.
 */
export async function patchOfRun(
  engine: WritEngine,
  { repositoryPath, clock }: { readonly repositoryPath: string; readonly clock: Clock },
  runId: string,
): Promise<Buffer | undefined> {
  const repository = await openRepository(repositoryPath);
  const { store } = await findRun(engine.slots.store, repository, clock, runId);
  const { objects, refs } = store;
  return objects.read(refs.content(runId), patchContentPath);
}
