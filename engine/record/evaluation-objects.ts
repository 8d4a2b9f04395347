/* The stored objects of an evaluated candidate. */
import { uuidV7From } from '../../core/base/ids.ts';
import type { CheckOutcome } from '../../core/interfaces/check.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { EffectiveCheck } from '../../core/interfaces/intentspec.gen.ts';
import type { LaidPath } from '../../core/interfaces/patch-set.ts';
import type { AttestRequest, DigestedThing } from '../../core/interfaces/sealing.ts';
import {
  type ArtifactRecord,
  type CheckRecord,
  type LaidRun,
  madeByPlugins,
  type StageName,
  type StageRecord,
} from '../../core/interfaces/stage.ts';
import { maskPath } from '../../readers/sensitive/redact.ts';
import { type ArtifactRef, artifactRef, type ObjectBody, objectShapes } from '../../store/object-shapes.ts';
import { toStored } from '../../store/shape.ts';
import { type SealedObject, type SealOptions, sealObject } from '../../store/stored-object.ts';
import { encodeId } from '../../workspace/git/ref-name.ts';
import type { Attempt, OpenRun } from '../state/open-run.ts';
import { printedTail } from '../state/outcome.ts';
import type { DecisionInput, DecisionRecord } from './decision-input.ts';
import { recordedFile } from './read-run.ts';

/** Which Run a verdict is recorded for, and where its artifacts are. */
interface JudgementPlace {
  /** Object id of the Run that it belongs to. */
  readonly run: string;
  /** Path of the artifacts below the content ref: '' for the candidate that was decided on, else `<attempt name>/`. */
  readonly content: string;
  readonly nowMs: number;
  readonly applyStatus: ObjectBody<'patchset'>['apply_status'];
}

/** The patchset of a candidate and the evidence about it, as objects. */
export interface EvaluationObjects {
  readonly patchset: SealedObject<'patchset'>;
  readonly evidence: readonly SealedObject<'evidence'>[];
}

/**
 * Builds the PatchSet of an attempt, created by `objmodel.actorMapping.coderActorId`, and its Evidence, created by
 * `reviewerActorId`.
 */
export function evaluationObjects(
  attempt: Attempt,
  findings: readonly Finding[],
  stages: readonly StageRecord[],
  place: JudgementPlace,
): EvaluationObjects {
  const { coderActorId, reviewerActorId } = attempt.identity.contract.effective.objmodel.actorMapping;
  const { nowMs } = place;
  const optionsOf = (id: string, what: string): SealOptions => ({
    nowMs,
    createdBy: { kind: 'agent', id },
    objectId: uuidV7From(attempt.identity.startedAtMs, `${place.run}/${what}`),
  });
  const patchset = sealObject(
    'patchset',
    patchsetBody(attempt, findings, place),
    optionsOf(coderActorId, 'patchset'),
  );
  const { object_id: id } = patchset.object;
  const evidence = stages.flatMap((stage) => [
    ...stage.checks.map((check) =>
      sealObject(
        'evidence',
        checkEvidence(attempt, stage, check, id, place),
        optionsOf(reviewerActorId, `evidence/${stage.stage}/${check.id}`),
      ),
    ),
    sealObject(
      'evidence',
      stageEvidence(attempt, stage, id, place),
      optionsOf(reviewerActorId, `evidence/${stage.stage}`),
    ),
  ]);
  return { patchset, evidence };
}

/** Path and bytes of those objects, below the record or an attempt's part of it. */
export function evaluationFiles({ patchset, evidence }: EvaluationObjects): readonly [string, Uint8Array][] {
  return [
    ['patchset.json', patchset.bytes],
    ...evidence.map(({ object, bytes }, index): [string, Uint8Array] => [
      `evidence/${String(index + 1).padStart(4, '0')}-${encodeId(object.check_id ?? object.stage)}.json`,
      bytes,
    ]),
  ];
}

function patchsetBody(
  { patch }: Pick<Attempt, 'patch'>,
  findings: readonly Finding[],
  { run, applyStatus }: JudgementPlace,
): ObjectBody<'patchset'> {
  // A sealed change is recorded by the names it has; a refused one may hold a token in them.
  const pathOf = applyStatus === 'Applied' ? (path: string): string => path : maskPath;
  return toStored(objectShapes.patchset, {
    ...patch,
    run,
    baseCommit: patch.baseCommit ?? null,
    applyStatus: findings.some(({ severity }) => severity === 'error') ? 'Rejected' : applyStatus,
    files: patch.files.map((file) => recordedFile(file, pathOf)),
    findings,
  });
}

