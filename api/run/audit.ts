/* Collects what an auditor reads: of a run what its view leaves out, and of a range of commits each commit. */
import type { VerifyReport } from '../../attest/verify/report.ts';
import { sha256Hex } from '../../core/base/canonical.ts';
import { systemClock, toRfc3339 } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import type { ApprovalVerdict, OwnedPaths } from '../../core/interfaces/approval.ts';
import type { RunView, WaitsFor } from '../../core/interfaces/run-view.ts';
import type { CheckRecord } from '../../core/interfaces/stage.ts';
import { usedWaivers } from '../../engine/config/waivers.ts';
import { approversNeeded } from '../../engine/decide/budget.ts';
import { type DecisionInput, inputProblems } from '../../engine/record/decision-input.ts';
import { readRun } from '../../engine/record/read-run.ts';
import { listApprovals } from '../../engine/record/stored-approvals.ts';
import { redactTexts } from '../../readers/sensitive/redact.ts';
import { isApproverCheck } from '../../spec/facts.ts';
import { type GateReport, readGateReport } from '../../store/record/gate-report.ts';
import { runFinder } from '../../store/record/list-records.ts';
import { parseNamedJson } from '../../store/record/record-paths.ts';
import { sealingRecords } from '../../store/record/sealed-commit.ts';
import { verdictDigest } from '../../store/record/verdict.ts';
import { keepObjectReaders } from '../../workspace/git/object-reader.ts';
import { readObjects } from '../../workspace/git/read-objects.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { compact } from '../envelope.ts';
import { type ReleaseData, releaseSchema } from '../schemas/run-schema.ts';
import { toShape } from '../schemas/shape.ts';
import { noDemands } from '../verify/demands.ts';
import { verificationRefusal, warningsOf } from '../verify/verification-data.ts';
import type { VerifiedTarget } from '../verify/verified-target.ts';
import { type RequestedDemands, type VerifyContext, verifyTargets } from '../verify/verify-targets.ts';
import { evaluateHere, type OpenedRun, originOfSpec, type SpecOrigin } from './open-run.ts';
import { runFindings } from './run-data.ts';

/** What an auditor reads of a run beside its view; all of it untrusted text. */
export interface RunAudit extends SpecOrigin {
  /** Everyone who signed, counted or not, as the policy commit names the signers. */
  readonly people: readonly SignedBy[];
  /** Everything that demanded approvals, as the record has it; absent if the record does not show it. */
  readonly demands?: readonly ApprovalDemand[];
  readonly diff?: BoundedDiff;
  /** Of the sealed commit, with the keys that the user trusts. */
  readonly verified?: VerifiedTarget;
  /** What all models of the run came to. */
  readonly used?: { readonly tokens: number; readonly costUsd: number };
}

type SignedBy = WaitsFor['people'][number] &
  Partial<Pick<ApprovalVerdict, 'signedAt' | 'role' | 'comment' | 'inProcess'>>;

/** What demanded approvals, and of how many people. */
export interface ApprovalDemand {
  /** `writ`: the change edits files that govern writ. */
  readonly by: 'spec' | 'policy' | 'owners' | 'writ';
  readonly needed: number;
  /** The check that demanded them. */
  readonly check?: Pick<CheckRecord, 'id' | 'command'>;
  /** The line of `.writ/owners`. */
  readonly owned?: Pick<OwnedPaths, 'pattern' | 'owners'>;
}

/** The start of a patch without secrets, in lines. */
interface BoundedDiff {
  readonly lines: readonly string[];
  /** Lines that were left out. */
  readonly leftOut: number;
}

const maxDiffLines = 1500;
const maxColumns = 400;
/** A patch beyond it is not read for a page. */
const maxDiffBytes = 8 * 1024 * 1024;

/** Reads it from the run's record, and verifies the sealed commit. A part that is not kept here is absent. */
export async function auditRun(
  context: VerifyContext,
  opened: OpenedRun,
  demands: RequestedDemands = noDemands,
): Promise<RunAudit> {
  const { store, view } = opened;
  const commit = view.decision?.type === 'commit' ? view.decision.commitSha : undefined;
  const [origin, people, demanded, patch, run, [verified]] = await Promise.all([
    originOfSpec(opened),
    view.waiting?.people ?? peopleOf(opened),
    demandsOf(opened),
    store.objects.read(store.refs.content(view.runId), 'patchset.diff').catch(() => undefined),
    store.objects.read(store.refs.run(view.runId), 'run.json'),
    commit === undefined ? [] : verifyTargets(context, [commit], { ...demands, form: 'commit' }),
  ]);
  const diff = patch === undefined || patch.byteLength > maxDiffBytes ? undefined : bounded(patch);
  return { ...origin, people, ...compact({ demands: demanded, diff, verified, used: run && usedIn(run) }) };
}

