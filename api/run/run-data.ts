/* Converts a run to the data of its `--json` document. */
import type { Environment } from '../../attest/keys/user-config-dir.ts';
import { isWritError } from '../../core/base/errors.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { DescribedRule, Rule } from '../../core/interfaces/rule.ts';
import type { RunView, WaitsFor } from '../../core/interfaces/run-view.ts';
import type { CheckNetwork } from '../../core/interfaces/scanner.ts';
import type {
  ArtifactRecord,
  CheckBaseline,
  CheckCarry,
  CheckRecord,
  LaidRun,
  OutputTail,
  StageRecord,
  TestCounts,
} from '../../core/interfaces/stage.ts';
import { describeRules } from '../../core/kernel/rules.ts';
import { approversLackingCode, rightsLackingCode } from '../../engine/state/approval-rights.ts';
import { checkUnknownCode, logUnusedCode } from '../../engine/state/checks.ts';
import { foreignPolicyCode, provenanceMissingCode } from '../../engine/state/policies.ts';
import { compact } from '../envelope.ts';
import type { RunData } from '../schemas/run-schema.ts';
import { listedPlugins } from '../user-plugins.ts';
import type { OpenedRun } from './open-run.ts';

type StageData = RunData['stages'][number];
type CheckData = StageData['checks'][number];

/** Converts a run to its `--json` form: snake_case, without absent fields. */
export function toRunData(view: RunView): RunData {
  const { spec, patch, decision, provenance } = view;
  return compact({
    run_id: view.runId,
    thread_id: view.threadId,
    state: view.state,
    started_at: view.startedAt,
    finished_at: view.finishedAt,
    spec: {
      id: spec.id,
      digest: spec.digest,
      summary: spec.summary,
      change_type: spec.changeType,
      risk_level: spec.riskLevel,
      objectives: spec.objectives,
    },
    base_commit: view.baseCommit,
    policy_commit: view.policyCommit,
    policy_ref: view.policyRef,
    warnings: warningsOf(view),
    target_ref: view.targetRef,
    content_ref: view.contentRef,
    sandbox: view.sandbox,
    patch: patch && {
      digest: patch.digest,
      candidate_tree: patch.candidateTree,
      files: patch.files.map((file) => ({
        path: file.path,
        change_type: file.changeType,
        lines_added: file.linesAdded,
        lines_deleted: file.linesDeleted,
      })),
    },
    local_changes: view.localChanges,
    decision:
      decision &&
      compact({
        type: decision.type,
        rationale: decision.rationale,
        commit_sha: decision.commitSha,
        decision_digest: decision.decisionDigest,
      }),
    would: view.would?.type,
    rationale: view.would?.rationale,
    retries: view.retries,
    citations: view.citations,
    tool_uses: view.toolUses,
    waiting: view.waiting && toWaitingData(view.waiting),
    notices: view.notices,
    stages: view.stages.map(toStageData),
    findings: view.findings.map((finding) => toFindingData(finding)),
    artifacts: view.artifacts.map(toArtifactData),
    provenance: compact({
      bundle: provenance?.bundle,
      proof: provenance?.proof,
      key_id: provenance?.keyId,
      log_origin: provenance?.logOrigin,
      log_index: provenance?.logIndex,
      plugins: provenance?.plugins?.map((plugin) => ({ ...plugin })),
    }),
  });
}

function toWaitingData({ for: what, needed, people }: WaitsFor): NonNullable<RunData['waiting']> {
  return {
    for: what,
    needed,
    people: people.map(({ source, decision, status, principal, keyId, detail }) =>
      compact({ source, decision, status, principal, key_id: keyId, detail }),
    ),
  };
}

const warningCodes = [
  checkUnknownCode,
  logUnusedCode,
  approversLackingCode,
  rightsLackingCode,
  provenanceMissingCode,
];

