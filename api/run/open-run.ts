import { systemClock } from '../../core/base/clock.ts';
import { printable } from '../../core/base/printable.ts';
import type { RunView } from '../../core/contract/run-view.ts';
import { readRun } from '../../engine/run/record/read-run.ts';
import { findLandings, shortRef } from '../../engine/store/landed.ts';
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
  const view = await readRun(repository, store, runId);
  const notices = [...(await landingNotices(repository, view)), ...(view.notices ?? [])];
  return { repository, store, view: notices.length === 0 ? view : { ...view, notices } };
}

/** What to do about a sealed commit that is not on the branch that counts. */
async function landingNotices(
  repository: Repository,
  { state, decision, targetRef: target }: RunView,
): Promise<readonly string[]> {
  const commit = decision?.type === 'commit' ? decision.commitSha : undefined;
  if (state !== 'decided' || commit === undefined) return [];
  const [landing] = await findLandings(repository, [{ commit, target }]);
  if (landing?.state !== 'sealed') return [];
  const branch = printable(shortRef(landing.ref));
  const found = `sealed, not landed: \`${branch}\` does not hold commit ${commit}`;
  return [
    landing.ref.startsWith('refs/remotes/')
      ? `${found}. Push it. If the push is rejected, \`git fetch\`, \`git reset --hard ${branch}\`, and run the spec again`
      : `${found}. Merge that commit, or run the spec again`,
  ];
}