/** Secrets are masked before lines are cut: half of one is still one. */
function bounded(patch: Uint8Array): BoundedDiff {
  const text = redactTexts(Buffer.from(patch).toString('utf8'), { remove: ['secrets'], words: {} });
  const lines = text.replace(/\n$/, '').split('\n');
  return {
    lines: lines.slice(0, maxDiffLines).map((line) => line.slice(0, maxColumns)),
    leftOut: Math.max(0, lines.length - maxDiffLines),
  };
}

function usedIn(bytes: Uint8Array): RunAudit['used'] {
  const { metrics } = Object(parseNamedJson('run.json', bytes)) as { readonly metrics?: unknown };
  const { tokens_used: tokens, cost_usd: costUsd } = Object(metrics) as Readonly<Record<string, unknown>>;
  return typeof tokens === 'number' && typeof costUsd === 'number' && tokens > 0
    ? { tokens, costUsd }
    : undefined;
}

const approvalPath = /^approvals\/\d+\.json$/;
const shownPath = 'approvals/gate-report.json';
const inputPath = 'decision-input.json';

/** Evaluates the signatures of a decided run again, each as of its arrival. */
async function peopleOf({ repository, store, view }: OpenedRun): Promise<readonly SignedBy[]> {
  const { runId, patch, spec } = view;
  const ref = store.refs.run(runId);
  if (patch === undefined || view.decision === undefined) return [];
  const paths = (await store.objects.list(ref))
    .map(({ path }) => path)
    .filter((path) => approvalPath.test(path));
  const more = [shownPath, 'gate-report.json', 'approvals/authors.json', 'approvals/received.json'];
  const files = await store.objects.readMany(ref, [...paths, ...more]);
  const kept = paths.map((path) => ({ source: path, bytes: files.get(path) ?? new Uint8Array() }));
  const stored = kept.length > 0 ? kept : await listApprovals(store, runId);
  const shown = files.get(shownPath) ?? files.get('gate-report.json');
  if (stored.length === 0 || shown === undefined) return [];
  const report: GateReport = readGateReport(shown);
  const listed = files.get('approvals/authors.json');
  const { authors } = Object(listed && parseNamedJson('authors.json', listed)) as {
    readonly authors?: unknown;
  };
  const subject = {
    runId,
    baseCommit: view.baseCommit ?? null,
    candidateTree: patch.candidateTree,
    patchDigest: patch.digest,
    specDigest: spec.digest,
    gateReportDigest: verdictDigest(report),
  };
  const record = { subject, authors: Array.isArray(authors) ? authors.map(String) : [] };
  const arrived = arrivalsIn(files.get('approvals/received.json'));
  const approvals = stored.map((one) => {
    const receivedAtMs = Date.parse(arrived[sha256Hex(one.bytes)] ?? view.finishedAt ?? '');
    return Number.isNaN(receivedAtMs) ? one : { ...one, receivedAtMs };
  });
  return (await evaluateHere({ repository, store, runId, record, report, approvals })).approvers;
}

/** Reads who demanded approvals from the input of the decision and from the checks that people were shown. */
async function demandsOf({ store, view }: OpenedRun): Promise<readonly ApprovalDemand[] | undefined> {
  const files = await store.objects.readMany(store.refs.run(view.runId), [inputPath, shownPath]);
  const [bytes, shown] = [files.get(inputPath), files.get(shownPath)];
  if (bytes === undefined) return undefined;
  const input = parseNamedJson(inputPath, bytes) as DecisionInput;
  if (inputProblems(input).length > 0) return undefined;
  const { human, touchesGoverning, owners = [] } = input;
  const stages = [...(shown === undefined ? [] : readGateReport(shown).stages), ...view.stages];
  // A rule whose approvals have arrived reports none any more: the checks that people were shown come first.
  const byChecks = new Map<string, ApprovalDemand>();
  for (const { id, command, fromPolicy, ...check } of stages.flatMap(({ checks }) => checks)) {
    const needed = neededBy({ command, ...check }, human.needed);
    if (needed === undefined || byChecks.has(id)) continue;
    byChecks.set(id, { by: fromPolicy ? 'policy' : 'spec', needed, check: { id, command } });
  }
  const bySpec = approversNeeded(human, false);
  return [
    ...(bySpec === 0 ? [] : [{ by: 'spec', needed: bySpec } as const]),
    ...byChecks.values(),
    ...owners.map((owned) => ({ by: 'owners', needed: 1, owned }) as const),
    ...(touchesGoverning ? [{ by: 'writ', needed: approversNeeded(human, true) } as const] : []),
  ];
}

