import type { ModelEvent, ModelMessage } from '../core/interfaces/model.ts';
import type { Hands, ReadingHost, Turns, Web } from '../core/interfaces/worker.ts';

/** One question of a person to a model that may look at the repository and change nothing. */
export interface ConverseOrder {
  /** Instructions, what stays the same first. */
  readonly system: readonly string[];
  /** What was said before, oldest first: questions, replies and what came of their calls. */
  readonly before: readonly ModelMessage[];
  readonly question: string;
  readonly cacheKey: string;
  /** Reading only. */
  readonly hands: Hands;
  /** Searched, if a person allowed the network. */
  readonly web?: Web;
  readonly turns: Turns;
  /** In place of both, where what answers is a program that works by itself. */
  readonly agent?: ReadingHost;
  /** Awaited: what it is told is kept before anything is done about it. */
  readonly told: Told;
}

/** Whom a conversation tells what happens, as it happens. */
export interface Told {
  /** A piece of a reply on its way. */
  text(piece: string): void;
  /** Each piece of it, as the model gives it. */
  event?(event: ModelEvent): void;
  /** A whole message: a reply before its calls are made, results after they were. */
  message(message: ModelMessage): Promise<void>;
}

/** The model answered, or why it did not. */
export type ConverseEnd =
  | { readonly kind: 'answered' }
  | { readonly kind: 'nothing'; readonly reason: string };
