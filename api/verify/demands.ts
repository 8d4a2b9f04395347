/* The demands of a verification: what must hold in addition to valid signatures. */
import { parseAllowedSigners } from '../../attest/approval/allowed-signers.ts';
import type { CheckpointMemory } from '../../attest/log/checkpoint-memory.ts';
import type { Anchors } from '../../attest/verify/anchors.ts';
import type { SourceDemands } from '../../attest/verify/certified-source.ts';
import type { GivenArtifact } from '../../attest/verify/given-artifact.ts';
import type { SummaryDemands } from '../../attest/verify/predicates/summary.ts';
import { WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import type { TargetForm } from './target-meanings.ts';

/**
 * Skips lines without a valid signer, as for the repository's own list. ANCHOR_UNUSABLE if the list `name` has such
 * lines and no signer is left.
 */
export function requireSigners(bytes: Uint8Array, name: string, option: string): void {
  const { signers, skipped } = parseAllowedSigners(bytes);
  const [first] = skipped;
  if (signers.length > 0 || first === undefined) return;
  throw new WritError('ANCHOR_UNUSABLE', {
    message: `\`${printable(name)}\` is no list of signers: ${first.reason} (line ${first.line})`,
    detail: { anchor: name, option, line: first.line },
    hints: ['each line is a name and a public key, as in the allowed_signers of OpenSSH'],
  });
}

/** Demands on a verification besides its targets. */
export interface VerifyDemands {
  /** Kind of every target, if the user named it. */
  readonly form?: TargetForm;
  readonly allowedSigners?: Uint8Array;
  /** Canonical digest of the expected spec. */
  readonly specDigest?: string;
  readonly artifacts: readonly GivenArtifact[];
  /** Required predicate types. */
  readonly types: readonly string[];
  readonly replay: boolean;
  readonly summary: SummaryDemands;
  /** What the certificate must name as the source of the build. */
  readonly source?: SourceDemands;
  /** Required policy branch, or full commit id (`--policy`). No other policy may have applied. */
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

/** Keys and identities that a verifier trusts, and the log checkpoints it has seen. */
export interface Belief {
  readonly anchors: Anchors;
  readonly memory: CheckpointMemory;
}
