import type { EffectiveIntentSpec } from '../spec/intentspec.gen.ts';
import type { CheckNetwork } from './network-use.ts';
import type { Signer } from './signer.ts';
import type { TransparencyLog } from './transparency-log.ts';

/** A thing by digest, as an in-toto ResourceDescriptor holds it. */
export interface DigestedThing {
  readonly name: string;
  readonly uri?: string;
  /** Algorithm → lower-case hex, e.g. `{ sha256: … }` or `{ gitCommit: … }`. */
  readonly digest: Readonly<Record<string, string>>;
  readonly mediaType?: string;
}

/** A sealed decision to attest: everything that the statement says, nothing that it reaches for. */
export interface AttestRequest {
  readonly runId: string;
  readonly spec: EffectiveIntentSpec;
  readonly specDigest: string;
  readonly schedulerVersion: string;
  readonly sandbox: string;
  readonly repositoryUri: string;
  readonly baseCommit: string | undefined;
  readonly commit: string;
  readonly tree: string;
  readonly patchDigest: string;
  readonly resolvedDependencies: readonly DigestedThing[];
  readonly byproducts: readonly DigestedThing[];
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

/**
 * Makes, signs and logs the provenance of a decided change (slot `attestor`). Signing and logging are apart because a signature
 * differs each time: the envelope is written down before it is logged, so a run that was killed in between logs the same one.
 */
export interface Attestor {
  /** The signed envelope; nothing is logged. SIGNER_FAILED. */
  sign(request: AttestRequest, parties: SealingParties): Promise<Uint8Array>;
  /** An envelope which says that what `sign` claimed did not take effect. */
  signRevocation(request: AttestRequest, parties: SealingParties, reason: string): Promise<Uint8Array>;
  /** Logs an envelope that `sign` made, unless it stands behind entry `behind` already. LOG_FAILED; nothing is half logged. */
  log(envelope: Uint8Array, parties: SealingParties, behind: number): Promise<Attestation>;
}
