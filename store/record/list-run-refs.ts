import type { Repository } from '../../workspace/git/repository.ts';
import type { OpenStore } from '../open-stores.ts';
import { type FoundRecord, listRecordRefs } from './list-record-refs.ts';

/** A run that the repository keeps a record of. */
export type FoundRun = FoundRecord;

/** Every run in the repository's refs and in its stores beside git, newest first (run ids are time-ordered). */
export async function listRunRefs(
  repository: Repository,
  stores: readonly Pick<OpenStore, 'beside'>[],
): Promise<readonly FoundRun[]> {
  const found = await listRecordRefs(repository, stores, 'runs');
  return found.toSorted((a, b) => (a.id < b.id ? 1 : -1));
}
