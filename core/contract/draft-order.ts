import type { AgentHost } from './agent.ts';
import type { Hands } from './hands.ts';
import type { Turns } from './turns.ts';

/** What a model is to draft. Judged by whoever orders it; policy is never among it (resolutions, Repair). */
export interface DraftOrder {
  readonly what: 'intent' | 'plan';
  /** What it is of: a person's request, the Tasks of a contract. */
  readonly subject: string;
  /** JSON Schema of an object: what is submitted. */
  readonly form: Readonly<Record<string, unknown>>;
  readonly cacheKey: string;
  /** Reading only. */
  readonly hands: Hands;
  readonly turns: Turns;
  /** In place of both, where what drafts is a program that works by itself: it looks at a copy. */
  readonly agent?: ReadingHost;
  /** What is wrong with a draft, for the model; nothing: it was taken. */
  submit(draft: unknown): Promise<readonly string[]>;
}

/** A program that may look, and nothing else; what it is asked ends with the signal. */
export interface ReadingHost {
  readonly host: AgentHost;
  readonly signal: AbortSignal;
}

/** A draft was taken, or why none was. */
export type DraftEnd = { readonly kind: 'taken' } | { readonly kind: 'nothing'; readonly reason: string };
