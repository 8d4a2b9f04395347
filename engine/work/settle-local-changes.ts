/* Decides what happens to local changes at the paths of a candidate. */
import type { PlanDraft } from '../../core/interfaces/plan.ts';
import { type DirtyPath, dirtyPaths, touchedBy } from '../../workspace/git/dirty-paths.ts';
import { type IncludedChanges, mergeLocal, readLocalContent } from '../../workspace/git/include-local.ts';
import { readRef } from '../../workspace/git/refs.ts';
import { type LocalChanges, localChangesOf, requireLandable } from '../../workspace/git/set-aside.ts';
import type { Target } from '../../workspace/git/target.ts';
import { normalisePatch } from '../../workspace/patch/normalise.ts';
import {
  answerOf,
  choiceStep,
  filesToLand,
  predictedFiles,
  recordedDecision,
  requireNothingToInclude,
  requireRecordedChoice,
  targetHere,
} from '../state/commit-wording.ts';
import type { Attempt, OpenRun } from '../state/open-run.ts';
import { workBase } from './merge-tasks.ts';
import { beginAttempt } from './work-attempt.ts';

/** Which candidate of the run it is. */
export interface CandidateTurn {
  /** From 1. */
  readonly round: number;
  /** This process started the run, so no check of this round has run before. */
  readonly isNew: boolean;
  readonly isSupplied: boolean;
}

/** A candidate with local changes merged into it, as a step records it. */
interface Inclusion {
  readonly name: string;
  readonly tree: string;
  readonly included: IncludedChanges;
}

/**
 * Decides what happens to local changes at the paths of a candidate before it is evaluated, and merges them into it if
 * the user includes them. WORKTREE_DIRTY if they stop it: the run can be resumed, its work is kept, and no model is
 * called again. A target that has moved is for the seal to check: it may have been this run that moved it.
 */
export async function settleLocalChanges(
  run: OpenRun,
  attempt: Attempt,
  turn: CandidateTurn,
): Promise<Attempt> {
  const {
    identity: { runId, local },
    environment: { repository, base },
    environment,
    services: { settings, steps, scratch },
  } = run;
  const before: Attempt = local === undefined ? attempt : { ...attempt, localNow: local };
  // A supplied patch of a new run was checked when the run was opened.
  if (turn.isSupplied && turn.isNew) return before;
  const kept = steps.under(`local-changes/${turn.round}`);
  let count = 0;
  let last: Inclusion | undefined;
  for (let found = kept.ended('1'); found; found = kept.ended(`${count + 1}`)) {
    last = found.answer as Inclusion;
    count += 1;
  }
  const latest = async (): Promise<Attempt> => (last === undefined ? before : withInclusion(run, last));
  if ((await readRef(repository, environment.target.ref)) !== environment.target.expected) return latest();

  const recorded = recordedDecision({ local }, steps)?.choice;
  const target = await targetHere(repository, environment, settings.heldFor);
  if (target === undefined) {
    const isRecorded = (last?.included ?? local?.included) !== undefined;
    if (!isRecorded && (settings.localChanges ?? recorded) === 'include')
      await requireNothingToInclude(repository, environment.target.ref, attempt.patch.files);
    return latest();
  }
  const includedBefore = last?.included ?? local?.included;
  const landing = await filesToLand(scratch, environment, attempt.patch);
  const files = [...landing, ...touchedBy(includedBefore?.paths ?? [])];
  requireRecordedChoice(settings, runId, includedBefore);
  const dirty = await dirtyPaths(repository, files);
  if (dirty.length === 0 && includedBefore === undefined) return before;
  const stored = settings.localChanges ?? recorded ?? (await localChangesOf(repository, runId, undefined));
  const choice = await choiceFor(run, target, stored, dirty);
  if (includedBefore === undefined && choice !== 'include') {
    await requireLandable(repository, target, files, choice);
    return { ...before, localNow: { choice } };
  }
  const included = await readLocalContent(repository, scratch, base.tree, target, dirty);
  if (included.digest === includedBefore?.digest) return latest();
  // Content that another choice included before has changed: it counts as local changes like any other.
  if (choice !== 'include') await requireLandable(repository, target, files, 'stop');
  const plain = `candidate-${turn.round}`;
  // What an earlier process evaluated under the plain name was another candidate.
  const isFree = count === 0 && (turn.isNew || attempt.name !== plain);
  const inclusion = await kept.once(`${count + 1}`, async () => ({
    name: isFree ? plain : `candidate-${turn.round + 1000 * (count + 1)}`,
    tree: await mergeLocal(scratch, workBase(run), attempt.patch.candidateTree, included),
    included,
  }));
  return withInclusion(run, inclusion);
}

/**
 * Stops a new run before its work if there are local changes at paths that only the model's plan predicts to write.
 * The spec's own plan was checked when the run was opened. Throws WORKTREE_DIRTY; the run can be resumed.
 */
export async function settlePlannedPaths(run: OpenRun, plan: PlanDraft): Promise<void> {
  const {
    identity: { local },
    environment: { repository },
    environment,
    services: { settings, steps, draft, advice },
  } = run;
  if (draft === undefined) return;
  const known = new Set(predictedFiles(draft, advice).map(({ path }) => path));
  const files = predictedFiles(plan).filter(({ path }) => !known.has(path));
  if (files.length === 0) return;
  const target = await targetHere(repository, environment, settings.heldFor);
  if (target === undefined) return;
  const dirty = await dirtyPaths(repository, files);
  if (dirty.length === 0) return;
  const choice = await choiceFor(run, target, recordedDecision({ local }, steps)?.choice ?? 'stop', dirty);
  if (choice !== 'include') await requireLandable(repository, target, files, choice);
}

/** The given choice, else the recorded one, else the person's answer, which is recorded. */
async function choiceFor(
  { environment: { repository }, services: { settings, steps } }: OpenRun,
  target: Target,
  recorded: LocalChanges,
  dirty: readonly DirtyPath[],
): Promise<LocalChanges> {
  const { localChanges, askLocalChanges: ask } = settings;
  if (localChanges !== undefined || recorded !== 'stop' || ask === undefined) return localChanges ?? recorded;
  return steps.once(
    choiceStep,
    () => answerOf(ask, repository, target, dirty),
    (answer) => answer !== 'stop',
  );
}

async function withInclusion(run: OpenRun, { name, tree, included }: Inclusion): Promise<Attempt> {
  const patch = await normalisePatch(run.services.scratch, run.environment.base, tree);
  return { ...beginAttempt(run, name, patch), localNow: { choice: 'include', included } };
}
