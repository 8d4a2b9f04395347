import { WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import type { PlanDraft } from '../../core/interfaces/plan.ts';
import { fields, gitObject, listOf, oneOf, sha256Text, text } from '../../store/shape.ts';
import {
  type DirtyPath,
  dirtyFault,
  dirtyPaths,
  type Touched,
  touchedBy,
} from '../../workspace/git/dirty-paths.ts';
import type { IncludedChanges } from '../../workspace/git/include-local.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { readHead } from '../../workspace/git/resolve-commit.ts';
import { type LocalChanges, stuckPaths } from '../../workspace/git/set-aside.ts';
import type { Target } from '../../workspace/git/target.ts';
import type { TaskAdvice } from '../plan/plan-advice.ts';
import { parseWritePattern } from '../plan/predicted-writes.ts';
import type { Landing } from './landing.ts';
import type { RunSettings } from './run-request.ts';
import type { Steps } from './steps.ts';

/** What a run does about local changes, as it was decided before the work. A resumed run goes on with it. */
export interface LocalDecision {
  readonly choice: LocalChanges;
  /** Local changes that the work starts from, or that are part of the supplied candidate. */
  readonly included?: IncludedChanges;
}

const includedShape = fields({ tree: gitObject, paths: listOf(text), digest: sha256Text });
export const localShape = fields(
  { choice: oneOf('stop', 'set-aside', 'include') },
  { included: includedShape },
);

type Asked = Pick<RunSettings, 'localChanges' | 'askLocalChanges'>;

/**
 * The choice for local changes at these paths: the given one, else the person's answer, else `stop`. `dirty` is found
 * only if the choice needs it.
 */
export async function chooseLocalChanges(
  { localChanges, askLocalChanges }: Asked,
  repository: Repository,
  target: Pick<Target, 'expected'>,
  files: readonly Touched[],
): Promise<{ readonly choice: LocalChanges; readonly dirty: readonly DirtyPath[] }> {
  const isOpen = localChanges === undefined && askLocalChanges !== undefined;
  if (!isOpen && localChanges !== 'include') return { choice: localChanges ?? 'stop', dirty: [] };
  const dirty = await dirtyPaths(repository, files);
  if (!isOpen) return { choice: 'include', dirty };
  return { choice: await answerOf(askLocalChanges, repository, target, dirty), dirty };
}

/** The person's answer; `stop` without a question if writ would refuse every other one. */
export async function answerOf(
  ask: NonNullable<Asked['askLocalChanges']>,
  repository: Repository,
  target: Pick<Target, 'expected'>,
  dirty: readonly DirtyPath[],
): Promise<LocalChanges> {
  const isOpen = dirty.length > 0 && (await stuckPaths(repository, target, dirty)).length === 0;
  return isOpen ? ask(dirty) : 'stop';
}

/**
 * The branch that the change lands on, now or after a review (`heldFor`), if it is checked out here: only then the
 * local changes of this working tree belong to it.
 */
export async function targetHere(
  repository: Repository,
  { base, target }: Pick<Landing, 'base' | 'target'>,
  heldFor: string | undefined,
): Promise<Target | undefined> {
  if (target.checkedOutHere) return target;
  if (heldFor === undefined) return undefined;
  const { branch, commit } = await readHead(repository);
  const isHere = branch === heldFor && commit === base.commit;
  return isHere ? { ref: heldFor, expected: commit, checkedOutHere: true } : undefined;
}

/**
 * WORKTREE_DIRTY if there are local changes at the paths of a change that is to include them, although the branch `ref`
 * that it lands on is not checked out here.
 */
export async function requireNothingToInclude(
  repository: Repository,
  ref: string,
  files: readonly Touched[],
): Promise<void> {
  const paths = new Set(files.flatMap(({ path, oldPath }) => [path, oldPath ?? path]));
  const found = await dirtyPaths(repository, files);
  // An obstacle is a file of another branch, and an unmerged path may be anywhere.
  const dirty = found.filter(({ path, reason }) => paths.has(path) && reason !== 'obstructed');
  if (dirty.length === 0) return;
  const branch = printable(ref.replace(/^refs\/heads\//, ''));
  const { detail } = dirtyFault(dirty);
  const at = localChangesAt(dirty.map(({ path }) => path));
  throw new WritError('WORKTREE_DIRTY', {
    message: `${at} cannot be included: the change lands on \`${branch}\`, which is not checked out here`,
    detail,
    hints: [
      `check out \`${branch}\` here, or name the branch that is checked out: \`--onto BRANCH\``,
      'or drop `--local-changes include`: the change is made without them, and they stay as they are',
    ],
  });
}

/** Names local changes by the first of their paths. */
export function localChangesAt([first = '', ...others]: readonly string[], which = ''): string {
  const more = others.length === 0 ? '' : ` and at ${others.length} more paths`;
  return `local changes ${which}at \`${printable(first)}\`${more}`;
}

/** The recorded decision of a run that waits: as it was started, or answered later. */
export function recordedDecision(
  { local }: { readonly local?: LocalDecision | undefined },
  steps: Steps,
): LocalDecision | undefined {
  const answered = steps.ended(choiceStep)?.answer as LocalChanges | undefined;
  return answered === undefined ? local : { ...local, choice: answered };
}

/** Step in which a person answers what happens to local changes. */
export const choiceStep = 'local-changes/choice';

/** WORKTREE_DIRTY if local changes that are part of the change by now are to be set aside. */
export function requireRecordedChoice(
  { localChanges }: Pick<RunSettings, 'localChanges'>,
  runId: string,
  included: Pick<IncludedChanges, 'paths'> | undefined,
): void {
  if (localChanges !== 'set-aside' || included === undefined || included.paths.length === 0) return;
  throw new WritError('WORKTREE_DIRTY', {
    message: `run \`${runId}\` includes the ${localChangesAt(included.paths)}: they cannot be set aside any more`,
    detail: { run_id: runId, paths: included.paths.slice(0, 20), expected: 'include', found: localChanges },
    hints: [
      'go on with them: `writ resume RUN` without `--local-changes`',
      'or end the run (`writ cancel RUN`) and run the change again with `--local-changes set-aside`',
    ],
  });
}

/**
 * Files that the plan, or a model's advice on it that a person confirmed, names one by one. What is named by directory
 * or glob is checked once the change is there.
 */
export function predictedFiles({ tasks }: PlanDraft, advice: readonly TaskAdvice[] = []): readonly Touched[] {
  const writes = [
    ...tasks.flatMap(({ predictedWrites = [] }) => predictedWrites),
    ...advice.flatMap((one) => one.writes),
  ];
  const patterns = writes.map(parseWritePattern);
  return touchedBy(patterns.filter(({ isPlain, isFile }) => isPlain && isFile).map(({ text }) => text));
}
