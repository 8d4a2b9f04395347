import { sha256Hex } from '../../core/base/digest.ts';
import { isWritError } from '../../core/base/errors.ts';
import type { ApprovalVerdict, ReceivedApproval } from '../../core/interfaces/approval.ts';
import type { GateReport } from '../../store/record/gate-report.ts';
import { parseApprovalDocument } from '../approval/approval-document.ts';
import { parseApproval } from '../approval/approval-statement.ts';
import { expectArray, expectObject, expectText, parseJsonObject } from '../encoding/expect-json.ts';
import type { CheckList } from './check-list.ts';
import type { EvidenceSource } from './evidence-source.ts';
import type { GitCommit } from './git-commit.ts';
import type { DecisionClaims } from './predicates/read-decision.ts';
import type { ProvenanceClaims } from './provenance-claims.ts';
import { refuted, unavailable } from './report.ts';
import { type Carried, equivalenceCheck } from './verify-equivalence.ts';
import type { VerifiedSpec } from './verify-spec.ts';

/** As many as a decision may name. */
const maxApprovals = 1000;
const maxAuthorsBytes = 1024 * 1024;

/** What a decision says of who approved it. */
type ApprovalClaims = Pick<DecisionClaims, 'baseCommit' | 'approvers' | 'approvals'>;

/**
 * The approvals that the decision rests on. With a signers file of the verifier's own, each is judged anew, as of when
 * it came: enough distinct people, none of them an author, for the verdict that the gates came to. Without one they are
 * told as the repository counted them, and not counted here (resolutions, Trust anchors). What the Scheduler's own
 * process signed counts only where the signed decision marks it so; the two never differ. `isDemanded`: at least one
 * must count, whatever the contract says. `carried`: earlier candidates whose approvals count too.
 */
export async function verifyApprovals(
  list: CheckList,
  source: EvidenceSource,
  claims: ProvenanceClaims,
  spec: VerifiedSpec | undefined,
  decision: ApprovalClaims | undefined,
  commit: GitCommit | undefined,
  allowedSigners: Uint8Array | undefined,
  carried: Carried = [],
  isDemanded = false,
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
      if (!decision || !spec || !commit) throw unavailable('not-run');
      // Without signers of one's own there is nothing to judge by.
      const { readApprovals } = await import('../approval/read-approvals.ts');
      const { readShown } = await import('./shown-verdict.ts');
      const { shown, final, verdict } = await readShown(source);
      const verdicts = await readApprovals(await receivedApprovals(source, paths, claims), {
        subject: {
          runId: claims.runId,
          baseCommit: decision.baseCommit,
          candidateTree: claims.tree,
          patchDigest: claims.patchset,
          specDigest: spec.digest,
          gateReportDigest: verdict,
        },
        allowedSigners,
        authors: await deriveAuthors(source, { spec, commit, decision, reports: [final, shown] }),
        receivedAtMs: claims.finishedAtMs,
        inProcess: true,
        carryFault: async (earlier) =>
          carried.some((one) => one.baseCommit === earlier.baseCommit && one.tree === earlier.candidateTree)
            ? undefined
            : 'no verified equivalence statement names that candidate',
      });
      const isCarryMissing = list.statusOf(equivalenceCheck) === 'missing';
      return requireApproved(verdicts, decision, needed, isDemanded, isCarryMissing);
    },
    (counted) => ({ principals: peopleIn(counted), ...inProcessOf(counted) }),
  );
}

/**
 * Who made the change (`docs/approval.md`, Authors), out of what was signed or is git's own: the contract, the sealed
 * commit, the gate report, the commits of a range where they are at hand. What the record lists beside that can only
 * add.
 */
