import { canonicalDigest, canonicalize } from '../base/canonical.ts';
import { toRfc3339 } from '../base/clock.ts';
import { uuidV7From } from '../base/ids.ts';
import type { DecisionType } from '../contract/run-view.ts';
import type { ArtifactRecord, CheckRecord, StageRecord } from '../contract/stage.ts';
import type { ArtifactRef, ObjectBody } from '../store/object-shapes.ts';
import { type SealOptions, sealObject } from '../store/stored-object.ts';
import { encodeId } from '../vcs/ref-name.ts';
import type { Attempt } from './attempt.ts';
import { finalReport } from './gate-report.ts';
import type { JudgedRun } from './judged-run.ts';
import { intentBody, planBody, taskBody } from './plan-objects.ts';

/** What the run came to, for its Decision object. */
export interface RunOutcome {
  readonly type: DecisionType;
  readonly rationale: string;
  readonly commit?: string;
  /** Taken once, so that the same outcome is the same bytes whoever writes it down. */
  readonly nowMs: number;
}

/** Path → bytes of a run's tree, in a stable order. */
export type RecordFiles = ReadonlyMap<string, Uint8Array>;

/** Everything that is kept of a run, artifact content and seals apart. */
export function recordFiles(attempt: Attempt, judged: JudgedRun, outcome: RunOutcome): RecordFiles {
  const { contract, runId, threadId, patch } = attempt;
  const { nowMs } = outcome;
  const spec = contract.effective;
  const scheduler: SealOptions = {
    nowMs,
    createdBy: { kind: 'system', id: spec.objmodel.actorMapping.orchestratorActorId },
  };
  const reviewer: SealOptions = {
    nowMs,
    createdBy: { kind: 'agent', id: spec.objmodel.actorMapping.reviewerActorId },
  };
  const author = { nowMs, createdBy: { kind: spec.metadata.createdBy.type, id: spec.metadata.createdBy.id } };
  const externalIds = { intentspec_id: spec.metadata.id };
  const tags = { ...spec.metadata.target.labels };
  const idOf = (what: string): string => uuidV7From(nowMs, `${runId}/${what}`);
  const ids = { plan: idOf('plan'), task: idOf('task'), patchset: idOf('patchset') };

  const intent = sealObject('intent', intentBody(contract), {
    ...author,
    objectId: threadId,
    externalIds,
    tags,
  });
  const plan = sealObject('plan', planBody(attempt, threadId, ids.task), {
    ...scheduler,
    objectId: ids.plan,
  });
  const task = sealObject('task', taskBody(attempt, threadId, ids.plan), {
    ...scheduler,
    objectId: ids.task,
  });
  const run = sealObject(
    'run',
    runBody(attempt, judged, { intent: threadId, plan: ids.plan, task: ids.task }),
    { ...scheduler, objectId: runId, tags },
  );
  const patchset = sealObject('patchset', patchsetBody(judged, outcome), {
    nowMs,
    createdBy: { kind: 'agent', id: spec.objmodel.actorMapping.coderActorId },
    objectId: ids.patchset,
  });
  const evidence = judged.stages.flatMap((stage) => [
    ...stage.checks.map((check) =>
      sealObject('evidence', checkEvidence(attempt, stage, check, ids.patchset), {
        ...reviewer,
        objectId: idOf(`evidence/${stage.stage}/${check.id}`),
      }),
    ),
    sealObject('evidence', stageEvidence(attempt, stage, ids.patchset), {
      ...reviewer,
      objectId: idOf(`evidence/${stage.stage}`),
    }),
  ]);
  const decision = sealObject(
    'decision',
    decisionBody(
      attempt,
      judged,
      outcome,
      evidence.map(({ object }) => object.object_id),
      ids.patchset,
    ),
    { ...scheduler, objectId: idOf(`decision/${outcome.type}`) },
  );

  return new Map<string, Uint8Array>([
    ['spec.json', contract.bytes],
    ['effective.json', toJson(spec)],
    ['intent.json', intent.bytes],
    ['plan.json', plan.bytes],
    ['task.json', task.bytes],
    ['run.json', run.bytes],
    ['patchset.json', patchset.bytes],
    ...evidence.map(({ object, bytes }, index): [string, Uint8Array] => [
      `evidence/${String(index + 1).padStart(4, '0')}-${encodeId(object.check_id ?? object.stage)}.json`,
      bytes,
    ]),
    ['gate-report.json', toJson(finalReport(attempt, judged.findings, judged.stages))],
    ['decision-input.json', toJson(judged.input)],
    ['decision-record.json', toJson(judged.decision)],
    ['decision.json', decision.bytes],
  ]);

  function patchsetBody({ findings }: JudgedRun, { type }: RunOutcome): ObjectBody<'patchset'> {
    const rejected = findings.some((finding) => finding.severity === 'error');
    return {
      run: runId,
      digest: patch.digest,
      base_commit: patch.baseCommit ?? null,
      base_tree: patch.baseTree,
      candidate_tree: patch.candidateTree,
      format: patch.format,
      apply_status: rejected ? 'Rejected' : type === 'commit' ? 'Applied' : 'Proposed',
      files: patch.files.map((file) => ({
        path: file.path,
        change_type: file.changeType,
        binary: file.binary,
        lines_added: file.linesAdded,
        lines_deleted: file.linesDeleted,
        ...(file.oldPath === undefined ? {} : { old_path: file.oldPath }),
        ...(file.oldMode === undefined ? {} : { old_mode: file.oldMode }),
        ...(file.newMode === undefined ? {} : { new_mode: file.newMode }),
        ...(file.oldBlob === undefined ? {} : { old_blob: file.oldBlob }),
        ...(file.newBlob === undefined ? {} : { new_blob: file.newBlob }),
      })),
      findings,
    };
  }
}

