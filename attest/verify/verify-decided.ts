import { canonicalize } from '../../core/base/canonical.ts';
import type { AttestRequest, SealedEvidence } from '../../core/interfaces/sealing.ts';
import { carriedIn } from '../statement/approval-equivalence.ts';
import { buildDecision } from '../statement/decision-statement.ts';
import type { ProvenanceStatement } from '../statement/slsa-provenance.ts';
import { CheckList } from './check-list.ts';
import { parseCommit } from './git-commit.ts';
import { readProvenance } from './provenance-claims.ts';
import { refuted } from './report.ts';
import { verifyApprovals } from './verify-approvals.ts';
import { verifyCarried } from './verify-equivalence.ts';
import { refusalsIn, toOwnSource } from './verify-own-seal.ts';
import { verifyReplay } from './verify-replay.ts';
import { verifySpec } from './verify-spec.ts';
import { treeChecks, verifyTree } from './verify-tree.ts';

/**
 * What a stranger demands of a change whether or not anything is signed for it: the commit holds the candidate and the
 * repository its bytes, the contract is the one that was decided on, enough people approved it by the signers at the
 * policy commit, and the record leads to the decision. `provenance` is what would be signed. Each refusal as `check
 * status code`.
 */
export async function verifyDecided(
  request: AttestRequest,
  provenance: ProvenanceStatement,
  evidence: SealedEvidence,
): Promise<readonly string[]> {
  const list = new CheckList('replay');
  list.expect('subject-tree', 'spec', 'replay');
  const source = toOwnSource(evidence);
  const claims = readProvenance(Buffer.from(canonicalize(provenance)));
  const commit = parseCommit(evidence.commit.raw);
  await list.judge('subject-tree', () => {
    if (commit?.tree !== claims.tree)
      throw refuted('wrong-subject', { expected: claims.tree, found: commit?.tree ?? 'none' });
  });
  // Once: what is verified again after signing does not touch the tree.
  const { hashTree } = evidence;
  const stored = { ...source, ...(hashTree ? { hashTree } : {}) };
  list.expect(...treeChecks(stored));
  await verifyTree(list, stored, claims.tree);
  const spec = await list.judge('spec', () => {
    if (commit === undefined) throw refuted('malformed', { found: 'not a commit object' });
    return verifySpec(source, commit, claims, request.specDigest);
  });
  const { baseCommit, approvals } = buildDecision(request).predicate;
  const counted = approvals.map(({ principal, digest, inProcess }) => ({
    principal,
    digest: digest.sha256 ?? '',
    inProcess: inProcess === true,
  }));
  const decision = { baseCommit, approvals: counted, approvers: counted.map(({ principal }) => principal) };
  const carried = await verifyCarried(list, source, claims, carriedIn(request));
  await verifyApprovals(list, source, claims, spec, decision, commit, evidence.allowedSigners, carried);
  await list.judge('replay', () => verifyReplay(source, claims, evidence.replay));
  return refusalsIn(list.report());
}
