/* The shapes of all stored objects: snapshots describe a state, events describe a change. */
import { WritError } from '../core/base/errors.ts';
import { parseStrictJson } from '../core/base/strict-json.ts';
import { contextItemKinds, frameKinds } from '../core/interfaces/privacy.ts';
import { scanFormats } from '../core/interfaces/scanner.ts';
import { stageNames } from '../core/interfaces/stage.ts';
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

/** A content ref with a file of this name holds an ArtifactRef at every other path. */
export const contentMarker = '.artifact-refs';

/** Where artifact content is kept: `key` is `<ref>:<path>`; there, or at that key of the store, is the content. */
export const artifactRef = fields(
  { store: text, key: text, sha256: sha256Text, sizeBytes: wholeNumber, contentType: text },
  { expiresAt: time },
);

export const finding = fields(
  { rule: text, severity: oneOf('error', 'warning', 'note'), message: text },
  { path: text, line: wholeNumber, column: wholeNumber, detail: mapOf(anything) },
);

/** Values of `evidence.trustTiers`. */
const trustTier = oneOf('repo', 'vendor-doc', 'standards', 'web', 'user-provided');
const trust = oneOf('trusted', 'untrusted');

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

export const contextItem = fields(
  {
    kind: oneOf(...contextItemKinds, 'Text'),
    /** Path of a File, path and lines of a Snippet, or the URL. */
    name: text,
    uri: text,
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

const snapshotShapes = {
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
      /** The branch that had the policy commit as its tip. */
      policy_ref: text,
      /** The default branch; present if the policy branch is neither the target nor that. */
      default_ref: orNull(text),
      workspace_id: text,
      finished_at: time,
      environment: mapOf(text),
      metrics: mapOf(decimal),
      resolved_dependencies: listOf(mapOf(anything)),
      snapshot: uuid,
      /** The run that seals what this attempt contributes to. */
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
      /** Hinted files of languages without an import graph. */
      not_expanded: listOf(text),
    },
    {
      base_tree: gitObject,
      /** `evidence.trustTiers`, best first. */
      trust_tiers: listOf(trustTier),
      /** Found, but not admitted. */
      rejected: listOf(
        fields({ kind: oneOf(...contextItemKinds, 'Text'), name: text, reason: text, message: text }),
      ),
      unresolved: listOf(text),
      total_bytes: wholeNumber,
    },
  ),
  provenance: fields(
    {
      run: uuid,
      bundle: artifactRef,
      predicate_type: text,
      /** Algorithm → hex digest, as in in-toto. */
      subjects: listOf(fields({ name: text, digest: mapOf(text) })),
      key_id: text,
    },
    { log_origin: text, log_index: wholeNumber },
  ),
} as const;

const carriedPath = fields({ path: text, sha256: sha256Text, entries: wholeNumber, bytes: wholeNumber });
const carried = fields({ received: listOf(carriedPath), handedOn: listOf(carriedPath) });
export const wroteOutside = fields(
  { count: wholeNumber, paths: listOf(fields({ path: text, was: oneOf('added', 'changed') })) },
  { atLeast: flag },
);
/** Who signed, and the run and the sample that it is reused by; or why the command ran here. */
const reused = fields({ run: text, seed: sha256Text, percent: wholeNumber });
export const ranOn = fields(
  {},
  { worker: text, keyId: sha256Text, action: sha256Text, fence: wholeNumber, reused, here: text },
);
export const tests = fields(
  { passed: wholeNumber, failed: wholeNumber, skipped: wholeNumber },
  {
    flaky: wholeNumber,
    durationMs: decimal,
    failedTests: listOf(fields({ name: text }, { durationMs: decimal })),
    slowest: listOf(fields({ name: text, durationMs: decimal })),
  },
);
export const outputTail = fields({ text }, { truncated: flag });
export const laidRun = fields(
  {
    status: oneOf('passed', 'failed'),
    laid: listOf(fields({ path: text }, { parts: listOf(text) })),
    tree: gitObject,
    timedOut: flag,
    durationMs: decimal,
  },
  { exitCode: wholeNumber, signal: text, tests, carried, log: sha256Text, outputTail },
);
export const observed = fields(
  { by: oneOf('trace', 'filling', 'none') },
  { footprint: sha256Text, prepare: listOf(sha256Text), reason: text },
);
export const scan = fields(
  {
    name: text,
    format: oneOf(...scanFormats),
    inputs: listOf(fields({ path: text, sha256: sha256Text })),
    reports: fields({}, { base: sha256Text, candidate: sha256Text }),
    results: fields({ new: wholeNumber, unchanged: wholeNumber, absent: wholeNumber, ignored: wholeNumber }),
  },
  { tool: text, version: text, supplies: text },
);
export const asked = listOf(fields({ name: text, plugin: text, status: oneOf('passed', 'failed') }));
const lifecycleStatus = oneOf('draft', 'active', 'deprecated', 'closed');