function toJson(value: unknown): Buffer {
  return Buffer.from(`${canonicalize(value)}\n`);
}

function runBody(
  attempt: Attempt,
  judged: JudgedRun,
  ids: { intent: string; plan: string; task: string },
): ObjectBody<'run'> {
  const { contract, patch, ground, threadId, settings, startedAtMs } = attempt;
  const { target } = contract.effective.metadata;
  return {
    ...ids,
    thread_id: threadId,
    attempt: 1,
    base_ref: target.baseRef,
    base_commit: patch.baseCommit ?? null,
    base_tree: patch.baseTree,
    target_ref: ground.target.ref,
    sandbox: attempt.sandboxName,
    scheduler_version: settings.schedulerVersion,
    started_at: toRfc3339(startedAtMs),
    ...(target.workspaceId === undefined ? {} : { workspace_id: target.workspaceId }),
    resolved_dependencies: judged.dependencies.map((thing) => ({ ...thing })),
  };
}

function checkEvidence(
  attempt: Attempt,
  stage: StageRecord,
  check: CheckRecord,
  patchset: string,
): ObjectBody<'evidence'> {
  return {
    run: attempt.runId,
    patchset,
    kind: `${stage.stage}:${check.id}`,
    stage: stage.stage,
    status: check.status,
    required: check.required,
    reports: check.artifacts.map((artifact) => toArtifactRef(attempt, artifact)),
    findings: check.findings,
    check_id: check.id,
    check_kind: check.kind,
    command: check.command,
    expected_exit_code: check.expectedExitCode,
    ...(check.exitCode === undefined ? {} : { exit_code: check.exitCode }),
    ...(check.signal === undefined ? {} : { signal: check.signal }),
    timed_out: check.timedOut,
    started_at: check.startedAt,
    duration_ms: check.durationMs,
    ...(check.tests === undefined ? {} : { tests: check.tests }),
  };
}

/** What the stage as a whole showed: its rules' findings, and the artifacts that the engine made for it. */
function stageEvidence(attempt: Attempt, stage: StageRecord, patchset: string): ObjectBody<'evidence'> {
  const made = attempt.box
    .list()
    .filter((artifact) => artifact.stage === stage.stage && artifact.checkId === undefined);
  return {
    run: attempt.runId,
    patchset,
    kind: stage.stage,
    stage: stage.stage,
    status: stage.status,
    required: true,
    reports: made.map((artifact) => toArtifactRef(attempt, artifact)),
    findings: stage.findings,
    summary: `${stage.ran} of ${stage.expected} checks ran`,
  };
}

function toArtifactRef({ store, runId }: Attempt, artifact: ArtifactRecord): ArtifactRef {
  return {
    store: 'git-native',
    key: `${store.refs.content(runId)}:${artifact.path}`,
    sha256: artifact.sha256,
    sizeBytes: artifact.sizeBytes,
    contentType: artifact.contentType,
    ...(artifact.expiresAt === undefined ? {} : { expiresAt: artifact.expiresAt }),
  };
}

/** The Decision object of an outcome; the pure decision that it rests on is `decision-record.json`. */
export function decisionBody(
  attempt: Attempt,
  judged: JudgedRun,
  outcome: RunOutcome,
  evidence: readonly string[],
  patchset?: string,
): ObjectBody<'decision'> {
  const { ground, patch } = attempt;
  return {
    run: attempt.runId,
    type: outcome.type,
    rationale: outcome.rationale,
    reasons: judged.decision.reasons,
    input_digest: judged.decision.inputDigest,
    decision_digest: canonicalDigest(judged.decision),
    evidence,
    ...(patchset === undefined ? {} : { patchset }),
    ...(outcome.commit === undefined ? {} : { commit_sha: outcome.commit, tree: patch.candidateTree }),
    target_ref: ground.target.ref,
  };
}
