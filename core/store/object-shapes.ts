import { stageNames } from '../contract/stage.ts';
import {
  anything,
  decimal,
  fields,
  flag,
  gitObject,
  listOf,
  mapOf,
  oneOf,
  orNull,
  sha256Text,
  type TypeOf,
  text,
  time,
  uuid,
  wholeNumber,
} from './shape.ts';

/** Where artifact content is kept (architecture, Data): `key` is `<ref>:<path>` in store `git-native`. */
const artifactRef = fields(
  { store: text, key: text, sha256: sha256Text, sizeBytes: wholeNumber, contentType: text },
  { expiresAt: time },
);
export type ArtifactRef = TypeOf<typeof artifactRef>;

const finding = fields(
  { rule: text, severity: oneOf('error', 'warning', 'note'), message: text },
  { path: text, line: wholeNumber, column: wholeNumber, detail: mapOf(anything) },
);

const patchFile = fields(
  {
    path: text,
    change_type: oneOf('add', 'modify', 'delete', 'rename', 'copy', 'mode'),
    binary: flag,
    lines_added: wholeNumber,
    lines_deleted: wholeNumber,
  },
  { old_path: text, old_mode: text, new_mode: text, old_blob: gitObject, new_blob: gitObject },
);

/** The body of each object type; the header is the same for all. */
export const objectShapes = {
  intent: fields(
    {
      intentspec_digest: sha256Text,
      summary: text,
      /** `problemStatement`, verbatim. */
      prompt: text,
      change_type: text,
      risk_level: oneOf('low', 'medium', 'high'),
      objectives: listOf(text),
    },
    { intentspec: artifactRef, effective_intentspec: artifactRef },
  ),
  plan: fields(
    {
      intent: uuid,
      revision: wholeNumber,
      steps: listOf(fields({ objective: text }, { task: uuid })),
      tasks: listOf(uuid),
      /** [before, after] */
      edges: listOf(listOf(uuid)),
      scope: fields({ write: listOf(text), forbidden: listOf(text), whole_repository: flag }),
      stages: listOf(oneOf(...stageNames)),
    },
    { previous: uuid, reason: text },
  ),
  task: fields(
    {
      intent: uuid,
      title: text,
      goal: text,
      steps: listOf(text),
      constraints: listOf(text),
      acceptance_criteria: listOf(text),
      depends_on: listOf(uuid),
    },
    { plan: uuid, gate_stage: oneOf(...stageNames) },
  ),
  run: fields(
    {
      intent: uuid,
      plan: uuid,
      task: uuid,
      thread_id: text,
      attempt: wholeNumber,
      base_ref: text,
      base_commit: orNull(gitObject),
      base_tree: gitObject,
      target_ref: text,
      sandbox: text,
      scheduler_version: text,
      started_at: time,
    },
    {
      workspace_id: text,
      finished_at: time,
      environment: mapOf(text),
      metrics: mapOf(decimal),
      resolved_dependencies: listOf(mapOf(anything)),
    },
  ),
  patchset: fields(
    {
      run: uuid,
      digest: sha256Text,
      base_commit: orNull(gitObject),
      base_tree: gitObject,
      candidate_tree: gitObject,
      format: oneOf('GitDiff', 'Unified'),
      apply_status: oneOf('Proposed', 'Rejected', 'Applied'),
      files: listOf(patchFile),
      findings: listOf(finding),
    },
    { content: artifactRef },
  ),
  evidence: fields(
    {
      run: uuid,
      patchset: uuid,
      /** `<stage>:<check id>`, or the stage alone for what the stage itself found. */
      kind: text,
      stage: oneOf(...stageNames),
      status: oneOf('passed', 'failed', 'skipped', 'waiting'),
      required: flag,
      reports: listOf(artifactRef),
      findings: listOf(finding),
    },
    {
      check_id: text,
      check_kind: oneOf('command', 'testSuite', 'policy'),
      command: text,
      exit_code: wholeNumber,
      expected_exit_code: wholeNumber,
      signal: text,
      timed_out: flag,
      started_at: time,
      duration_ms: decimal,
      tests: fields({ passed: wholeNumber, failed: wholeNumber, skipped: wholeNumber }),
      summary: text,
    },
  ),
  decision: fields(
    {
      run: uuid,
      type: oneOf('commit', 'checkpoint', 'abandon', 'retry', 'rollback'),
      rationale: text,
      reasons: listOf(text),
      /** Digest of the decision-input record and of the decision record that replay must reproduce. */
      input_digest: sha256Text,
      decision_digest: sha256Text,
      evidence: listOf(uuid),
    },
    {
      patchset: uuid,
      commit_sha: gitObject,
      tree: gitObject,
      target_ref: text,
      previous: uuid,
      bundle: text,
      proof: text,
      key_id: text,
      log_origin: text,
      log_index: wholeNumber,
    },
  ),
} as const;

export type ObjectType = keyof typeof objectShapes;
export type ObjectBody<T extends ObjectType> = TypeOf<(typeof objectShapes)[T]>;
