import type { CheckpointMemory } from '../../attest/log/checkpoint-memory.ts';
import type { Anchors } from '../../attest/verify/anchors.ts';
import type { SourceDemands } from '../../attest/verify/certified-source.ts';
import type { GivenArtifact } from '../../attest/verify/given-artifact.ts';
import type { SummaryDemands } from '../../attest/verify/predicates/summary.ts';
import type { TargetForm } from './target-meanings.ts';

/** What a verification is asked for besides its targets. */
export interface VerifyDemands {
  /** What every target is, where the user says so. */
  readonly form?: TargetForm;
  readonly allowedSigners?: Uint8Array;
  /** Canonical digest of the contract that is meant. */
  readonly specDigest?: string;
  readonly artifacts: readonly GivenArtifact[];
  /** Predicate types that are asked for. */
  readonly types: readonly string[];
  readonly replay: boolean;
  readonly summary: SummaryDemands;
  /** What the certificate must name as the source of the build. */
  readonly source?: SourceDemands;
  /** The branch (or full commit id) by whose policy alone it may have been judged (`--policy`). */
  readonly policy?: string;
  /** Ids of commits: every target must be about one of them. */
  readonly commits?: readonly string[];
  /** What must have been verified, or it is an error (`--require`). */
  readonly required: readonly Requirement[];
}

/** Words of `--require`. */
export const requirements = ['approvals', 'log', 'replay'] as const;
export type Requirement = (typeof requirements)[number];

export const noDemands: VerifyDemands = {
  summary: { levels: [] },
  required: [],
  artifacts: [],
  types: [],
  replay: false,
};

/** Whom a verifier believes, and what they have seen of logs. */
export interface Belief {
  readonly anchors: Anchors;
  readonly memory: CheckpointMemory;
}
