import { isWritError } from '../../../core/base/errors.ts';
import type { RunView } from '../../../core/interfaces/run-view.ts';
import { readRun } from '../../../engine/record/read-run.ts';
import { findRun } from '../../../store/record/find-run.ts';
import type { RunStore } from '../../../store/stores.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import type { TurnScope } from '../turn-scope.ts';

/** A run as it stands, and where its record is; `undefined` where it was never written down. */
export async function findRunOf(
  { setting }: Pick<TurnScope, 'setting'>,
  wanted: string,
): Promise<{ readonly view: RunView; readonly store: RunStore } | undefined> {
  const repository = await openRepository(setting.repositoryPath);
  try {
    const { store, runId } = await findRun(setting.engine.slots.store, repository, setting.clock, wanted);
    return { view: await readRun(repository, store, runId), store };
  } catch (fault) {
    if (isWritError(fault, 'RUN_NOT_FOUND')) return undefined;
    throw fault;
  }
}
