import { WritError } from '../../core/base/errors.ts';
import type { Want } from './command.ts';
import type { Fact } from './fact.ts';
import type { Lease } from './lease.ts';

/** What a decision needs of the world. */
export interface Moment {
  readonly nowMs: number;
  /** Milliseconds of a clock that never steps. */
  readonly monotonicMs: number;
  /** A new id, other at each call. */
  readonly newId: () => string;
  /** What the work tree is like now; absent where the command does not depend on it. */
  readonly workspace?: string;
}

/** What a command came to: nothing of it has happened yet. */
export interface Decided {
  readonly facts: readonly Fact[];
  readonly wants: readonly Want[];
  /** The lease that the sender holds now, where it asked for one. */
  readonly lease?: Lease;
  /** The turn that it began, where whoever sent it waits for its end. */
  readonly turn?: string;
}

export const nothingDecided: Decided = { facts: [], wants: [] };

/** CONTROLLER_CONFLICT with its reason. */
export function conflict(message: string, detail: Readonly<Record<string, unknown>>): WritError {
  return new WritError('CONTROLLER_CONFLICT', { message, detail });
}