/** Warnings with a code that stays, apart from what is merely noticed. */
function warningsOf({ notices = [], defaultRef, policyRef }: RunView): RunData['warnings'] {
  const coded = (code: string): readonly string[] =>
    notices.flatMap((one) => (one.startsWith(`${code}: `) ? [one.slice(code.length + 2)] : []));
  const foreign = {
    code: foreignPolicyCode,
    message: coded(foreignPolicyCode)[0] ?? '',
    policy_ref: policyRef,
    default_ref: defaultRef,
  };
  const warnings = [
    ...(defaultRef === undefined ? [] : [compact(foreign)]),
    ...warningCodes.flatMap((code) => coded(code).map((message) => ({ code, message }))),
  ];
  return warnings.length === 0 ? undefined : warnings;
}

function toStageData(stage: StageRecord): StageData {
  return compact({
    stage: stage.stage,
    status: stage.status,
    expected: stage.expected,
    ran: stage.ran,
    checks: stage.checks.map(toCheckData),
    findings: stageFindings(stage).map(({ finding, checkId }) => toFindingData(finding, checkId)),
    asked: stage.asked?.map(({ name, plugin, status }) => ({ name, plugin, status })),
  });
}

/** What a stage found: its own findings, then those of its checks, each once. */
export function stageFindings(
  stage: StageRecord,
): readonly { readonly finding: Finding; readonly checkId?: string }[] {
  const own = new Set(stage.findings.map((finding) => JSON.stringify(finding)));
  const ofChecks = stage.checks.flatMap((check) =>
    check.findings
      .filter((finding) => !own.has(JSON.stringify(finding)))
      .map((finding) => ({ finding, checkId: check.id })),
  );
  return [...stage.findings.map((finding) => ({ finding })), ...ofChecks];
}

function toCheckData(check: CheckRecord): CheckData {
  return compact({
    id: check.id,
    kind: check.kind,
    status: check.status,
    required: check.required,
    command: check.command,
    expected_exit_code: check.expectedExitCode,
    exit_code: check.exitCode,
    signal: check.signal,
    started_at: check.startedAt,
    duration_ms: check.durationMs,
    workspace_ms: check.workspaceMs,
    clock_step_ms: check.clockStepMs,
    timed_out: check.timedOut,
    tests: check.tests && toTestData(check.tests),
    from_policy: check.fromPolicy,
    tolerated: check.tolerated,
    network: check.network && toNetworkData(check.network),
    baseline: check.baseline && toBaselineData(check.baseline),
    at_policy: check.atPolicy && toLaidData(check.atPolicy),
    with_base_tests: check.withBaseTests && toLaidData(check.withBaseTests),
    on_base_product: check.onBaseProduct && toLaidData(check.onBaseProduct),
    observed:
      check.observed &&
      compact({
        by: check.observed.by,
        footprint: check.observed.footprint,
        prepare: check.observed.prepare,
        reason: check.observed.reason,
      }),
    carried: check.carried && toCarriedData(check.carried),
    wrote_outside:
      check.wroteOutside &&
      compact({
        count: check.wroteOutside.count,
        at_least: check.wroteOutside.atLeast,
        paths: check.wroteOutside.paths.map(({ path, was }) => ({ path, was })),
      }),
    output_tail: check.outputTail && toTailData(check.outputTail),
    artifacts: check.artifacts.map(toArtifactData),
  });
}

function toLaidData(run: LaidRun): NonNullable<CheckData['at_policy']> {
  return compact({
    status: run.status,
    laid: run.laid.map(({ path, parts }) => compact({ path, parts })),
    tree: run.tree,
    exit_code: run.exitCode,
    signal: run.signal,
    timed_out: run.timedOut,
    duration_ms: run.durationMs,
    tests: run.tests && toTestData(run.tests),
    carried: run.carried && toCarriedData(run.carried),
    log: run.log,
    output_tail: run.outputTail && toTailData(run.outputTail),
  });
}

