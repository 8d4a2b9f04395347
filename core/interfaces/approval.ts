/** The subject of an approval. Every field must match this run, or the approval does not count. */
export interface ApprovalSubject {
  readonly runId: string;
  readonly baseCommit: string | null;
  readonly candidateTree: string;
  readonly patchDigest: string;
  readonly specDigest: string;
  /** Digest of the verdict in the gate report that people were shown (`store/record/verdict.ts`). */
  readonly gateReportDigest: string;
}

/** An earlier candidate of the same run and spec, and the verdict that people were shown for it. */
export type EarlierCandidate = Pick<ApprovalSubject, 'candidateTree' | 'gateReportDigest'> & {
  readonly baseCommit: string;
};

/** Changed paths that one of their owners has to approve (`.writ/owners`), and who of them has. */
export interface OwnedPaths {
  /** Of the line that decides about them. */
  readonly pattern: string;
  readonly owners: readonly string[];
  /** The people behind those names. */
  readonly principals: readonly string[];
  /** The first of `count` paths. */
  readonly paths: readonly string[];
  readonly count: number;
  readonly approved: readonly string[];
}

/** Git objects that show who owns changed paths, and whether a candidate is equivalent to an earlier one. */
export interface CarryReader {
  /** By the file at the policy commit; `undefined` if objects are missing. Throws CONFIG_INVALID. */
  ownedPaths(policy: string, base: string, tree: string): Promise<readonly OwnedPaths[] | undefined>;
  /** Whether the configuration at a commit has `[approvals] carry = "equivalent"`; `undefined` without the commit. */
  carriesApprovals(commit: string): Promise<boolean | undefined>;
  /** `undefined` if one of the commits is missing. */
  isAncestor(ancestor: string, commit: string): Promise<boolean | undefined>;
  /** SHA-256 of the canonical patch from a commit to a tree; `undefined` if objects are missing. */
  patchDigest(baseCommit: string, tree: string): Promise<string | undefined>;
  /**
   * Returns the paths of the patch (from a commit to a tree) with different content at another commit. The canonical
   * patch names no blob for a mode change or an exact rename. Returns `undefined` if objects are missing.
   */
  editedPaths(baseCommit: string, tree: string, other: string): Promise<readonly string[] | undefined>;
}

/** One approval or rejection as its signature proves it, before approvals are counted. */
export interface ApprovalVerdict {
  /** `refs/ai/approvals/<run>/<n>`. */
  readonly source: string;
  /** Digest of the statement's bytes. */
  readonly digest: string;
  readonly decision: 'approve' | 'reject';
  /** Of this key in the allowed signers: the claimed one if it fits, else the first. Empty if nothing is proven. */
  readonly principal: string;
  /** `SHA256:…`; empty, like `signedAt`, in a document that cannot be read. */
  readonly keyId: string;
  readonly role?: string;
  readonly comment?: string;
  /** According to the statement, the Scheduler's own process signed it. */
  readonly inProcess?: true;
  /** RFC 3339, as the approver wrote it. */
  readonly signedAt: string;
  /** The earlier candidate of the run that was signed for; its approval carries over if the status is `counts`. */
  readonly earlier?: EarlierCandidate;
  /** `counts`, or why not. */
  readonly status: 'counts' | ApprovalProblem;
  /** For people: what was expected, what was found. */
  readonly detail?: string;
}

export type ApprovalProblem =
  | 'untrusted-signer'
  | 'expired'
  | 'not-yet-valid'
  | 'wrong-namespace'
  | 'wrong-subject'
  | 'malformed'
  | 'bad-signature'
  | 'author'
  | 'duplicate'
  | 'in-process';

/** Input for evaluating approvals. All of it comes from the policy commit or from the run, never from the candidate. */
export interface ApprovalGround {
  readonly subject: ApprovalSubject;
  /** `.writ/allowed_signers` at the policy commit. If the file is absent, no one may approve. */
  readonly allowedSigners: Uint8Array | undefined;
  /** Who may not approve: createdBy, the runner, authors and committers of the range, the coder actor. */
  readonly authors: readonly string[];
  /** The Scheduler's receipt time. */
  readonly receivedAtMs: number;
  /** `[approvals] in_process` at the policy commit. Absent: approvals made in process do not count. */
  readonly inProcess?: boolean;
  /**
   * Why an approval of an earlier candidate does not carry over to `subject`; `undefined` if it does. Called if base
   * and tree alone differ; absent: no approval carries over.
   */
  readonly carryFault?: (earlier: ApprovalSubject) => Promise<string | undefined>;
  /** How the verdict differs from earlier ones that were shown, in words, by their digests. */
  readonly differences?: ReadonlyMap<string, readonly string[]>;
}

/** A stored approval, and when the Scheduler first saw it; absent: the receipt time of the ground. */
export interface ReceivedApproval {
  readonly source: string;
  readonly bytes: Uint8Array;
  readonly receivedAtMs?: number;
}

/** Approves in the Scheduler's own process (`writ run --approve-with`). The signed statement records that. */
export interface InProcessApprover {
  /** Signs an approval of exactly this subject; returns the document to store. */
  approve(subject: ApprovalSubject, signedAtMs: number): Promise<Uint8Array>;
}

/** Verifies signed approvals offline. A bad approval is a verdict that does not count; it never throws. */
export interface ApprovalReader {
  /** Verdicts in the order given; a person counts once, and one rejection that counts is enough to end a run. */
  read(approvals: readonly ReceivedApproval[], ground: ApprovalGround): Promise<readonly ApprovalVerdict[]>;
  /** Returns whether a usable line of the allowed signers names a principal. */
  namesIn(allowedSigners: Uint8Array | undefined): Promise<(principal: string) => boolean>;
}
