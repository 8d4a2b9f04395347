import type { ModelEvent } from '../../../core/contract/model.ts';

/** Which try at which Task of a plan. */
export interface WatchedAttempt {
  /** Key of the Task. */
  readonly task: string;
  /** From 1. */
  readonly attempt: number;
}

/** Whoever looks on while workers work; what it throws is nobody's fault but its own, and stops the attempt. */
export interface WorkWatch {
  /** Each piece of a model's reply, as it comes. */
  heard(event: ModelEvent): void;
  /** `taken`: its patch passed what judges a single Task. */
  attempt(which: WatchedAttempt, state: 'began' | 'taken' | 'refused'): void;
}
