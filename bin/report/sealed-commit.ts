import type { RunView } from '../../core/contract/run-view.ts';

/** The commit object that a run made. */
export interface SealedCommit {
  readonly sha: string;
  /** Only a commit decision puts it on the target ref; a rollback or a kill before the swap leaves it beside. */
  readonly onBranch: boolean;
}

/** `undefined` where the run made no commit object. */
export function toSealedCommit({ decision, state }: RunView): SealedCommit | undefined {
  if (decision?.commitSha === undefined) return undefined;
  return { sha: decision.commitSha, onBranch: decision.type === 'commit' && state === 'decided' };
}
