/* The interfaces of signing, logging and attestation. */
import type { ApprovalReader, ApprovalVerdict, CarryReader } from './approval.ts';
import type { Difference } from './finding.ts';
import type { EffectiveIntentSpec } from './intentspec.gen.ts';
import type { ModelWork } from './model-work.ts';
import type { CheckNetwork } from './scanner.ts';
import type { StageRecord } from './stage.ts';
import type { HashedTree, RepositoryPlace } from './store.ts';

/** A resource with its digest, as an in-toto ResourceDescriptor holds it. */
export interface DigestedThing {
  readonly name: string;
  readonly uri?: string;
  /** Algorithm → lower-case hex, e.g. `{ sha256: … }` or `{ gitCommit: … }`. */
  readonly digest: Readonly<Record<string, string>>;
  readonly mediaType?: string;
  /** Further annotations, as lists of words. */
  readonly annotations?: Readonly<Record<string, readonly string[]>>;
}

/** A plugin of others as a provenance lists it. */
export interface AttestedPlugin {
  readonly name: string;
  /** Where it is kept, and its version. */
  readonly uri: string;
  readonly sha256: string;
  /** Kind and name of each rule and part. Empty if the provenance does not list them. */
  readonly brings: readonly string[];
  /** Hosts, secrets and files that it was given, in words. */
  readonly given: readonly string[];
}

/** Name and URI prefix of a plugin in the resolved dependencies. */
export const pluginDependency = { name: 'plugin/', uri: 'urn:writ:plugin:' } as const;

/** A sealed decision to attest. It holds all data of the statement; the attestor reads no other source. */
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
  /** The commit with the configuration, plugins, policies and signers that applied. */
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
  /** Calls of models that led to the change; absent where no model made it. */
  readonly models?: readonly ModelWork[];
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
  /** `.writ/allowed_signers` at the policy commit; empty if no one may approve. */
  readonly allowedSigners: Uint8Array;
  /** Decides again, for a verifier that has no rules of deciding. */
  readonly replay: ReplayRecord;
  readonly contentPaths: readonly string[];
  readContent(path: string): Promise<Uint8Array | undefined>;
  /** Reads a file of a locally available commit. `bytes` is absent if the commit has no such file. */
  readAt?(commit: string, path: string): Promise<{ readonly bytes?: Uint8Array } | undefined>;
  /** What the objects of the sealed tree are by their bytes. */
  hashTree?(tree: string): Promise<HashedTree>;
  /** Lists authors, co-authors and committers of `base..tip`, as far as the commits are available locally. */
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
  /** Signs the statements about findings that the provenance lists. Logs none of them. Throws SIGNER_FAILED. */
  signFindings(request: AttestRequest, parties: SealingParties): Promise<readonly SealedFile[]>;
  /** Returns the signed envelope of the provenance, without logging it. Throws SIGNER_FAILED. */
  sign(request: AttestRequest, parties: SealingParties): Promise<Uint8Array>;
  /** Returns an envelope that revokes the claim of `sign`, because the seal did not come into effect. */
  signRevocation(request: AttestRequest, parties: SealingParties, reason: string): Promise<Uint8Array>;
  /**
   * Logs an envelope from `sign`, unless the log already contains it after entry `behind`. Throws LOG_FAILED; an
   * entry is logged completely or not at all.
   */
  log(envelope: Uint8Array, parties: SealingParties, behind: number): Promise<Attestation>;
  /**
   * Signs the documents that depend on a logged provenance: the verdict and, last, the manifest of every file in
   * `recorded`. Throws SIGNER_FAILED.
   */
  signSummary(
    request: AttestRequest,
    recorded: ReadonlyMap<string, Uint8Array>,
    parties: SealingParties,
  ): Promise<readonly SealedFile[]>;
  /**
   * Runs the verifier's checks that do not depend on the seal, above all approvals and replay. Returns the refusals;
   * empty if there are none.
   */
  verifyDecided(request: AttestRequest, evidence: SealedEvidence): Promise<readonly string[]>;
  /**
   * Verifies a whole evidence set, approvals and replay included, with the run's own key and log. Returns the
   * refusals; empty if it verifies.
   */
  verify(evidence: SealedEvidence, parties: SealingParties): Promise<readonly string[]>;
  /** Signs what a run that waits leaves for others to go on from: these files, by digest. SIGNER_FAILED. */
  signWaiting(
    runId: string,
    files: ReadonlyMap<string, Uint8Array>,
    parties: SealingParties,
  ): Promise<Uint8Array>;
  /**
   * What one of these public keys (PEM) signed for that run: exactly these files, or others. `undefined`: nothing.
   * KEY_UNUSABLE for a key that is none.
   */
  isWaitingSignedBy(
    bundle: Uint8Array,
    runId: string,
    files: ReadonlyMap<string, Uint8Array>,
    keys: readonly string[],
  ): 'these' | 'others' | undefined;
  /**
   * Signs the provenance of an unsealed candidate, reads it back and checks the log. Returns the problems that would
   * make a seal fail. Keeps no result.
   */
  rehearse(request: AttestRequest, parties: SealingParties): Promise<readonly string[]>;
}

