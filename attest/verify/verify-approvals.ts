import { sha256Hex } from '../../core/base/digest.ts';
import type { ApprovalVerdict } from '../../core/contract/approval.ts';
import { readApprovals } from '../approval/read-approvals.ts';
import { expectArray, expectText, parseJsonObject } from '../expect-json.ts';
import type { CheckList } from './check-list.ts';
import type { EvidenceSource } from './evidence-source.ts';
import type { ProvenanceClaims } from './provenance-claims.ts';
import { refuted, unavailable } from './report.ts';
import type { VerifiedSpec } from './verify-spec.ts';
import type { DecisionClaims } from './verify-statements.ts';

const maxAuthorsBytes = 1024 * 1024;

/**
 * The approvals that the decision rests on. With a signers file of the verifier's own, each is judged anew, as of the end of the run: enough distinct
 * people, none of them an author. Without one they are told as the repository counted them, and not counted here (resolutions, Trust anchors).
 */
export async function verifyApprovals(
  list: CheckList,
  source: EvidenceSource,
  claims: ProvenanceClaims,
  spec: VerifiedSpec | undefined,
  decision: DecisionClaims | undefined,
  allowedSigners: Uint8Array | undefined,
): Promise<void> {
  const paths = (await source.listRun()).filter((path) => /^approvals\/\d+\.json$/.test(path)).sort();
  const needed = spec?.demands.approvers ?? 0;
  if (paths.length === 0 && needed === 0 && (decision?.approvers.length ?? 0) === 0) return;
  list.expect('approvals');
  if (allowedSigners === undefined) {
    if (decision) list.waive('approvals', 'per-repository', { found: decision.approvers });
    return;
  }
  await list.judge(
    'approvals',
    async () => {
      if (!decision || !spec) throw unavailable('not-run');
      const report = await required(source, 'approvals/gate-report.json');
      const { authors } = parseJsonObject(await required(source, 'approvals/authors.json'), maxAuthorsBytes);
      const received = await Promise.all(
        paths.map(async (path) => ({ source: path, bytes: await required(source, path) })),
      );
      const verdicts = await readApprovals(received, {
        subject: {
          runId: claims.runId,
          baseCommit: decision.baseCommit,
          candidateTree: claims.tree,
          patchDigest: claims.patchset,
          specDigest: spec.digest,
          gateReportDigest: sha256Hex(report),
        },
        allowedSigners,
        authors: expectArray(authors, '/authors', 100_000).map((author, n) =>
          expectText(author, `/authors/${n}`),
        ),
        receivedAtMs: claims.finishedAtMs,
      });
      return requireApproved(verdicts, decision, needed);
    },
    (principals) => ({ principals }),
  );
}

async function required(source: EvidenceSource, path: string): Promise<Uint8Array> {
  const bytes = await source.readRun(path);
  if (bytes === undefined) throw unavailable('missing', { path });
  return bytes;
}

function requireApproved(
  verdicts: readonly ApprovalVerdict[],
  decision: DecisionClaims,
  needed: number,
): readonly string[] {
  const counted = verdicts.filter(({ status }) => status === 'counts');
  if (counted.some((verdict) => verdict.decision === 'reject'))
    throw refuted('policy-deny', { found: 'a rejection' });
  const people = [...new Set(counted.map(({ principal }) => principal))].sort();
  const least = Math.max(1, needed, new Set(decision.approvers).size);
  if (people.length >= least) return people;
  const others = verdicts.filter(({ status }) => status !== 'counts');
  const detail = {
    expected: least,
    found: people,
    uncounted: others.map(({ source, status }) => `${source}: ${status}`),
  };
  // Nobody whom the verifier knows is no refutation; a signature that does not hold is one.
  if (others.some(({ status }) => status !== 'untrusted-signer')) throw refuted('policy-deny', detail);
  throw unavailable(others.length === 0 ? 'missing' : 'untrusted-signer', detail);
}
