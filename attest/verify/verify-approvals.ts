/* Verifies the approvals of a run, and those that carried over from an earlier candidate. */
import { sha256Hex } from '../../core/base/canonical.ts';
import { isWritError } from '../../core/base/errors.ts';
import type {
  ApprovalVerdict,
  CarryReader,
  OwnedPaths,
  ReceivedApproval,
} from '../../core/interfaces/approval.ts';
import { ownersPath, peopleAmong } from '../../readers/diff/owned-paths.ts';
import { findCarryFault } from '../../store/record/carry-fault.ts';
import type { GateReport } from '../../store/record/gate-report.ts';
import { parseApproval, parseApprovalDocument } from '../approval/approval-statement.ts';
import { expectArray, expectObject, expectText, parseJsonObject } from '../encoding/expect-json.ts';
import { type CarriedCandidate, equivalenceType } from '../statement/run-statements.ts';
import { type EvidenceSource, type GitCommit, readRequired, runFiles } from './evidence-source.ts';
import { type DecisionClaims, type EquivalenceClaims, readEquivalence } from './predicates/run-statements.ts';
import type { ProvenanceClaims } from './provenance-claims.ts';
import { refuted, unavailable } from './report.ts';
import type { RunFacts } from './sealed-run.ts';
import type { VerifiedSpec } from './verify-spec.ts';
import { readCompanion, readShown } from './verify-statements.ts';

/** A stored approval in the run tree. */
export const approvalPath = /^approvals\/\d+\.json$/;

/** As many as a decision may name. */
const maxApprovals = 1000;
const maxAuthorsBytes = 1024 * 1024;

/** Claims of a decision about its approvals. */
type ApprovalClaims = Pick<DecisionClaims, 'baseCommit' | 'approvers' | 'approvals'>;

type ApprovalFacts = Pick<RunFacts, 'list' | 'source' | 'claims' | 'spec' | 'commit'>;

interface ApprovalDemands {
  /** The verifier's own signers file; without one, approvals are reported and not counted. */
  readonly allowedSigners: Uint8Array | undefined;
  /** Earlier candidates with approvals that count too. */
  readonly carried: Carried;
  /** At least one approval must count, even if the spec requires none. */
  readonly isDemanded?: boolean;
}

/**
 * Verifies the approvals that the decision relies on. With the verifier's own signers file, each approval is
 * evaluated again as of its arrival. Enough distinct people, none of them an author, must have approved the verdict
 * of the gates.
 *
 * Without that file, the repository's count is reported, but no approval counts. A signature by the Scheduler's own
 * process counts only if the signed decision marks it as such, and the stored approval must have the same mark.
 */
export async function verifyApprovals(
  { list, source, claims, spec, commit }: ApprovalFacts,
  decision: ApprovalClaims | undefined,
  { allowedSigners, carried, isDemanded = false }: ApprovalDemands,
): Promise<void> {
  const paths = (await source.listRun()).filter((path) => approvalPath.test(path)).sort();
  const needed = spec?.demands.approvers ?? 0;
  const owners = await readOwnerDemands(source, claims);
  if ('found' in owners) {
    list.expect('approvals');
    list.refuse('approvals', refuted('policy-deny', { ...owners }));
    return;
  }
  const isFree = needed === 0 && owners.length === 0;
  if (paths.length === 0 && isFree && (decision?.approvers.length ?? 0) === 0) return;
  list.expect('approvals');
  if (paths.length > maxApprovals) {
    const detail = { expected: `at most ${maxApprovals}`, found: paths.length };
    list.settle('approvals', 'failed', 'malformed', detail);
    return;
  }
  const difference = decision && (await differenceOfMarks(source, paths, decision));
  if (difference) {
    list.refuse('approvals', refuted('policy-deny', difference));
    return;
  }
  if (allowedSigners === undefined) {
    const lacking = lackingOwners(owners, decision?.approvers ?? []);
    if (decision && lacking.length > 0)
      list.refuse('approvals', refuted('policy-deny', { owners: lacking, found: decision.approvers }));
    else if (decision)
      list.waive('approvals', 'per-repository', {
        found: decision.approvers,
        ...inProcessOf(decision.approvals),
      });
    return;
  }
  await list.run(
    'approvals',
    async () => {
      if (!decision || !spec || !commit) throw unavailable('not-run');
      // Loaded on demand: only a signers file needs it.
      const { readApprovals } = await import('../approval/read-approvals.ts');
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
      return requireApproved(verdicts, decision, { needed, owners, isDemanded, isCarryMissing });
    },
    (counted) => ({
      principals: peopleIn(counted),
      ...(owners.length === 0 ? {} : { owned: owners.map(({ pattern }) => pattern) }),
      ...inProcessOf(counted),
    }),
  );
}

/** The owners who have to approve changed paths, as far as a verifier needs to know them. */
type OwnersDemanded = readonly Pick<OwnedPaths, 'pattern' | 'owners' | 'principals'>[];

/**
 * Computes again from the policy commit whose approval the change needs. Where that commit or the candidate is not at
 * hand, returns what the signer recorded. Returns the fault if neither can be read.
 */
async function readOwnerDemands(
  source: EvidenceSource,
  { policy, base, tree }: ProvenanceClaims,
): Promise<OwnersDemanded | { readonly expected: string; readonly found: string }> {
  if (policy === undefined) return [];
  try {
    const file = await source.readAt?.(policy, ownersPath);
    if (file !== undefined && file.bytes === undefined) return [];
    const found = file && base !== undefined && (await source.carry?.ownedPaths(policy, base, tree));
    return found || (await recordedOwners(source));
  } catch (fault) {
    if (!isWritError(fault)) throw fault;
    return { expected: 'owners of the changed paths', found: fault.message };
  }
}

