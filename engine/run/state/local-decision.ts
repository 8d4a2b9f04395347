import { fields, gitObject, listOf, oneOf, sha256Text, text } from '../../store/shape.ts';
import { type DirtyPath, dirtyPaths, type Touched } from '../../vcs/dirty-paths.ts';
import type { IncludedChanges } from '../../vcs/include-local.ts';
import type { Repository } from '../../vcs/repository.ts';
import type { LocalChanges } from '../../vcs/set-aside.ts';
import type { RunSettings } from './run-request.ts';

/** What a run does about local changes, as it was decided before the work. A resumed run goes on with it. */
export interface LocalDecision {
  readonly choice: LocalChanges;
  /** Local changes that the work starts from, or that are part of the supplied candidate. */
  readonly included?: IncludedChanges;
}

export const includedShape = fields({ tree: gitObject, paths: listOf(text), digest: sha256Text });
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
  files: readonly Touched[],
): Promise<{ readonly choice: LocalChanges; readonly dirty: readonly DirtyPath[] }> {
  const isOpen = localChanges === undefined && askLocalChanges !== undefined;
  if (!isOpen && localChanges !== 'include') return { choice: localChanges ?? 'stop', dirty: [] };
  const dirty = await dirtyPaths(repository, files);
  if (!isOpen) return { choice: 'include', dirty };
  return { choice: dirty.length === 0 ? 'stop' : await askLocalChanges(dirty), dirty };
}