/**
 * The attestor, which signs statements, and the reader of people's approvals. An engine has one of each; its composer
 * provides them.
 */
export interface Attesting {
  readonly attestor: Attestor;
  readonly approvals: ApprovalReader;
}

/** `[signer] key` as its source read it: `form` names the source (slot `signer`), the rest is that source's own. */
export interface SignerKey {
  readonly form: string;
}

/** `[signer]`: the key that signs, and the settings that each key source read, each under its own name. */
export interface SignerConfig {
  readonly key: SignerKey;
  readonly [setting: string]: unknown;
}

/** `[log]` as parsed by each log, by the log's name (slot `log`). Only that log reads its value. */
export type LogConfig = Readonly<Record<string, unknown>>;

/** What the parties of a seal are opened with. */
export interface SealingPlace {
  readonly repository: RepositoryPlace;
  /** The repository's common git directory. */
  readonly commonDir: string;
  /** `provenance.transparencyLog.mode` of the spec. */
  readonly logMode: string;
  /** `[signer]` and `[log]` at the policy commit. */
  readonly config: { readonly signer: SignerConfig; readonly log: LogConfig };
  /** The caller only checks that it opens: a missing key is not created. */
  readonly dry?: boolean;
  /** The log of a plugin that the policy commit lists, by its name. */
  readonly outsideLog?: (name: string) => OutsideLog | undefined;
  /** A file of the policy commit's tree; `undefined` where there is none. */
  readPolicy(path: string): Promise<Uint8Array | undefined>;
}

/** Makes raw signatures with one key (slot `signer`). Never exposes the private key. */
export interface Signer {
  readonly algorithm: 'ecdsa-p256-sha256' | 'ed25519';
  /** Lower-case hex SHA-256 of the SubjectPublicKeyInfo DER: what a verifier pins. */
  readonly keyId: string;
  /** SubjectPublicKeyInfo, PEM. */
  readonly publicKeyPem: string;
  /** True for a throw-away key that no later verifier can have pinned. */
  readonly ephemeral: boolean;
  /** The DER certificate that binds the key to an identity, after a signature was made. Absent for a managed key. */
  certificate?(): Uint8Array;
  /** A verified RFC 3161 response (DER) over a signature of `data`; present if the log signs no time. SIGNER_FAILED. */
  timestamp?(data: Uint8Array, signature: Uint8Array): Promise<Uint8Array>;
  /** ECDSA: ASN.1 DER signature over SHA-256 of `data`. Ed25519: pure EdDSA over `data`. */
  sign(data: Uint8Array): Promise<Uint8Array>;
}

/** A further key of `[signer]` that belongs to one source. */
export interface SignerSetting {
  /** As it is written: `fulcio_url`. */
  readonly key: string;
  /** As the configuration holds it. */
  readonly name: string;
  /** In words what was expected; the value is never repeated. */
  parse(text: string): { readonly value: unknown } | { readonly expected: string };
  /** Why it is refused beside a key of another source. */
  readonly misplaced: string;
}

/** The form of `[signer]` for the keys of one source. */
export interface SignerForm<Key extends SignerKey = SignerKey> {
  /**
   * The notation of such a key, for messages: `file:PATH`. Absent for the source that is used if no key is
   * configured.
   */
  readonly usage?: string;
  readonly settings?: readonly SignerSetting[];
  /**
   * Parses the text after the form and its colon; `rest` is absent if there is no colon. Returns `undefined` if it is
   * not a key of this source. `expected` states the expected form, never the value: someone may have pasted the key
   * itself.
   */
  parse(rest: string | undefined): Key | { readonly expected: string } | undefined;
}

/** Where keys come from (slot `signer`): one source per form of key. */
export interface SignerSource<Key extends SignerKey = SignerKey> extends SignerForm<Key> {
  /**
   * Opens or makes the key. Throws SIGNER_EPHEMERAL, SIGNER_UNSUPPORTED, KEY_INSECURE, KEY_UNUSABLE or SIGNER_FAILED;
   * never falls back to another key. `place` is what a key that others certify needs besides.
   */
  open(key: Key, place?: SealingPlace): Promise<Signer>;
}