const maxInputBytes = 64 * 1024 * 1024;
const maxOwned = 10_000;

async function recordedOwners(source: EvidenceSource): Promise<OwnersDemanded> {
  const bytes = await source.readRun('decision-input.json');
  const { owners = [] } = bytes === undefined ? {} : parseJsonObject(bytes, maxInputBytes);
  return expectArray(owners, '/owners', maxOwned).map((one, n) => {
    const at = `/owners/${n}`;
    const demand = expectObject(one, at);
    const texts = (member: string): readonly string[] =>
      expectArray(demand[member], `${at}/${member}`, maxOwned).map((text) =>
        expectText(text, `${at}/${member}`),
      );
    return {
      pattern: expectText(demand.pattern, `${at}/pattern`),
      owners: texts('owners'),
      principals: texts('principals'),
    };
  });
}

/** In words, each demand that none of these people meets. */
function lackingOwners(owners: OwnersDemanded, people: readonly string[]): readonly string[] {
  return owners
    .filter(({ principals }) => peopleAmong(people, principals).length === 0)
    .map(({ pattern, owners: names }) => `${pattern}: ${names.join(' or ')}`);
}

/**
 * Derives the authors of the change (`docs/reference/approval.md`, Authors) from signed data and from git: spec,
 * sealed commit, gate report, and the available commits of a range. The record's own list can only add authors.
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
 * Returns each approval with its arrival time from the Scheduler's record. If that time is outside the run, or
 * missing, the run's end is used.
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
      const bytes = await readRequired(source, path);
      const digest = sha256Hex(bytes);
      const stated = Object.hasOwn(times, digest)
        ? Date.parse(expectText(times[digest], '/received'))
        : Number.NaN;
      const isWithin = stated >= startedAtMs && stated <= finishedAtMs;
      return { source: path, bytes, receivedAtMs: isWithin ? stated : finishedAtMs };
    }),
  );
}

/** Finds a stored approval with a signer mark (in process, or by a person) that differs from the decision's. */
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

/** The digest and the in-process mark of an approval; `undefined` where it cannot be read. */
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

function requireApproved(
  verdicts: readonly ApprovalVerdict[],
  decision: ApprovalClaims,
  {
    needed,
    owners,
    isDemanded,
    isCarryMissing,
  }: {
    readonly needed: number;
    readonly owners: OwnersDemanded;
    readonly isDemanded: boolean;
    readonly isCarryMissing: boolean;
  },
): readonly ApprovalVerdict[] {
  const isMarked = (verdict: ApprovalVerdict): boolean =>
    decision.approvals.some(({ digest, inProcess }) => inProcess && digest === verdict.digest);
  const counted = verdicts.filter(
    (verdict) => verdict.status === 'counts' && (!verdict.inProcess || isMarked(verdict)),
  );
  if (counted.some((verdict) => verdict.decision === 'reject'))
    throw refuted('policy-deny', { found: 'a rejection' });
  const people = peopleIn(counted);
  // If no approval was required or counted, additional signatures do no harm.
  const least = Math.max(needed, new Set(decision.approvers).size);
  const approvers = counted.filter((verdict) => verdict.decision === 'approve');
  const lacking = lackingOwners(owners, peopleIn(approvers));
  if (people.length >= Math.max(least, isDemanded ? 1 : 0) && lacking.length === 0) return counted;
  const others = verdicts.filter((verdict) => !counted.includes(verdict));
  const detail = {
    expected: Math.max(least, 1),
    found: people,
    ...(lacking.length === 0 ? {} : { owners: lacking }),
    uncounted: others.map(
      ({ source, status }) => `${source}: ${status === 'counts' ? 'in-process' : status}`,
    ),
  };
  // Only the verifier requires an approval here, and no signature is refuted.
  if (people.length >= least && lacking.length === 0) throw unavailable('missing', detail);
  // Objects are missing that would show whether approvals of an earlier candidate count.
  const open: readonly string[] = ['wrong-subject', 'untrusted-signer'];
  if (isCarryMissing && others.every(({ status }) => open.includes(status)))
    throw unavailable('missing', detail);
  // An unknown signer does not refute the approval; an invalid signature does.
  const isOwnerless = people.length >= least && others.length === 0;
  if (isOwnerless || others.some(({ status }) => status !== 'untrusted-signer'))
    throw refuted('policy-deny', detail);
  throw unavailable(others.length === 0 ? 'missing' : 'untrusted-signer', detail);
}

/** Id of the check that a run with carried approvals has. */
export const equivalenceCheck = 'approvals-carried';

/** Candidates with approvals that carry over to the sealed one. */
type Carried = readonly Pick<CarriedCandidate, 'baseCommit' | 'tree'>[];

/**
 * Verifies that approvals of earlier candidates count for the sealed one
 * (`docs/decisions/0021-carried-approvals.md`). The signer of the provenance must state it for this run, this spec,
 * this patch and the verdict that was shown. The git objects must confirm it.
 *
 * A run without this statement has no such check; there, an approval of another candidate is `wrong-subject`.
 */
export async function verifyEquivalence(
  { list, source, signer, claims, spec }: RunFacts,
  decision: DecisionClaims | undefined,
): Promise<Carried> {
  const bytes = await source.readRun(runFiles.equivalence);
  if (bytes === undefined) return [];
  list.expect(equivalenceCheck);
  const carried = await list.run(
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
  { list, source, claims }: ApprovalFacts,
  carried: Carried,
): Promise<Carried> {
  if (carried.length === 0) return [];
  list.expect(equivalenceCheck);
  const found = await list.run(equivalenceCheck, async () => {
    await requireEquivalent(source.carry, claims, carried);
    return carried;
  });
  return found ?? [];
}

/** Requires that the statement is about the sealed change only. */
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