function toTailData({ text, truncated }: OutputTail): NonNullable<CheckData['output_tail']> {
  return compact({ text, truncated });
}

function toCarriedData({ received, handedOn }: CheckCarry): NonNullable<CheckData['carried']> {
  return { received, handed_on: handedOn };
}

function toTestData(tests: TestCounts): NonNullable<CheckData['tests']> {
  return compact({
    passed: tests.passed,
    failed: tests.failed,
    skipped: tests.skipped,
    flaky: tests.flaky ?? 0,
    duration_ms: tests.durationMs,
    failed_tests: tests.failedTests?.map(({ name, durationMs }) =>
      compact({ name, duration_ms: durationMs }),
    ),
    slowest: tests.slowest?.map(({ name, durationMs }) => ({ name, duration_ms: durationMs })),
  });
}

function toNetworkData({ opened, uses }: CheckNetwork): NonNullable<CheckData['network']> {
  return {
    opened,
    connections: uses.map(({ host, port, via, outcome, why, address, reasons, ...counted }) =>
      compact({
        host,
        port,
        via,
        outcome,
        why,
        address,
        reasons,
        count: counted.connections,
        sent_bytes: counted.sentBytes,
        received_bytes: counted.receivedBytes,
      }),
    ),
  };
}

function toBaselineData({ failure, speed, network }: CheckBaseline): NonNullable<CheckData['baseline']> {
  return compact({
    network: network && toNetworkData(network),
    failure:
      failure &&
      compact({ outcome: failure.outcome, reason: failure.reason, new_failures: failure.newFailures }),
    speed:
      speed &&
      compact({
        measured: speed.measured.map((metric) => compact({ ...metric })),
        incomparable: speed.incomparable,
        only_in_candidate: speed.onlyInCandidate,
        unmeasured: speed.unmeasured,
      }),
  });
}

/** A finding as `--json` shows it; `checkId` where a check found it. */
function toFindingData(finding: Finding, checkId?: string): RunData['findings'][number] {
  return compact({
    rule: finding.rule,
    severity: finding.severity,
    message: finding.message,
    path: finding.path,
    line: finding.line,
    column: finding.column,
    check_id: checkId,
    detail: finding.detail,
  });
}

function toArtifactData(artifact: ArtifactRecord): RunData['artifacts'][number] {
  return compact({
    name: artifact.name,
    stage: artifact.stage,
    check_id: artifact.checkId,
    plugin: artifact.plugin,
    path: artifact.path,
    sha256: artifact.sha256,
    size_bytes: artifact.sizeBytes,
    content_type: artifact.contentType,
    expires_at: artifact.expiresAt,
    redactions: artifact.redactions,
    receipt: artifact.receipt,
    unscanned: artifact.unscanned,
  });
}

/**
 * Descriptions of the rules that may have evaluated a run: built-in rules, and rules of plugins pinned at its policy
 * commit. A plugin that is missing or changed is left out. Plugins cannot replace descriptions of built-in rules.
 */
export async function describedRules(
  place: { readonly env: Environment },
  { repository, view }: Pick<OpenedRun, 'repository' | 'view'>,
  builtIn: readonly Rule[],
): Promise<readonly DescribedRule[]> {
  const ours = await describeRules(builtIn);
  if (view.policyCommit === undefined) return ours;
  const found = await listedPlugins(place, repository, view.policyCommit).catch((fault: unknown) => {
    // The policy commit does not travel with a run; its plugins are then known by their ids alone.
    if (isWritError(fault)) return [];
    throw fault;
  });
  const known = new Set([...builtIn.map(({ id }) => id), ...ours.map(({ id }) => id)]);
  const theirs = found
    .flatMap((plugin) => ('manifest' in plugin ? plugin.manifest.rules : []))
    .flatMap(({ id, text, rows = [] }) => [...(text === undefined ? [] : [{ id, ...text }]), ...rows]);
  return [...ours, ...theirs.filter(({ id }) => !known.has(id))];
}
