import type { Clock } from '../../core/base/clock.ts';
import { isWritError } from '../../core/base/errors.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import type { Stores } from '../open-stores.ts';
import { findRun } from './find-run.ts';

/** Whether a word names one run, by its id or the beginning of it. */
export async function isRun(
  stores: Stores,
  repository: Repository,
  clock: Clock,
  word: string,
): Promise<boolean> {
  try {
    await findRun(stores, repository, clock, word);
    return true;
  } catch (fault) {
    if (isWritError(fault, 'RUN_NOT_FOUND')) return false;
    throw fault;
  }
}
