/* A repository that is opened only if a verification needs it. */
import { systemClock } from '../../core/base/clock.ts';
import type { FindRun } from '../../store/record/list-records.ts';
import type { Place } from '../../store/stores.ts';
import type { KeptReaders } from '../../workspace/git/object-reader.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import type { VerifyServices } from './verify-bytes.ts';

/**
 * A repository that is opened on first use. A file target needs none, and opening one is most of the cost of
 * verifying a file.
 */
export interface LazyRepository extends VerifyServices, AsyncDisposable {
  /** Among the runs that it has at the first question. */
  readonly findRun: FindRun;
}

/** The repository of a place, bare or not; one git stays for its objects until this is disposed. */
export function lazyRepository({ stores, repoPath, cwd }: Place): LazyRepository {
  let opened: Promise<Repository> | undefined;
  let readers: KeptReaders | undefined;
  let finder: Promise<FindRun> | undefined;
  const open = (): Promise<Repository> => {
    opened ??= Promise.all([
      import('../../workspace/git/repository.ts'),
      import('../../workspace/git/object-reader.ts'),
    ]).then(async ([{ openRepository }, { keepObjectReaders }]) => {
      readers = keepObjectReaders();
      const repository = readers.keep(await openRepository(repoPath ?? cwd, { bare: true, onlyReads: true }));
      readers.start(repository);
      return repository;
    });
    return opened;
  };
  return {
    open,
    findCommit: async (ids) => (await import('./find-commit.ts')).findCommit(open, ids),
    headCommit: async () => (await import('./find-commit.ts')).headCommit(open),
    findRun: async (wanted) => {
      finder ??= Promise.all([open(), import('../../store/record/list-records.ts')]).then(
        ([repository, { runFinder }]) => runFinder(stores, repository, systemClock),
      );
      return (await finder)(wanted);
    },
    [Symbol.asyncDispose]: async () => {
      // An opening that no caller awaited may still be running and would leave a git process behind.
      await opened?.catch(() => undefined);
      await readers?.[Symbol.asyncDispose]();
    },
  };
}
