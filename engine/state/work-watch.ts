import type { ModelEvent } from '../../core/interfaces/model.ts';

/** Which try at which Task of a plan. */
export interface WatchedAttempt {
  /** Key of the Task. */
  readonly task: string;
  /** From 1. */
  readonly attempt: number;
}

/** Observer of workers. An exception that it throws stops the attempt. */
export interface WorkWatch {
  /** Called once per attempt; returns the listener for the pieces of its model's replies. */
  listen(): (event: ModelEvent) => void;
  /** `taken`: its patch passed the checks of a single Task. */
  attempt(which: WatchedAttempt, state: 'began' | 'taken' | 'refused'): void;
}
