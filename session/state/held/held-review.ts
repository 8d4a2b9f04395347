import type { HeldChange } from '../../../engine/seal/move-target.ts';

/** A run whose change waits on a branch of its own until a person has reviewed it. */
export interface HeldRun extends Pick<HeldChange, 'runId' | 'branch' | 'target'> {
  /** Of the plan that it executed. */
  readonly plan: string;
}

/** What a person reviews: it is committed, and no branch of the person's has moved. */
export interface HeldReview extends HeldRun, Pick<HeldChange, 'commit'> {
  readonly patchset: string;
  readonly summary: string;
  /** The run of what is left, once hunks were taken out: which one, and which hunks. */
  readonly anew?: { readonly runId: string; readonly rejected: readonly string[] };
}

/** A run, and the one that is to take it back. */
export interface UndoneRun {
  readonly run: string;
  readonly by: string;
}

export type HeldEnd = 'kept' | 'taken-out' | 'discarded';
