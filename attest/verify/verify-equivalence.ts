import type { CarryReader } from '../../core/interfaces/approval.ts';
import { findCarryFault } from '../../store/record/carry-fault.ts';
import { type CarriedCandidate, equivalenceType } from '../statement/approval-equivalence.ts';
import type { CheckList } from './check-list.ts';
import { type EvidenceSource, runFiles } from './evidence-source.ts';
import type { DecisionClaims } from './predicates/read-decision.ts';
import { type EquivalenceClaims, readEquivalence } from './predicates/read-equivalence.ts';
import type { ProvenanceClaims } from './provenance-claims.ts';
import { readCompanion } from './read-statement.ts';
import { refuted, unavailable } from './report.ts';
import type { RunSigner } from './run-signer.ts';
import { readShown } from './shown-verdict.ts';
import type { VerifiedSpec } from './verify-spec.ts';

/** Id of the check that a run with carried approvals has. */
export const equivalenceCheck = 'approvals-carried';

/** Candidates whose approvals carry over to the sealed one. */
export type Carried = readonly Pick<CarriedCandidate, 'baseCommit' | 'tree'>[];

/**
 * Verifies that approvals of earlier candidates count for the sealed one (`docs/decisions/0021-carried-approvals.md`):
 * the signer of the provenance says so of this run, this spec, this patch and the verdict that was shown, and the git
 * objects bear it out. Runs with no such statement have no such check; an approval of another candidate then is
 * `wrong-subject`.
 */
export async function verifyEquivalence(
  list: CheckList,
  source: EvidenceSource,
  signer: RunSigner,
  claims: ProvenanceClaims,
  spec: VerifiedSpec | undefined,
  decision: DecisionClaims | undefined,
): Promise<Carried> {
  const bytes = await source.readRun(runFiles.equivalence);
  if (bytes === undefined) return [];
  list.expect(equivalenceCheck);
  const carried = await list.judge(
    equivalenceCheck,
    async () => {
      const found = readEquivalence(readCompanion(bytes, equivalenceType, signer, claims));
      if (!spec || !decision) throw unavailable('not-run');
      requireSame(found, claims, { intentspec: spec.digest, verdict: (await readShown(source)).verdict });
      const counted = decision.approvals.map(({ digest }) => digest);
      for (const digest of found.carried.flatMap(({ approvals }) => approvals))
        requireEqual('approvals', 'an approval that the decision names', digest, counted.includes(digest));
      await requireEquivalent(source.carry, claims, found.carried);
      return found.carried;
    },
    (found) => ({ from: found.map(({ tree }) => tree), to: claims.tree }),
  );
  return carried ?? [];
}

/** The same demands on what is about to be signed. */
export async function verifyCarried(
  list: CheckList,
  source: EvidenceSource,
  claims: ProvenanceClaims,
  carried: Carried,
): Promise<Carried> {
  if (carried.length === 0) return [];
  list.expect(equivalenceCheck);
  const found = await list.judge(equivalenceCheck, async () => {
    await requireEquivalent(source.carry, claims, carried);
    return carried;
  });
  return found ?? [];
}

/** The statement is about the sealed change and about nothing else. */
function requireSame(
  { runId, digests, candidate, carried }: EquivalenceClaims,
  claims: ProvenanceClaims,
  expected: Readonly<Record<'intentspec' | 'verdict', string>>,
): void {
  if (runId !== claims.runId) throw refuted('wrong-run', { expected: claims.runId, found: runId });
  const pairs: readonly (readonly [member: string, expected: string, found: string])[] = [
    ['intentspec', expected.intentspec, digests.intentspec],
    ['verdict', expected.verdict, digests.verdict],
    ['patchset', claims.patchset, digests.patchset],
    ['candidate/baseCommit', claims.base ?? 'none', candidate.baseCommit],
    ['candidate/tree', claims.tree, candidate.tree],
  ];
  for (const [member, wanted, found] of pairs) requireEqual(member, wanted, found, wanted === found);
  if (carried.length === 0) throw refuted('malformed', { expected: 'a candidate', found: 'none' });
}

function requireEqual(member: string, expected: string, found: string, holds: boolean): void {
  if (!holds) throw refuted('mismatch', { member, expected, found });
}

/** Recomputes the canonical patches from git objects, and reads the opt-in at both bases. */
async function requireEquivalent(
  reader: CarryReader | undefined,
  { base, policy, tree, patchset }: ProvenanceClaims,
  carried: Carried,
): Promise<void> {
  if (reader === undefined)
    throw unavailable('missing', { expected: 'the repository, with both candidates', found: 'none' });
  if (base === undefined || policy !== base)
    throw refuted('policy-deny', { expected: policy ?? 'a policy commit', found: base ?? 'no base' });
  const found = await reader.patchDigest(base, tree);
  if (found === undefined) throw unavailable('missing', { expected: `the patch to tree ${tree}` });
  requireEqual('patchset', patchset, found, found === patchset);
  const now = { baseCommit: base, candidateTree: tree };
  for (const one of carried) {
    const earlier = { baseCommit: one.baseCommit, candidateTree: one.tree };
    const fault = await findCarryFault(reader, earlier, now, patchset);
    if (fault === undefined) continue;
    const { reason, ...detail } = fault;
    throw reason === 'missing' ? unavailable(reason, detail) : refuted(reason, detail);
  }
}
