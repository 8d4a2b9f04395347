/**
 * Outcome for one ref:
 *
 * - `behind`: the other side has more.
 * - `ahead` (fetch): we have more.
 * - `expired`: retention is over, so it is not transferred.
 * - `changed` (fetch): this machine has a part in the run; our record stays in effect, theirs is kept next to it.
 * - `held` (push): it belongs to a refused or abandoned run.
 * - `renumbered` (fetch): our approval moved because its number is used elsewhere.
 * - `diverged`: each side has commits that the other lacks.
 * - `unfetched`: the other side has a version that is not here.
 * - `moved`: another process moved it in the meantime.
 * - `rejected`: git or the remote refused.
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

/** `from` and `to` are versions on the side that is written; `null`: none. They are equal if the ref did not move. */
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

/** True if both records are here: no fetch is needed, a person must pick one. */
export function awaitsChoice({ status, reason }: MovedRef): boolean {
  return status === 'diverged' && reason !== undefined;
}
