import type { EffectiveIntentSpec } from './intentspec.gen.ts';

/** Something that a context or a search has found, once the domain rules have let it pass. */
export interface EvidenceSource {
  /** Path, path and lines, or URL. */
  readonly name: string;
  /** Where it was, or would be, retrieved from; absent: the repository holds it. */
  readonly url?: string;
  readonly trustTier: TrustTier;
  /** Whether `evidence.allowedDomains` itself names the host of `url`. */
  readonly isAllowedHost: boolean;
}

/** What an attempt has done before it wants to look something up outside the repository. */
export interface RetrievalSoFar {
  /** Files that it read, and searches of the repository. */
  readonly repositoryUses: number;
}

type Verdict = string | undefined | Promise<string | undefined>;

/**
 * What a contract's `evidence.strategy` does (slot `evidence`, by that name; document 1, Evidence policy). It can
 * only take away: domain rules and trust tiers are the engine's, and hold beside it.
 */
export interface EvidencePolicy {
  /** The tiers of the contract in the order in which sources are ranked; one that it leaves out comes last. */
  rank(trustTiers: readonly TrustTier[]): readonly TrustTier[];
  /** Why a source may be used by nobody; `undefined` lets it in. */
  refuse(source: EvidenceSource): Verdict;
  /** Where a source stands among those of its tier, from 0 on; absent: all stand alike. */
  order?(source: EvidenceSource): number | Promise<number>;
  /** Why nothing may be looked up outside the repository yet, told to the model; `undefined`: it may. */
  refuseRetrieval(soFar: RetrievalSoFar): Verdict;
}

/** Where something in the context comes from (document 1, Evidence policy). */
export type TrustTier = EffectiveIntentSpec['evidence']['trustTiers'][number];

/** What a frame of the context pipeline holds (document 1, Object-model binding). */
export const frameKinds = [
  'IntentAnalysis',
  'Checkpoint',
  'StepSummary',
  'ToolResult',
  'Evidence',
  'CodeChange',
  'ErrorRecovery',
  'Note',
] as const;
export type FrameKind = (typeof frameKinds)[number];

/** What an item of a context snapshot is (document 1, Intent, touchHints). */
export const contextItemKinds = ['File', 'Snippet', 'Url'] as const;
export type ContextItemKind = (typeof contextItemKinds)[number];
