/**
 * What became of one ref. `behind`: the other side has more; `ahead` (fetch): we have more; `expired`: retention is
 * over, so it does not travel; `changed` (fetch): a remote's record of a run that this machine has a part in; ours
 * holds and theirs is kept beside it; `held` (push): it is of a run that was refused or abandoned; `renumbered`
 * (fetch): an approval of ours that took a number which is taken elsewhere; `diverged`: each side has what the other
 * lacks; `unfetched`: the other side has a version that is not here; `moved`: somebody moved it while we looked;
 * `rejected`: git or the remote refused.
 */
export type MoveStatus =
  | 'created'
  | 'updated'
  | 'replaced'
  | 'renumbered'
  | 'deleted'
  | 'current'
  | 'ahead'
  | 'behind'
  | 'expired'
  | 'held'
  | 'changed'
  | 'diverged'
  | 'unfetched'
  | 'moved'
  | 'rejected';

/**
 * `from` and `to` are versions at the side that is written to; `null`: there is none. Where nothing moved they are
 * equal.
 */
export interface MovedRef {
  readonly ref: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly status: MoveStatus;
  /** Why it was refused, in the words of who refused it. */
  readonly reason?: string;
}

const refusals: readonly MoveStatus[] = ['diverged', 'unfetched', 'moved', 'rejected'];

/** True for a ref that should have moved and did not. */
export function isRefused({ status }: MovedRef): boolean {
  return refusals.includes(status);
}

/** True for two records of which both are here: nothing more is to be fetched, somebody has to say which holds. */
export function awaitsChoice({ status, reason }: MovedRef): boolean {
  return status === 'diverged' && reason !== undefined;
}
