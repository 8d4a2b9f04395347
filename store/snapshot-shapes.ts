import { contextItemKinds } from '../core/interfaces/evidence.ts';
import { stageNames } from '../core/interfaces/stage.ts';
import { artifactRef, finding, trust, trustTier } from './part-shapes.ts';
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
  text,
  time,
  uuid,
  wholeNumber,
} from './shape.ts';

/** One changed file of a PatchSet. */
export const patchFile = fields(
  {
    path: text,
    change_type: oneOf('add', 'modify', 'delete', 'rename', 'copy', 'mode'),
    binary: flag,
    lines_added: wholeNumber,
    lines_deleted: wholeNumber,
  },
  { old_path: text, old_mode: text, new_mode: text, old_blob: gitObject, new_blob: gitObject },
);

const contextItem = fields(
  {
    kind: oneOf(...contextItemKinds, 'Text'),
    /** Path of a File, path and lines of a Snippet, the URL itself. */
    name: text,
    uri: text,
    /** Of the content that was admitted. */
    sha256: sha256Text,
    trust_tier: trustTier,
    /** The hint, strategy or hop that brought it in. */
    selected_by: text,
  },
  {
    tags: mapOf(text),
    trust,
    size_bytes: wholeNumber,
    content: artifactRef,
    line_from: wholeNumber,
    line_to: wholeNumber,
  },
);

/** Bodies of the snapshots: what something is (architecture, Data). */
export const snapshotShapes = {
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
    { previous: uuid, reason: text, diff_summary: text },
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
    {
      plan: uuid,
      gate_stage: oneOf(...stageNames),
      /** Place in the plan, from 1. */
      number: wholeNumber,
      kind: oneOf('implementation', 'gate'),
      /** Patterns; absent: unknown, resolved at merge. */
      predicted_writes: listOf(text),
    },
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
      policy_commit: orNull(gitObject),
      target_ref: text,
      sandbox: text,
      scheduler_version: text,
      started_at: time,
    },
    {
      /** The branch that the policy commit was the tip of. */
      policy_ref: text,
      /** Present where that is neither the target nor the default branch: this one. */
      default_ref: orNull(text),
      workspace_id: text,
      finished_at: time,
      environment: mapOf(text),
      metrics: mapOf(decimal),
      resolved_dependencies: listOf(mapOf(anything)),
      /** The context snapshot that it started from. */
      snapshot: uuid,
      /** The run that seals what this attempt at a Task contributes to. */
      attempt_of: uuid,
      outcome: text,
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
  context_snapshot: fields(
    {
      run: uuid,
      /** `evidence.strategy`. */
      strategy: text,
      items: listOf(contextItem),
      /** What was hinted at and could not be followed: files of languages without an import graph. */
      not_expanded: listOf(text),
    },
    {
      base_tree: gitObject,
      /** `evidence.trustTiers`, best first. */
      trust_tiers: listOf(trustTier),
      /** What was looked up and did not enter. */
      rejected: listOf(
        fields({ kind: oneOf(...contextItemKinds, 'Text'), name: text, reason: text, message: text }),
      ),
      /** Hints that lead nowhere. */
      unresolved: listOf(text),
      total_bytes: wholeNumber,
    },
  ),
  provenance: fields(
    {
      run: uuid,
      bundle: artifactRef,
      predicate_type: text,
      /** As in-toto names them: algorithm to hex digest. */
      subjects: listOf(fields({ name: text, digest: mapOf(text) })),
      key_id: text,
    },
    { log_origin: text, log_index: wholeNumber },
  ),
} as const;