function checkEvidence(
  attempt: Attempt,
  stage: StageRecord,
  check: CheckRecord,
  patchset: string,
  place: JudgementPlace,
): ObjectBody<'evidence'> {
  return toStored(objectShapes.evidence, {
    ...check,
    run: place.run,
    patchset,
    kind: `${stage.stage}:${check.id}`,
    reports: check.artifacts.map((artifact) => toArtifactRef(attempt, place, artifact)),
    checkId: check.id,
    checkKind: check.kind,
  });
}

/** What the stage as a whole showed: its rules' findings, and the artifacts that the engine made for it. */
function stageEvidence(
  attempt: Attempt,
  stage: StageRecord,
  patchset: string,
  place: JudgementPlace,
): ObjectBody<'evidence'> {
  const made = attempt.box
    .list()
    .filter((artifact) => artifact.stage === stage.stage && artifact.checkId === undefined);
  const byPlugins = madeByPlugins(made);
  return toStored(objectShapes.evidence, {
    ...stage,
    run: place.run,
    patchset,
    kind: stage.stage,
    required: true,
    reports: made.map((artifact) => toArtifactRef(attempt, place, artifact)),
    summary: `${stage.ran} of ${stage.expected} checks ran`,
    ...(byPlugins.length === 0 ? {} : { madeBy: byPlugins }),
  });
}

function toArtifactRef(
  { identity: { runId, contract }, services: { store } }: Pick<Attempt, 'identity' | 'services'>,
  place: JudgementPlace,
  artifact: ArtifactRecord,
): ArtifactRef {
  return toStored(artifactRef, {
    ...artifact,
    store: contract.effective.objmodel.objectStore.backend,
    key: `${store.refs.content(runId)}:${place.content}${artifact.path}`,
  });
}

/** Everything that was found out about a candidate, and what was decided from it. */
export interface EvaluatedRun {
  readonly findings: readonly Finding[];
  readonly stages: readonly StageRecord[];
  /** Refusals of decision guards. */
  readonly refusals: readonly Finding[];
  /** Untracked directories that the checks were given. */
  readonly dependencies: readonly DigestedThing[];
  /** Revision of the plan that led here. */
  readonly revision: number;
  /** Attempts at Tasks in all. */
  readonly attempts: number;
  /** Of the workers of those attempts, each with its name. */
  readonly workNetworks: NonNullable<AttestRequest['network']>;
  /** Resource usage of the run, by name in `objmodel.runPolicy.metricsSchema`. */
  readonly metrics: Readonly<Record<string, number>>;
  readonly input: DecisionInput;
  readonly decision: DecisionRecord;
}

/** Approval counts before any approval: only candidates need approval, attempts do not. */
export function notApprovedYet({
  identity: { contract },
}: Pick<OpenRun, 'identity'>): DecisionInput['human'] {
  const { required, minApprovers } = contract.effective.risk.humanInLoop;
  return { required, needed: minApprovers, approved: 0, rejected: 0 };
}

/** What a second run of a check is written down by. */
interface LaidOver {
  /** Of the artifact that its output becomes; absent if the output is not kept. */
  readonly name?: string;
  readonly tree: string;
  readonly laid: readonly LaidPath[];
}

/** A second run for the outcome of its check, and its output among the artifacts. */
export async function keepSecondRun(
  { box }: Pick<Attempt, 'box'>,
  { stage, check }: { readonly stage: StageName; readonly check: EffectiveCheck },
  { findings, result, tests, carried }: CheckOutcome,
  { name, tree, laid }: LaidOver,
): Promise<{ readonly record: LaidRun; readonly log?: ArtifactRecord }> {
  const bytes = result?.combined.bytes;
  const kind = { contentType: 'text/plain', extension: 'log' };
  const log =
    bytes && name !== undefined && (await box.add({ name, stage, checkId: check.id, bytes, ...kind }));
  const status = findings.some(({ severity }) => severity === 'error') ? 'failed' : 'passed';
  const tail = status === 'failed' ? printedTail(result) : undefined;
  const record: LaidRun = {
    status,
    laid,
    tree,
    ...(result?.exitCode === undefined ? {} : { exitCode: result.exitCode }),
    ...(result?.signal === undefined ? {} : { signal: result.signal }),
    timedOut: result?.timedOut ?? false,
    durationMs: Math.round(result?.durationMs ?? 0),
    ...(tests ? { tests } : {}),
    ...(carried ? { carried } : {}),
    ...(log ? { log: log.sha256 } : {}),
    ...(tail ? { outputTail: tail } : {}),
  };
  return { record, ...(log ? { log } : {}) };
}
