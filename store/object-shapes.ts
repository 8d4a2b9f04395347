import { frameKinds } from '../core/interfaces/evidence.ts';
import { scanFormats } from '../core/interfaces/scanner.ts';
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
  sha256Text,
  type TypeOf,
  text,
  time,
  uuid,
  wholeNumber,
} from './shape.ts';
import { snapshotShapes } from './snapshot-shapes.ts';

const carriedPath = fields({ path: text, sha256: sha256Text, entries: wholeNumber, bytes: wholeNumber });
const carried = fields({ received: listOf(carriedPath), handedOn: listOf(carriedPath) });
const wroteOutside = fields(
  { count: wholeNumber, paths: listOf(fields({ path: text, was: oneOf('added', 'changed') })) },
  { atLeast: flag },
);
const tests = fields(
  { passed: wholeNumber, failed: wholeNumber, skipped: wholeNumber },
  {
    flaky: wholeNumber,
    durationMs: decimal,
    failedTests: listOf(fields({ name: text }, { durationMs: decimal })),
    slowest: listOf(fields({ name: text, durationMs: decimal })),
  },
);
const outputTail = fields({ text }, { truncated: flag });
const laidRun = fields(
  {
    status: oneOf('passed', 'failed'),
    laid: listOf(fields({ path: text }, { parts: listOf(text) })),
    tree: gitObject,
    timedOut: flag,
    durationMs: decimal,
  },
  { exitCode: wholeNumber, signal: text, tests, carried, log: sha256Text, outputTail },
);
const lifecycleStatus = oneOf('draft', 'active', 'deprecated', 'closed');

/** Bodies of the events: what happened (architecture, Data). */
const eventShapes = {
  intent_event: fields(
    {
      intent: uuid,
      kind: oneOf('created', 'activated', 'replanned', 'deprecated', 'closed', 'run-started', 'run-decided'),
      by: text,
      reason: text,
    },
    {
      /** After and before; absent where the event changes neither. */
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
      /** `unknown`: the process that waited for it was killed. */
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
      /** Query or address of a use of the web. */
      query: text,
      /** Of a worker's use: of what it asked for and what it was told, masked. */
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
      /** Units of 0.001 USD (resolutions, maxCostUnits). */
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
      /** Of its own command: together they are its end. */
      started_at: time,
      duration_ms: decimal,
      /** Making its workspace, before `started_at`. */
      workspace_ms: decimal,
      /** The wall clock was set meanwhile, by so much. */
      clock_step_ms: decimal,
      tests,
      summary: text,
      /** Of `reports`, what plugins of others made. */
      made_by: listOf(fields({ sha256: sha256Text, plugin: text })),
      /** The stage checks of plugins that were asked, whatever they said. */
      asked: listOf(fields({ name: text, plugin: text, status: oneOf('passed', 'failed') })),
      /** Demanded by the policy commit, whatever the contract asks. */
      from_policy: flag,
      /** An old failure that the contract tolerates. */
      tolerated: flag,
      /** What other checks handed to it and what it handed on: nothing else passed between them. */
      carried,
      /** What its command left outside the contract's write scope. */
      wrote_outside: wroteOutside,
      /** Of a check that failed: the last lines that it printed, redacted. */
      output_tail: outputTail,
      /** A second run, with what judges as the policy commit has it. */
      at_policy: laidRun,
      /** A second run, with test files as the base has them. */
      with_base_tests: laidRun,
      /** A second run, of the base with test files as the candidate has them. */
      on_base_product: laidRun,
      /** How the check was observed before it judged. */
      observed: fields(
        { by: oneOf('trace', 'filling', 'none') },
        { footprint: sha256Text, prepare: listOf(sha256Text), reason: text },
      ),
      /** What a scanner showed, and what it was. */
      scan: fields(
        {
          name: text,
          format: oneOf(...scanFormats),
          inputs: listOf(fields({ path: text, sha256: sha256Text })),
          reports: fields({}, { base: sha256Text, candidate: sha256Text }),
          results: fields({
            new: wholeNumber,
            unchanged: wholeNumber,
            absent: wholeNumber,
            ignored: wholeNumber,
          }),
        },
        { tool: text, version: text, supplies: text },
      ),
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
      /** Why a change was made without the provenance that its contract wants. */
      unproven: text,
      previous: uuid,
      bundle: text,
      proof: text,
      key_id: text,
      log_origin: text,
      log_index: wholeNumber,
      /** What follows: `retry`, `replan`, `wait`, … */
      next: text,
      task: uuid,
      attempt: wholeNumber,
      /** The replan trigger (document 1, Execution policy) that it answers. */
      trigger: text,
    },
  ),
} as const;

/** A reference to artifact content; the object that holds it stays when the content has expired. */
export type ArtifactRef = TypeOf<typeof artifactRef>;

/** The body of each object type; the header is the same for all. */
export const objectShapes = { ...snapshotShapes, ...eventShapes } as const;

export type ObjectType = keyof typeof objectShapes;
export type ObjectBody<T extends ObjectType> = TypeOf<(typeof objectShapes)[T]>;

/** Every object type, snapshots first. */
export const objectTypes = Object.keys(objectShapes) as readonly ObjectType[];
