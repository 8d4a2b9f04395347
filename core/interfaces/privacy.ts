/* Data classes, redaction and the evidence policies of a spec. */
import type { DataClass, EffectiveIntentSpec } from './intentspec.gen.ts';

/** A data class that content can belong to; `public` content belongs to none. */
export type SensitiveClass = Exclude<DataClass, 'public'>;

export const sensitiveClasses: readonly SensitiveClass[] = [
  'internal',
  'confidential',
  'pii',
  'phi',
  'secrets',
];

/** The repository's own words that mark content, from `[redaction]` at the policy commit. */
export type ClassWords = Readonly<Partial<Record<SensitiveClass, readonly string[]>>>;

/** What may be stored and shown under a spec (`constraints.privacy`). */
export interface PrivacyPolicy {
  /**
   * Classes that are removed from everything that is written: all that are not allowed if redaction is required, else
   * secrets unless they are allowed.
   */
  readonly remove: readonly SensitiveClass[];
  /** Classes that no context may hold. */
  readonly beyond: readonly SensitiveClass[];
  /** `[redaction]` of the config at the policy commit. */
  readonly words: ClassWords;
}

/**
 * What was removed under one rule; `digests` are HMAC-SHA256 values under a key that is stored nowhere, one per
 * different value (32 at most).
 */
export interface Redaction {
  readonly rule: string;
  readonly class: SensitiveClass;
  readonly count: number;
  readonly digests: readonly string[];
}

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
 * The implementation of a spec's `evidence.strategy` (slot `evidence`, by that name). It can only restrict: the
 * engine applies domain rules and trust tiers in addition.
 */
export interface EvidencePolicy {
  /** Ranks the trust tiers of the spec. A tier that it omits ranks last. */
  rank(trustTiers: readonly TrustTier[]): readonly TrustTier[];
  /** Returns why no one may use a source, or `undefined` to accept it. */
  refuse(source: EvidenceSource): Verdict;
  /** Rank of a source within its tier, from 0 on. Absent: all sources of a tier rank equal. */
  order?(source: EvidenceSource): number | Promise<number>;
  /**
   * Returns why the model may not look up sources outside the repository yet, in words for the model. `undefined`: it
   * may.
   */
  refuseRetrieval(soFar: RetrievalSoFar): Verdict;
}

/** Origin of an item in the context (`evidence.trustTiers`). */
export type TrustTier = EffectiveIntentSpec['evidence']['trustTiers'][number];

/** Kinds of frames in the context pipeline. */
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

export const contextItemKinds = ['File', 'Snippet', 'Url'] as const;
export type ContextItemKind = (typeof contextItemKinds)[number];
