/* Types of a question that a model answers with read-only access to the repository. */
import type { ModelEvent, ModelMessage } from '../core/interfaces/model.ts';
import type { Hands, ReadingHost, Turns, Web } from '../core/interfaces/worker.ts';

/** One question of a person to a model that may read the repository and change no file. */
export interface ConverseOrder {
  /** Instructions, what stays the same first. */
  readonly system: readonly string[];
  /** Earlier messages, oldest first: questions, replies and the results of their calls. */
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
  /** Awaited, so that messages are stored before the next step. */
  readonly told: ConverseNotice;
}

/** Listener for the events of a conversation, as they happen. */
export interface ConverseNotice {
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