/** People that a check demands; `undefined` if it demands none. */
function neededBy(
  { kind, command, required, findings }: Pick<CheckRecord, 'kind' | 'command' | 'required' | 'findings'>,
  bySpec: number,
): number | undefined {
  if (!required) return undefined;
  const { needed } = findings.find(({ detail }) => detail?.waiting === true)?.detail ?? {};
  if (typeof needed === 'number') return needed;
  if (!isApproverCheck({ kind, command })) return undefined;
  return Number(/--min[= ]+(\d+)/.exec(command)?.[1] ?? Math.max(1, bySpec));
}

/** When the Scheduler first saw each approval, by the SHA-256 of its document. */
function arrivalsIn(bytes: Uint8Array | undefined): Readonly<Record<string, string>> {
  const { received } = Object(bytes && parseNamedJson('received.json', bytes)) as {
    readonly received?: object;
  };
  return Object.fromEntries(Object.entries(received ?? {}).map(([digest, at]) => [digest, String(at)]));
}

/** What a release engineer reads of a range, and why it is not verified as a whole. */
interface ReleaseAudit {
  readonly data: ReleaseData;
  /** As `writ verify A..B` refuses. */
  readonly refusal?: WritError;
}

type ReleaseCommit = Parameters<typeof toShape<ReleaseData>>[1]['commits'][number];

/**
 * Verifies each commit of `A..B` and reads its run. USAGE if the target is not a range; the refusal of
 * `writ verify A..B` if its commits cannot be listed.
 */
export async function auditRelease(
  context: VerifyContext,
  range: string,
  demands: RequestedDemands = noDemands,
): Promise<ReleaseAudit> {
  if (!range.includes('..'))
    throw new WritError('USAGE', {
      message: `\`--release\` expected a range \`A..B\`, found \`${printable(range)}\``,
      detail: { command: 'report', option: 'release' },
      hints: ['`A..B` is every commit that `B` holds and `A` does not, e.g. `v1.0..v1.1`'],
    });
  const verified = await verifyTargets(context, [range], { ...demands, form: 'commit' });
  const refusal = verificationRefusal(verified);
  if (verified.some((one) => one.range === undefined) && refusal !== undefined) throw refusal;
  await using readers = keepObjectReaders();
  const repository = readers.keep(
    await openRepository(context.repoPath ?? context.cwd, { bare: true, onlyReads: true }),
  );
  const find = runFinder(context.stores, repository, systemClock);
  const objects = await readObjects(
    repository,
    verified.map(({ commit }) => commit ?? ''),
  );
  const commits: ReleaseCommit[] = [];
  for (const [n, one] of verified.entries()) {
    context.signal?.throwIfAborted();
    const written = writtenIn(objects[n]?.bytes);
    commits.push(await auditCommit(one, written, (runId) => find(runId), repository));
  }
  const people = new Set(commits.flatMap(({ approvers }) => approvers));
  const warnings = verified.flatMap(warningsOf);
  const sum = (count: (commit: ReleaseCommit) => number): number =>
    commits.reduce((total, commit) => total + count(commit), 0);
  const data = toShape(releaseSchema, {
    range,
    commits,
    ...(warnings.length === 0 ? {} : { warnings: warnings.map((one) => ({ ...one })) }),
    total: {
      commits: commits.length,
      sealed: sum(({ sealed }) => Number(sealed)),
      verified: sum((commit) => Number(commit.verified)),
      approvals: sum(({ approvers }) => approvers.length),
      people: people.size,
      waivers: sum(({ waivers }) => waivers.length),
      modelCalls: sum(({ models }) => models.reduce((calls, model) => calls + model.calls, 0)),
    },
  });
  return { data, ...(refusal && { refusal }) };
}

const maxSubject = 200;
const maxFound = 20;

