import { sha256Hex } from '../../core/base/digest.ts';
import { isWritError } from '../../core/base/errors.ts';
import type { ApprovalVerdict } from '../../core/contract/approval.ts';
import { parseApprovalDocument } from '../approval/approval-document.ts';
import { parseApproval } from '../approval/approval-statement.ts';
import { expectArray, expectText, parseJsonObject } from '../expect-json.ts';
import type { CheckList } from './check-list.ts';
import type { EvidenceSource } from './evidence-source.ts';
import type { DecisionClaims } from './predicates/read-decision.ts';
import type { ProvenanceClaims } from './provenance-claims.ts';
import { refuted, unavailable } from './report.ts';
import type { VerifiedSpec } from './verify-spec.ts';

/** As many as a decision may name. */
const maxApprovals = 1000;
const maxAuthorsBytes = 1024 * 1024;

/**
 * The approvals that the decision rests on. With a signers file of the verifier's own, each is judged anew, as of the end of the run: enough distinct
 * people, none of them an author. Without one they are told as the repository counted them, and not counted here (resolutions, Trust anchors). What the
 * Scheduler's own process signed counts only where the signed decision marks it so; the two never differ.
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
  if (paths.length > maxApprovals) {
    const detail = { expected: `at most ${maxApprovals}`, found: paths.length };
    list.settle('approvals', 'failed', 'malformed', detail);
    return;
  }
  const difference = decision && (await differenceOfMarks(source, paths, decision));
  if (difference) {
    await list.judge('approvals', () => {
      throw refuted('policy-deny', difference);
    });
    return;
  }
  if (allowedSigners === undefined) {
    if (decision)
      list.waive('approvals', 'per-repository', {
        found: decision.approvers,
        ...inProcessOf(decision.approvals),
      });
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
      // Without signers of one's own there is nothing to judge by.
      const { readApprovals } = await import('../approval/read-approvals.ts');
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
        inProcess: true,
      });
      return requireApproved(verdicts, decision, needed);
    },
    (counted) => ({ principals: peopleIn(counted), ...inProcessOf(counted) }),
  );
}

/** A stored approval that says who signed it otherwise than the decision does. */
async function differenceOfMarks(
  source: EvidenceSource,
  paths: readonly string[],
  { approvals }: DecisionClaims,
): Promise<Readonly<Record<string, string>> | undefined> {
  for (const path of paths) {
    const bytes = await source.readRun(path);
    const stored = bytes && readMark(bytes);
    const said = approvals.find(({ digest }) => digest === stored?.digest);
    if (stored === undefined || said === undefined || said.inProcess === stored.inProcess) continue;
    const words = (inProcess: boolean): string => (inProcess ? 'in process' : 'by a person');
    return { path, expected: words(said.inProcess), found: words(stored.inProcess) };
  }
  return undefined;
}

/** What an approval says of itself, whoever signed it; `undefined` where it cannot be read. */
function readMark(bytes: Uint8Array): { readonly digest: string; readonly inProcess: boolean } | undefined {
  try {
    const { statement } = parseApprovalDocument(bytes);
    const { predicate } = parseApproval(statement);
    return { digest: sha256Hex(statement), inProcess: predicate.inProcess === true };
  } catch (fault) {
    if (isWritError(fault)) return undefined;
    throw fault;
  }
}

function inProcessOf(approvals: readonly { readonly principal: string; readonly inProcess?: boolean }[]): {
  readonly in_process?: readonly string[];
} {
  const found = peopleIn(approvals.filter(({ inProcess }) => inProcess));
  return found.length === 0 ? {} : { in_process: found };
}

function peopleIn(approvals: readonly { readonly principal: string }[]): readonly string[] {
  return [...new Set(approvals.map(({ principal }) => principal))].sort();
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
): readonly ApprovalVerdict[] {
  const isMarked = (verdict: ApprovalVerdict): boolean =>
    decision.approvals.some(({ digest, inProcess }) => inProcess && digest === verdict.digest);
  const counted = verdicts.filter(
    (verdict) => verdict.status === 'counts' && (!verdict.inProcess || isMarked(verdict)),
  );
  if (counted.some((verdict) => verdict.decision === 'reject'))
    throw refuted('policy-deny', { found: 'a rejection' });
  const people = peopleIn(counted);
  const least = Math.max(1, needed, new Set(decision.approvers).size);
  if (people.length >= least) return counted;
  const others = verdicts.filter((verdict) => !counted.includes(verdict));
  const detail = {
    expected: least,
    found: people,
    uncounted: others.map(
      ({ source, status }) => `${source}: ${status === 'counts' ? 'in-process' : status}`,
    ),
  };
  // Nobody whom the verifier knows is no refutation; a signature that does not hold is one.
  if (others.some(({ status }) => status !== 'untrusted-signer')) throw refuted('policy-deny', detail);
  throw unavailable(others.length === 0 ? 'missing' : 'untrusted-signer', detail);
}
