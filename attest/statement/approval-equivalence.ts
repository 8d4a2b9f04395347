import type { AttestRequest } from '../../core/interfaces/sealing.ts';
import { subjectsOf } from './build-provenance.ts';
import { type DigestSet, type Statement, statementType } from './statement.ts';

/** Our own predicate (`docs/schemas/approval-equivalence.v1.json`, `docs/decisions/0021-carried-approvals.md`). */
export const equivalenceType = 'urn:writ:predicate:approval-equivalence:v1';

interface Digested {
  readonly digest: DigestSet;
}

interface BasedTree {
  readonly baseCommit: string;
  readonly tree: DigestSet;
}

/** That approvals of earlier candidates count for the sealed one: same canonical patch, same verdict. */
export interface EquivalencePredicate {
  readonly runId: string;
  readonly intentspec: Digested;
  /** SHA-256 of the canonical patch, which is the same from each base to its tree. */
  readonly patchset: Digested;
  /** Digest of the verdict that people signed and that the gates came to for the sealed candidate. */
  readonly verdict: Digested;
  /** The sealed candidate; its base is the policy commit. */
  readonly candidate: BasedTree;
  /** The candidates that people approved, with the digests of the signed statements. */
  readonly carried: readonly (BasedTree & { readonly approvals: readonly Digested[] })[];
}

type EquivalenceStatement = Statement<typeof equivalenceType, EquivalencePredicate>;

/** The statement about the approvals that carry over; `undefined` if none does. */
export function buildEquivalence(
  request: Pick<
    AttestRequest,
    'runId' | 'commit' | 'tree' | 'baseCommit' | 'patchDigest' | 'specDigest' | 'approvals'
  >,
): EquivalenceStatement | undefined {
  const carried = carriedIn(request);
  const [first] = carried;
  if (first === undefined) return undefined;
  return {
    _type: statementType,
    subject: subjectsOf(request),
    predicateType: equivalenceType,
    predicate: {
      runId: request.runId,
      intentspec: { digest: { sha256: request.specDigest } },
      patchset: { digest: { sha256: request.patchDigest } },
      verdict: { digest: { sha256: first.verdict } },
      candidate: { baseCommit: request.baseCommit ?? '', tree: { gitTree: request.tree } },
      carried: carried.map(({ baseCommit, tree, approvals }) => ({
        baseCommit,
        tree: { gitTree: tree },
        approvals: approvals.map((sha256) => ({ digest: { sha256 } })),
      })),
    },
  };
}

/** An earlier candidate, and the digests of its approvals that count. */
export interface CarriedCandidate {
  readonly baseCommit: string;
  readonly tree: string;
  readonly verdict: string;
  readonly approvals: readonly string[];
}

/** The earlier candidates whose approvals count, each once. */
export function carriedIn({ approvals }: Pick<AttestRequest, 'approvals'>): readonly CarriedCandidate[] {
  const found = new Map<string, CarriedCandidate>();
  for (const { status, decision, earlier, digest } of approvals) {
    if (status !== 'counts' || decision !== 'approve' || earlier === undefined) continue;
    const { baseCommit, candidateTree: tree, gateReportDigest: verdict } = earlier;
    const key = `${baseCommit} ${tree}`;
    const known = found.get(key)?.approvals ?? [];
    found.set(key, { baseCommit, tree, verdict, approvals: [...known, digest] });
  }
  return [...found.values()];
}