/** What a commit object says of itself: the first line of its message, its author, and when the change was made. */
function writtenIn(
  bytes: Uint8Array = new Uint8Array(),
): Pick<ReleaseCommit, 'subject' | 'author' | 'authoredAt'> {
  const text = Buffer.from(bytes).toString('utf8');
  const start = text.indexOf('\n\n');
  const [, author, seconds] =
    /^author ([^\n]{0,300}<[^\n>]{0,300}>) (\d{1,11}) /m.exec(start < 0 ? '' : text.slice(0, start)) ?? [];
  const subject = start < 0 ? '' : (text.slice(start + 2).split('\n', 1)[0] ?? '').slice(0, maxSubject);
  return { subject, ...compact({ author, authoredAt: seconds && toRfc3339(Number(seconds) * 1000) }) };
}

type FindRun = ReturnType<typeof runFinder>;

async function auditCommit(
  one: VerifiedTarget,
  written: ReturnType<typeof writtenIn>,
  find: FindRun,
  repository: Awaited<ReturnType<typeof openRepository>>,
): Promise<ReleaseCommit> {
  const { commit = '', runId, report } = one;
  const { detail, message } = verificationRefusal([one]) ?? {};
  const why = typeof detail?.reason === 'string' ? detail.reason : message;
  const nothing = { approvers: [], waivers: [], models: [] };
  const base = { commit, ...written, verified: report.verified, ...compact({ runId, why }) };
  const view = runId === undefined ? undefined : await sealingRun(commit, runId, find, repository);
  if (view === undefined) return { ...base, sealed: false, ...nothing };
  const findings = runFindings(view);
  const count = (severity: string): number => findings.filter((found) => found.severity === severity).length;
  const { log, signer } = report.grounds;
  const claimed = view.provenance?.keyId ?? detail?.key_id;
  const checks = view.stages.flatMap((stage) => stage.checks);
  const approvals = approvalsIn(report);
  return {
    ...base,
    sealed: true,
    ...compact({
      signer:
        signer === undefined
          ? typeof claimed === 'string' && claimed !== ''
            ? { trusted: false, keyId: claimed }
            : undefined
          : 'key_id' in signer
            ? { trusted: true, keyId: signer.key_id }
            : { trusted: true, identity: signer.identity, issuer: signer.issuer },
      approvalsVerified: approvals.approvers.length === 0 ? undefined : approvals.approvalsVerified,
    }),
    checks: {
      passed: checks.filter(({ status }) => status === 'passed').length,
      expected: view.stages.reduce((total, { expected }) => total + expected, 0),
    },
    found: findings.slice(0, maxFound).map(({ rule, severity, message, path, line }) => ({
      rule,
      severity,
      message,
      ...compact({ path, line }),
    })),
    specId: view.spec.id,
    summary: view.spec.summary,
    changeType: view.spec.changeType,
    riskLevel: view.spec.riskLevel,
    ...compact({ decidedAt: view.finishedAt, logIndex: log?.index }),
    findings: { errors: count('error'), warnings: count('warning'), notes: count('note') },
    approvers: approvals.approvers,
    waivers: usedWaivers(view.notices ?? []),
    models: (view.provenance?.models ?? []).map(({ provider, model, exchanges, omitted = 0, program }) => ({
      provider,
      model,
      calls: exchanges.length + omitted,
      ...compact({ agent: program?.name, agentSha256: program?.sha256 }),
    })),
  };
}

/** The run whose record sealed this commit; `undefined` if it is not here, or sealed another one. */
async function sealingRun(
  commit: string,
  wanted: string,
  find: FindRun,
  repository: Awaited<ReturnType<typeof openRepository>>,
): Promise<RunView | undefined> {
  try {
    const { store, runId } = await find(wanted);
    const sealing = (await sealingRecords(store, runId)).find((record) => record.commit === commit);
    return sealing && (await readRun(repository, sealing.store, runId));
  } catch (fault) {
    if (isWritError(fault, 'RUN_NOT_FOUND') || isWritError(fault, 'OBJECT_CORRUPT')) return undefined;
    throw fault;
  }
}

/** Who approved, as the signed decision says; verified only with a list that the user gave. */
function approvalsIn({
  checks,
}: VerifyReport): Required<Pick<ReleaseCommit, 'approvers' | 'approvalsVerified'>> {
  const { status, code, detail } = checks.find(({ id }) => id === 'approvals') ?? {};
  const approvalsVerified = status === 'passed';
  if (!approvalsVerified && code !== 'per-repository') return { approvers: [], approvalsVerified };
  const names = [detail?.principals ?? detail?.found ?? []].flat().map(String);
  return { approvers: [...new Set(names)], approvalsVerified };
}
