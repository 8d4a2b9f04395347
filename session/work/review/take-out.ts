import { confirmIntent } from '../../../api/intent/lifecycle.ts';
import { sha256Hex } from '../../../core/base/digest.ts';
import { WritError } from '../../../core/base/errors.ts';
import type { RunView } from '../../../core/interfaces/run-view.ts';
import { withOwnId } from '../../../engine/draft/draft-intent.ts';
import { resumeRun, runIntent } from '../../../engine/run-intent.ts';
import { gitLine } from '../../../workspace/git/git.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { patchWithout } from '../../../workspace/patch/hunks.ts';
import { patchOfRun } from '../../review/patch-of-run.ts';
import type { HeldReview } from '../../state/held/held-review.ts';
import { localChangesOfHeld } from '../local-changes.ts';
import type { TurnScope } from '../turn-scope.ts';
import { contractOf } from './contract-of.ts';
import { findRunOf } from './find-run-of.ts';
import { tellMade } from './tell-made.ts';

/** The patch of a held change without these hunks; `undefined` where nothing of it is left. */
export async function runLeft(
  { setting }: Pick<TurnScope, 'setting'>,
  { runId, patchset }: HeldReview,
  rejected: readonly string[],
): Promise<Buffer | undefined> {
  const diff = await patchOfRun(setting.engine, setting, runId);
  if (diff === undefined)
    throw new WritError('RUN_NOT_FOUND', {
      message: 'the patch of the run is not kept any more: nothing can be taken out of it',
      detail: { run_id: runId },
    });
  // Another one than the person has seen, whoever put it there.
  if (sha256Hex(diff) !== patchset)
    throw new WritError('OBJECT_CORRUPT', {
      message: 'the patch of the run is not the one that was reviewed',
      detail: { run_id: runId, expected: patchset },
    });
  const left = patchWithout(diff, new Set(rejected));
  return left.length === 0 ? undefined : left;
}

/**
 * What is left is judged and sealed in a run of its own, as a patch that exists, under the same contract with another
 * id: whoever took something out has brought it, and is its author. One that was begun for the same hunks goes on.
 */
export async function runAnew(
  scope: TurnScope,
  held: HeldReview,
  left: Buffer,
  rejected: readonly string[],
): Promise<RunView> {
  const { setting, tell } = scope;
  const { engine, repositoryPath, sandbox, clock } = setting;
  const { anew } = held;
  const isSame = anew !== undefined && anew.rejected.join() === rejected.join();
  const begun = isSame ? await findRunOf(scope, anew.runId) : undefined;
  const { localChanges } = await localChangesOfHeld(scope, held);
  // The patch holds what was included and reviewed: to include it again would bring back what was taken out.
  const local = localChanges === 'include' ? 'set-aside' : localChanges;
  const settings = {
    ...setting.run,
    ...(local === undefined ? {} : { localChanges: local }),
    clock,
    signal: scope.signal,
    repositoryPath,
    sandbox,
  };
  if (begun !== undefined && begun.view.state !== 'decided') {
    const view = await resumeRun(engine, { ...settings, runId: begun.view.runId });
    return tellMade(scope, view);
  }
  const specBytes = withOwnId(await contractOf(scope, held.runId), scope.newId());
  const runId = scope.newId();
  await tell({ type: 'review-anew', runId, rejected });
  await tell({ type: 'run-began', runId });
  await confirmIntent(engine, repositoryPath, specBytes);
  const view = await runIntent(engine, {
    ...settings,
    runId,
    specBytes,
    source: { kind: 'patch', bytes: left },
    onto: held.target.ref,
    message: await messageOf(scope, held, rejected.length),
  });
  return tellMade(scope, view);
}

/** The subject of the held commit, and what is missing of it. */
async function messageOf(
  { setting }: TurnScope,
  { commit, runId }: HeldReview,
  count: number,
): Promise<string> {
  const repository = await openRepository(setting.repositoryPath);
  const args = ['log', '-1', '--no-show-signature', '--format=%s', '--end-of-options', commit];
  const subject = await gitLine(repository, args);
  return `${subject}\n\nOf run ${runId}, without ${count} ${count === 1 ? 'hunk' : 'hunks'} that a person rejected.`;
}
