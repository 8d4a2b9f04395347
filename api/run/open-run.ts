import { systemClock } from '../../core/base/clock.ts';
import type { RunView } from '../../core/contract/run-view.ts';
import { readRun } from '../../engine/run/record/read-run.ts';
import { findRun } from '../../engine/store/record/find-run.ts';
import type { RunStore } from '../../engine/store/run-store.ts';
import { keepObjectReaders } from '../../engine/vcs/object-reader.ts';
import { openRepository, type Repository } from '../../engine/vcs/repository.ts';
import type { Place } from '../place.ts';

export interface OpenedRun {
  readonly repository: Repository;
  readonly store: RunStore;
  readonly view: RunView;
}

/** The run that a command line names. NOT_A_REPOSITORY, RUN_NOT_FOUND. */
export async function openRun(context: Place, wanted: string): Promise<OpenedRun> {
  await using readers = keepObjectReaders();
  const repository = readers.keep(await openRepository(context.repoPath ?? context.cwd));
  const { store, runId } = await findRun(context.stores, repository, systemClock, wanted);
  return { repository, store, view: await readRun(repository, store, runId) };
}