const eventShapes = {
  intent_event: fields(
    {
      intent: uuid,
      kind: oneOf('created', 'activated', 'replanned', 'deprecated', 'closed', 'run-started', 'run-decided'),
      by: text,
      reason: text,
    },
    {
      /** After and before the event; absent if it changes neither. */
      status: lifecycleStatus,
      from: lifecycleStatus,
      diff_summary: text,
      run: uuid,
      superseded_by: text,
      supersedes: text,
    },
  ),
  task_event: fields(
    {
      task: uuid,
      kind: oneOf('queued', 'started', 'attempt-failed', 'retried', 'accepted', 'abandoned', 'blocked'),
      /** From 1; 0 before the first. */
      attempt: wholeNumber,
    },
    { run: uuid, reason: text },
  ),
  run_event: fields({ run: uuid, kind: text, data: mapOf(anything) }),
  plan_step_event: fields({
    plan: uuid,
    /** Index into the plan's `steps`. */
    step: wholeNumber,
    status: oneOf('pending', 'in_progress', 'completed', 'failed'),
  }),
  tool_invocation: fields(
    {
      run: uuid,
      tool: text,
      action: text,
      /** `unknown`: the waiting process was killed. */
      outcome: oneOf('done', 'denied', 'failed', 'unknown'),
      duration_ms: decimal,
      started_at: time,
    },
    {
      check_id: text,
      command: text,
      exit_code: wholeNumber,
      refusal: text,
      path: text,
      /** Query or address of a web request. */
      query: text,
      /** Digests of arguments and result of a worker's call, masked. */
      arguments_digest: sha256Text,
      result_digest: sha256Text,
    },
  ),
  context_frame: fields(
    {
      run: uuid,
      kind: oneOf(...frameKinds),
      seq: wholeNumber,
      protected: flag,
      summary: text,
      evicted: flag,
    },
    { trust, trust_tier: trustTier, digest: sha256Text },
  ),
  run_usage: fields(
    {
      run: uuid,
      /** Units of 0.001 USD. */
      cost_units: decimal,
      wall_clock_seconds: decimal,
      patchsets_generated: wholeNumber,
      attempt: wholeNumber,
    },
    { tokens_used: wholeNumber },
  ),
  evidence: fields(
    {
      run: uuid,
      patchset: uuid,
      /** `<stage>:<check id>`, or the stage alone for findings of the stage itself. */
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
      /** Times of the check's own command: `started_at` plus `duration_ms` is its end. */
      started_at: time,
      duration_ms: decimal,
      /** Time to make its workspace, before `started_at`. */
      workspace_ms: decimal,
      /** How much the wall clock was set during the check. */
      clock_step_ms: decimal,
      tests,
      summary: text,
      /** The reports that third-party plugins made. */
      made_by: listOf(fields({ sha256: sha256Text, plugin: text })),
      /** All stage checks of plugins that ran. */
      asked,
      /** Required by the policy commit, independently of the spec. */
      from_policy: flag,
      /** An old failure that the spec tolerates. */
      tolerated: flag,
      /** Everything that passed between this and other checks. */
      carried,
      /** Files that its command left outside the write scope of the spec. */
      wrote_outside: wroteOutside,
      /** The worker that ran its command, or why it ran on the machine of the run. */
      ran_on: ranOn,
      /** The last lines of a failed check, redacted. */
      output_tail: outputTail,
      /** A second run, with the verification inputs of the policy commit. */
      at_policy: laidRun,
      /** A second run, with the test files of the base. */
      with_base_tests: laidRun,
      /** A second run, of the base with the test files of the candidate. */
      on_base_product: laidRun,
      /** How the inputs of the check were observed. */
      observed,
      /** The scanner and its results. */
      scan,
    },
  ),
  decision: fields(
    {
      run: uuid,
      type: oneOf('commit', 'checkpoint', 'abandon', 'retry', 'rollback'),
      rationale: text,
      reasons: listOf(text),
      /** Digests of the decision-input record and of the decision record that replay must reproduce. */
      input_digest: sha256Text,
      decision_digest: sha256Text,
      evidence: listOf(uuid),
    },
    {
      patchset: uuid,
      commit_sha: gitObject,
      tree: gitObject,
      target_ref: text,
      /** Why a change was committed without the provenance that its spec requires. */
      unproven: text,
      previous: uuid,
      bundle: text,
      proof: text,
      key_id: text,
      log_origin: text,
      log_index: wholeNumber,
      /** `retry`, `replan`, `wait`, … */
      next: text,
      task: uuid,
      attempt: wholeNumber,
      /** The replan trigger of the execution policy. */
      trigger: text,
    },
  ),
} as const;

/** A reference to artifact content, which may have expired. */
export type ArtifactRef = TypeOf<typeof artifactRef>;

/** A reference is a few hundred bytes. */
const maxReferenceBytes = 16 * 1024;

/** Reads the file of a content ref that holds an ArtifactRef. OBJECT_CORRUPT, with what is wrong as `problems`. */
export function parseArtifactRef(bytes: Uint8Array, path: string): ArtifactRef {
  const limits = { code: 'OBJECT_CORRUPT', maxBytes: maxReferenceBytes } as const;
  const { value } = parseStrictJson(bytes, limits);
  const problems: string[] = [];
  artifactRef.check(value, '', problems);
  if (problems.length > 0) throw malformedReference(path, problems);
  return value as ArtifactRef;
}

export function malformedReference(path: string, problems: readonly string[]): WritError {
  return new WritError('OBJECT_CORRUPT', {
    message: `the reference to the content of \`${path}\` is malformed: ${problems[0]}`,
    detail: { path, problems },
  });
}

/** The body of each object type; the header is the same for all. */
export const objectShapes = { ...snapshotShapes, ...eventShapes } as const;

export type ObjectType = keyof typeof objectShapes;
export type ObjectBody<T extends ObjectType> = TypeOf<(typeof objectShapes)[T]>;

/** Every object type, snapshots first. */
export const objectTypes = Object.keys(objectShapes) as readonly ObjectType[];
