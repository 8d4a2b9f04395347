import { inUndoScratch, stepsUndoing, treeWithout, type Undoing } from '../../patch/patch-undoing.ts';
import type { RunStore } from '../../store/run-store.ts';
import { parseObject } from '../../store/stored-object.ts';
import type { Repository } from '../../vcs/repository.ts';
import { type Base, treeOf } from '../../vcs/resolve-commit.ts';
import { type LaidPart, layParts } from '../record/read-parts.ts';

/** What takes one Task of a sealed run back, or why it is not taken back. */
export type TaskUndoing =
  | { readonly kind: 'patch'; readonly undoing: Undoing }
  /** `unchanged`: it changed nothing; `nothing`: nothing of it is left. */
  | { readonly kind: 'unchanged' | 'nothing' | 'untold' | 'gone' }
  | { readonly kind: 'refuted'; readonly why: string }
  /** Later Tasks of the run changed the same places. */
  | { readonly kind: 'built-upon'; readonly paths: readonly string[]; readonly tasks: readonly string[] };

/** A Task of a run that committed. */
export interface SealedTask {
  readonly runId: string;
  readonly commit: string;
  readonly task: string;
}

/**
 * The reverse of what one Task of several changed, at `tip`: of its own steps alone, merged with what its fellows and
 * others did. What the record says of Tasks is held against the commit first.
 */
export async function taskUndoing(
  repository: Repository,
  store: RunStore,
  { runId, commit, task }: SealedTask,
  tip: Base,
): Promise<TaskUndoing> {
  return inUndoScratch(repository, async (scratch): Promise<TaskUndoing> => {
    const laid = await layParts(scratch, store, runId, commit);
    if (laid.kind !== 'laid') return laid;
    const { parts } = laid;
    const own = parts.filter(({ part }) => part.task === task);
    if (own.length === 0) return { kind: 'unchanged' };
    const undoing = await stepsUndoing(scratch, own, tip);
    if (undoing === undefined) return { kind: 'nothing' };
    if (undoing.conflicts === undefined) return { kind: 'patch', undoing };
    const { conflicts } = await treeWithout(scratch, own, await treeOf(scratch, commit));
    // Where it could be taken back when it was made, others stand in the way.
    if (conflicts === undefined) return { kind: 'patch', undoing };
    return { kind: 'built-upon', paths: conflicts, tasks: tasksUpon(parts, task, conflicts) };
  });
}

/** Tasks that changed one of these files after the Task had begun to. */
function tasksUpon(parts: readonly LaidPart[], task: string, paths: readonly string[]): readonly string[] {
  const first = parts.findIndex(({ part }) => part.task === task);
  const wanted = new Set(paths);
  const found = parts
    .slice(first)
    .filter(({ part }) =>
      part.files.some(({ path, old_path: from = path }) => wanted.has(path) || wanted.has(from)),
    );
  return [...new Set(found.map(({ part }) => part.task))].filter((one) => one !== task);
}

/** Keys of the Tasks of a run's last plan that change something, in its order. OBJECT_CORRUPT. */
export async function workTasksOf({ objects, refs }: RunStore, runId: string): Promise<readonly string[]> {
  const ref = refs.run(runId);
  const paths = (await objects.list(ref)).map(({ path }) => path).filter((path) => path.startsWith('tasks/'));
  const tasks = [...(await objects.readMany(ref, paths)).values()].map((bytes) => parseObject('task', bytes));
  return tasks
    .filter(({ kind }) => kind === 'implementation')
    .map(({ number = 0 }) => number)
    .sort((a, b) => a - b)
    .map((number) => `task-${number}`);
}