/** Proof that a log contains an entry, sufficient for offline verification (RFC 6962 2.1.1, C2SP tlog-checkpoint). */
export interface LogProof extends OutsideProof {
  readonly origin: string;
  /** The entry as logged; its leaf hash is what the path starts from. */
  readonly body: Uint8Array;
  /** Id of a public log, 32 octets, as its trusted root has it; that of an internal one follows from its key. */
  readonly logId?: Uint8Array;
  /**
   * The promise of a Rekor v1 log when it accepted the entry: the only time in a proof that a third party vouches
   * for.
   */
  readonly promise?: InclusionPromise;
}

/** A signed entry timestamp (Rekor v1). */
export interface InclusionPromise {
  /** Seconds since the epoch. */
  readonly integratedTime: number;
  /** Number of the entry over all trees of the log; `LogProof.logIndex` counts in its own tree. */
  readonly logIndex: number;
  /** The log's signature over entry, time, number and its id. */
  readonly signature: Uint8Array;
}

export interface AppendOptions {
  /**
   * A log size from before the first submission of this entry. If the same bytes already follow that size, that entry
   * is returned and none is appended. For callers that may stop after appending and before recording it.
   */
  readonly behind?: number;
}

/** An append-only log. `append` resolves after the entry is durable and a checkpoint covers it. */
export interface TransparencyLog extends Pick<OutsideLog, 'consistency'> {
  readonly mode: string;
  /**
   * The log's name and Ed25519 key, `name+hint+base64` (C2SP signed-note): what a verifier pins. A public log is known
   * by its trusted root instead.
   */
  vkey(): Promise<string | undefined>;
  /** Sigstore TrustedRoot (JSON) that the answers of a public log are checked against. */
  readonly trustedRoot?: Uint8Array;
  append(body: Uint8Array, options?: AppendOptions): Promise<LogProof>;
  /**
   * Number of entries that a checkpoint covers. 0 if there is no log yet, and for a public log, which is not queried.
   */
  size(): Promise<number>;
}

/** What of `[log]` a log reads. */
export interface LogForm {
  /** Reads its own keys; absent for one that has none. What it answers is `place.config.log` under its name. */
  readSection?(section: ConfigSection): unknown;
}

/** Opens the log of one repository (slot `log`, by `provenance.transparencyLog.mode`); mode `none` has none. */
export interface LogSource extends LogForm {
  open(place: SealingPlace, signer: Signer): Promise<TransparencyLog | undefined>;
}

/** A log that somebody else's plugin speaks to: whatever it answers is checked before it counts. */
export interface OutsideLog {
  append(body: Uint8Array, behind: number): Promise<OutsideProof>;
  size(): Promise<number>;
  /**
   * Nodes that prove that the first `from` entries are a prefix of the first `to` (RFC 9162, 2.1.4). The caller
   * verifies them.
   */
  consistency?(from: number, to: number): Promise<Pick<OutsideProof, 'hashes'>>;
}

/** The part of a `LogProof` that such a log provides. */
export interface OutsideProof {
  readonly logIndex: number;
  readonly treeSize: number;
  /** RFC 6962 root and audit path, leaf to root. */
  readonly rootHash: Uint8Array;
  readonly hashes: readonly Uint8Array[];
  /** Signed note text. */
  readonly checkpoint: string;
}

/**
 * Repeats the decisions of a run from the files of its record, by path. Compares the results with the digests that a
 * third party recorded. Returns the first difference, or `undefined` if the record reproduces itself byte for byte.
 */
export type ReplayRecord = (
  files: ReadonlyMap<string, Uint8Array>,
  listed?: ReadonlyMap<string, string>,
) => Promise<Difference | undefined>;

/**
 * A section of the config, as its consumer reads it. A key that the consumer reads is known; every other key is
 * refused. Faults are collected and reported together. After a fault, the value is returned as if the key were
 * absent.
 */
export interface ConfigSection {
  /** Whether the key is present, whatever its value. */
  has(key: string): boolean;
  /** 1 to 4096 characters without control characters. */
  text(key: string): string | undefined;
  /** The address of a service, without a slash at its end; a refused one is not repeated. */
  url(key: string): string | undefined;
  /** A path in the tree of the policy commit; below `.writ/` only in `trust/`, where no patch can change it. */
  path(key: string): string | undefined;
  /** Refuses the value of the key; `message` states the expected form. Never repeat a value that may be secret. */
  refuse(key: string, message: string): void;
}
