import type { ApprovalVerdict, CarryReader } from './approval.ts';
import type { HashedTree } from './hashed-tree.ts';
import type { EffectiveIntentSpec } from './intentspec.gen.ts';
import type { CheckNetwork } from './network-use.ts';
import type { ReplayRecord } from './replay-record.ts';
import type { Signer } from './signer.ts';
import type { StageRecord } from './stage.ts';
import type { TransparencyLog } from './transparency-log.ts';

/** A thing by digest, as an in-toto ResourceDescriptor holds it. */
export interface DigestedThing {
  readonly name: string;
  readonly uri?: string;
  /** Algorithm → lower-case hex, e.g. `{ sha256: … }` or `{ gitCommit: … }`. */
  readonly digest: Readonly<Record<string, string>>;
  readonly mediaType?: string;
  /** What is said of it beside, in lists of words. */
  readonly annotations?: Readonly<Record<string, readonly string[]>>;
}

/** A plugin of others as a provenance lists it. */
export interface AttestedPlugin {
  readonly name: string;
  /** Where it is kept, and its version. */
  readonly uri: string;
  readonly sha256: string;
  /** Kind and name of each rule and part; empty where the provenance does not say it. */
  readonly brings: readonly string[];
  /** Hosts, secrets and files that it was given, in words. */
  readonly given: readonly string[];
}

/** Under this name and such a URI it stands among the resolved dependencies. */
export const pluginDependency = { name: 'plugin/', uri: 'urn:writ:plugin:' } as const;

/** A sealed decision to attest: everything that the statement says, nothing that it reaches for. */
export interface AttestRequest {
  readonly runId: string;
  readonly spec: EffectiveIntentSpec;
  readonly specDigest: string;
  readonly schedulerVersion: string;
  /** The program itself, by the digest of its files. */
  readonly engine: DigestedThing;
  readonly sandbox: string;
  readonly repositoryUri: string;
  readonly baseCommit: string | undefined;
  /** Whose configuration, plugins, policies and signers judged. */
  readonly policyCommit: string | undefined;
  /** The branch that it was the tip of; absent where it is the base itself. */
  readonly policyRef?: string;
  /** Present where that is neither the target nor the default branch: this one, `null` where none was known. */
  readonly defaultRef?: string | null;
  readonly commit: string;
  readonly tree: string;
  readonly patchDigest: string;
  readonly resolvedDependencies: readonly DigestedThing[];
  /** Files of the run's record and its artifacts, by the path that they are stored under. */
  readonly byproducts: readonly DigestedThing[];
  /** What the gates did. */
  readonly stages: readonly StageRecord[];
  readonly approvals: readonly ApprovalVerdict[];
  /** Networks of checks that had one; absent where none had. */
  readonly network?: readonly (CheckNetwork & { readonly stage: string; readonly check: string })[];
  /** RFC 3339. */
  readonly startedOn: string;
  readonly finishedOn: string;
}

export interface Attestation {
  /** Sigstore bundle v0.3, JSON. */
  readonly bundle: Uint8Array;
  /** C2SP tlog-proof; absent with log mode `none`. */
  readonly proof?: Uint8Array;
  readonly keyId: string;
  readonly logOrigin?: string;
  readonly logIndex?: number;
}

/** Who signs, and where it is logged; `undefined` for log mode `none`. */
export interface SealingParties {
  readonly signer: Signer;
  readonly log: TransparencyLog | undefined;
}

/** A file that sealing adds to the record of a run. */
export type SealedFile = readonly [path: string, bytes: Uint8Array];

/** A run as it is about to be stored, for the verifier. */
export interface SealedEvidence {
  readonly runId: string;
  /** Its id, and the commit object's content without git's header. */
  readonly commit: { readonly id: string; readonly raw: Uint8Array };
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Who may approve, at the policy commit; empty where nobody may. */
  readonly allowedSigners: Uint8Array;
  /** Decides again, for a verifier that has no rules of deciding. */
  readonly replay: ReplayRecord;
  readonly contentPaths: readonly string[];
  readContent(path: string): Promise<Uint8Array | undefined>;
  /** A file of a commit that is at hand; `bytes` is absent where the commit has no such file. */
  readAt?(commit: string, path: string): Promise<{ readonly bytes?: Uint8Array } | undefined>;
  /** What the objects of the sealed tree are by their bytes. */
  hashTree?(tree: string): Promise<HashedTree>;
  /** Authors, co-authors and committers of `base..tip`, as far as the commits are at hand. */
  listPeople?(base: string | null, tip: string): Promise<readonly string[]>;
  /** Compares candidates of carried approvals. */
  readonly carry?: CarryReader;
}

/**
 * Makes, signs and logs the statements about a decided change (`docs/decisions/0006-evidence-set.md`). Signing and
 * logging are apart because a signature differs each time: the envelope is written down before it is logged, so a run
 * that was killed in between logs the same one.
 */
export interface Attestor {
  /** Signed statements about what was found, which the provenance lists; nothing is logged. SIGNER_FAILED. */
  signFindings(request: AttestRequest, parties: SealingParties): Promise<readonly SealedFile[]>;
  /** The signed envelope of the provenance; nothing is logged. SIGNER_FAILED. */
  sign(request: AttestRequest, parties: SealingParties): Promise<Uint8Array>;
  /** An envelope which says that what `sign` claimed did not take effect. */
  signRevocation(request: AttestRequest, parties: SealingParties, reason: string): Promise<Uint8Array>;
  /**
   * Logs an envelope that `sign` made, unless it stands behind entry `behind` already. LOG_FAILED; nothing is half
   * logged.
   */
  log(envelope: Uint8Array, parties: SealingParties, behind: number): Promise<Attestation>;
  /**
   * What stands on a logged provenance: the verdict, and last the manifest of every file in `recorded`. SIGNER_FAILED.
   */
  signSummary(
    request: AttestRequest,
    recorded: ReadonlyMap<string, Uint8Array>,
    parties: SealingParties,
  ): Promise<readonly SealedFile[]>;
  /**
   * Asks the verifier what it demands of a change whether or not it is signed for: approvals and replay above all. What
   * it refuses; empty where it holds.
   */
  verifyDecided(request: AttestRequest, evidence: SealedEvidence): Promise<readonly string[]>;
  /**
   * Asks the verifier about a whole set, approvals and replay included, by the run's own key and log: what it refuses,
   * empty where it verifies.
   */
  verify(evidence: SealedEvidence, parties: SealingParties): Promise<readonly string[]>;
  /** Signs what a run that waits leaves for others to go on from: these files, by digest. SIGNER_FAILED. */
  signWaiting(
    runId: string,
    files: ReadonlyMap<string, Uint8Array>,
    parties: SealingParties,
  ): Promise<Uint8Array>;
  /**
   * Whether one of these public keys (PEM) signed exactly these files for that run. KEY_UNUSABLE for a key that is
   * none.
   */
  isWaitingSignedBy(
    bundle: Uint8Array,
    runId: string,
    files: ReadonlyMap<string, Uint8Array>,
    keys: readonly string[],
  ): boolean;
  /**
   * Signs the provenance of a candidate that is not sealed, reads it back and looks at the log: what would make a seal
   * fail. Nothing is kept.
   */
  rehearse(request: AttestRequest, parties: SealingParties): Promise<readonly string[]>;
}