async function deriveAuthors(
  source: EvidenceSource,
  {
    spec,
    commit,
    decision,
    reports,
  }: {
    readonly spec: VerifiedSpec;
    readonly commit: GitCommit;
    readonly decision: ApprovalClaims;
    readonly reports: readonly Pick<GateReport, 'authorship'>[];
  },
): Promise<readonly string[]> {
  const listed = await source.readRun('approvals/authors.json');
  const { authors } = listed === undefined ? { authors: [] } : parseJsonObject(listed, maxAuthorsBytes);
  const stated = expectArray(authors, '/authors', 100_000).map((author, n) =>
    expectText(author, `/authors/${n}`),
  );
  const tips = [...new Set(reports.flatMap(({ authorship: { tip } }) => tip ?? []))];
  const ofRange = await Promise.all(tips.map((tip) => source.listPeople?.(decision.baseCommit, tip) ?? []));
  const made = reports.flatMap(({ authorship: { authors, committers, broughtBy } }) => [
    ...authors,
    ...committers,
    ...(broughtBy === undefined ? [] : [broughtBy]),
  ]);
  const all = [...spec.demands.makers, ...commit.authors, ...made, ...ofRange.flat(), ...stated];
  return [...new Set(all.filter((one) => one !== ''))];
}

/**
 * Each approval with the time at which the Scheduler says that it came, where that lies within the run; else the run's
 * end.
 */
async function receivedApprovals(
  source: EvidenceSource,
  paths: readonly string[],
  { startedAtMs, finishedAtMs }: ProvenanceClaims,
): Promise<readonly ReceivedApproval[]> {
  const listed = await source.readRun('approvals/received.json');
  const { received } = listed === undefined ? { received: {} } : parseJsonObject(listed, maxAuthorsBytes);
  const times = expectObject(received, '/received');
  return Promise.all(
    paths.map(async (path) => {
      const bytes = await required(source, path);
      const digest = sha256Hex(bytes);
      const stated = Object.hasOwn(times, digest)
        ? Date.parse(expectText(times[digest], '/received'))
        : Number.NaN;
      const isWithin = stated >= startedAtMs && stated <= finishedAtMs;
      return { source: path, bytes, receivedAtMs: isWithin ? stated : finishedAtMs };
    }),
  );
}

/** A stored approval that says who signed it otherwise than the decision does. */
async function differenceOfMarks(
  source: EvidenceSource,
  paths: readonly string[],
  { approvals }: ApprovalClaims,
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
  decision: ApprovalClaims,
  needed: number,
  isDemanded: boolean,
  isCarryMissing: boolean,
): readonly ApprovalVerdict[] {
  const isMarked = (verdict: ApprovalVerdict): boolean =>
    decision.approvals.some(({ digest, inProcess }) => inProcess && digest === verdict.digest);
  const counted = verdicts.filter(
    (verdict) => verdict.status === 'counts' && (!verdict.inProcess || isMarked(verdict)),
  );
  if (counted.some((verdict) => verdict.decision === 'reject'))
    throw refuted('policy-deny', { found: 'a rejection' });
  const people = peopleIn(counted);
  // Nobody was asked and nobody counted: what was signed all the same takes nothing away.
  const least = Math.max(needed, new Set(decision.approvers).size);
  if (people.length >= Math.max(least, isDemanded ? 1 : 0)) return counted;
  const others = verdicts.filter((verdict) => !counted.includes(verdict));
  const detail = {
    expected: Math.max(least, 1),
    found: people,
    uncounted: others.map(
      ({ source, status }) => `${source}: ${status === 'counts' ? 'in-process' : status}`,
    ),
  };
  // The contract asked for nobody; only who verifies does, and nothing that was signed is refuted.
  if (people.length >= least) throw unavailable('missing', detail);
  // Objects are missing that would show whether approvals of an earlier candidate count.
  const open: readonly string[] = ['wrong-subject', 'untrusted-signer'];
  if (isCarryMissing && others.every(({ status }) => open.includes(status)))
    throw unavailable('missing', detail);
  // Nobody whom the verifier knows is no refutation; a signature that does not hold is one.
  if (others.some(({ status }) => status !== 'untrusted-signer')) throw refuted('policy-deny', detail);
  throw unavailable(others.length === 0 ? 'missing' : 'untrusted-signer', detail);
}
