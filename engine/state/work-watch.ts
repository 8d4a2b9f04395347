import type { ModelEvent } from '../../core/interfaces/model.ts';

/** Which try at which Task of a plan. */
export interface WatchedAttempt {
  /** Key of the Task. */
  readonly task: string;
  /** From 1. */
  readonly attempt: number;
}

/** Whoever looks on while workers work; what it throws is nobody's fault but its own, and stops the attempt. */
export interface WorkWatch {
  /** Asked once for each attempt: who is told each piece of its model's replies, as they come. */
  listen(): (event: ModelEvent) => void;
  /** `taken`: its patch passed what judges a single Task. */
  attempt(which: WatchedAttempt, state: 'began' | 'taken' | 'refused'): void;
}
