import type { JsonData } from '../json-data.ts';

const text = { type: 'string' } as const;
const count = { type: 'integer', minimum: 0 } as const;
const sha256 = { type: 'string', pattern: '^[0-9a-f]{64}$' } as const;
const moment = { type: 'string', format: 'date-time' } as const;

/** A closed object: `required` are always there, `optional` may be absent, nothing else is. */
export function record(
  required: Readonly<Record<string, unknown>>,
  optional: Readonly<Record<string, unknown>> = {},
): JsonData {
  return {
    type: 'object',
    required: Object.keys(required),
    properties: { ...required, ...optional },
    additionalProperties: false,
  };
}

export function list(items: unknown): JsonData {
  return { type: 'array', items };
}

export const findingSchema = record(
  { rule: text, severity: { enum: ['error', 'warning', 'note'] }, message: text },
  {
    path: text,
    line: { type: 'integer', minimum: 1 },
    column: { type: 'integer', minimum: 1 },
    check_id: text,
    detail: { type: 'object' },
  },
);

/** One line of a receipt: what was removed under one rule. */
export const redactionSchema = record({
  rule: text,
  class: { enum: ['internal', 'confidential', 'pii', 'phi', 'secrets'] },
  count: { type: 'integer', minimum: 1 },
  digests: list(sha256),
});

const artifact = record(
  { name: text, stage: text, sha256, size_bytes: count, content_type: text },
  {
    check_id: text,
    path: text,
    expires_at: moment,
    redactions: count,
    receipt: list(redactionSchema),
    unscanned: text,
  },
);

const numbers = list({ type: 'number' });

const network = record({
  opened: list(record({ hosts: list(text), reason: text })),
  connections: list(
    record(
      {
        host: text,
        port: { type: 'integer', minimum: 0, maximum: 65_535 },
        via: { enum: ['connect', 'http'] },
        outcome: { enum: ['allowed', 'refused', 'failed'] },
        reasons: list(text),
        count: { type: 'integer', minimum: 1 },
        sent_bytes: count,
        received_bytes: count,
      },
      { why: text, address: text },
    ),
  ),
});

const baseline = record(
  {},
  {
    network,
    failure: record(
      { outcome: { enum: ['regression', 'old-failure', 'unknown'] }, reason: text },
      { new_failures: list(text) },
    ),
    speed: record(
      {
        measured: list(
          record(
            { name: text, better: { enum: ['lower', 'higher'] }, base: numbers, candidate: numbers },
            { unit: text },
          ),
        ),
        incomparable: list(record({ name: text, reason: text })),
        only_in_candidate: list(text),
      },
      { unmeasured: record({ side: { enum: ['base', 'candidate'] }, reason: text }) },
    ),
  },
);

const carriedPaths = list(record({ path: text, sha256: text, entries: count, bytes: count }));

const carried = record({ received: carriedPaths, handed_on: carriedPaths });
const tests = record(
  { passed: count, failed: count, skipped: count, flaky: count },
  {
    duration_ms: { type: 'number', minimum: 0 },
    failed_tests: list(record({ name: text }, { duration_ms: { type: 'number', minimum: 0 } })),
    slowest: list(record({ name: text, duration_ms: { type: 'number', minimum: 0 } })),
  },
);
/** A second run, with some files as the policy commit or the base has them. */
const laidRun = record(
  {
    status: { enum: ['passed', 'failed'] },
    laid: list(record({ path: text }, { parts: list(text) })),
    tree: text,
    timed_out: { type: 'boolean' },
    duration_ms: { type: 'number', minimum: 0 },
  },
  { exit_code: { type: 'integer' }, signal: text, tests, carried, log: sha256 },
);

const check = record(
  {
    id: text,
    kind: { enum: ['command', 'testSuite', 'policy'] },
    status: { enum: ['passed', 'failed', 'waiting'] },
    required: { type: 'boolean' },
    command: text,
    expected_exit_code: { type: 'integer', minimum: 0, maximum: 255 },
    started_at: moment,
    duration_ms: { type: 'number', minimum: 0 },
    timed_out: { type: 'boolean' },
    artifacts: list(artifact),
  },
  {
    exit_code: { type: 'integer' },
    signal: text,
    from_policy: { type: 'boolean' },
    tolerated: { type: 'boolean' },
    network,
    baseline,
    at_policy: laidRun,
    with_base_tests: laidRun,
    carried,
    tests,
  },
);

const stage = record({
  stage: { enum: ['fast', 'integration', 'security', 'release'] },
  status: { enum: ['passed', 'failed', 'skipped', 'waiting'] },
  expected: count,
  ran: count,
  checks: list(check),
  findings: list(findingSchema),
});

/** Members of a run's data (`5-cli.md`): always there, and there when known. */
export const runMembers = {
  required: {
    run_id: text,
    thread_id: text,
    state: { enum: ['running', 'waiting', 'interrupted', 'decided'] },
    started_at: moment,
    spec: record({
      id: text,
      digest: sha256,
      summary: text,
      change_type: text,
      risk_level: text,
      objectives: list(text),
    }),
    target_ref: text,
    sandbox: text,
    stages: list(stage),
    findings: list(findingSchema),
    artifacts: list(artifact),
    provenance: record({}, { bundle: text, proof: text, key_id: text, log_origin: text, log_index: count }),
  },
  optional: {
    waiting: record({
      for: { enum: ['approval', 'budget'] },
      needed: count,
      people: list(
        record(
          {
            source: text,
            decision: { enum: ['approve', 'reject'] },
            status: text,
            principal: text,
            key_id: text,
          },
          { detail: text },
        ),
      ),
    }),
    notices: list(text),
    content_ref: text,
    finished_at: moment,
    base_commit: text,
    policy_commit: text,
    policy_ref: text,
    warnings: list(
      record({ code: text, message: text }, { policy_ref: text, default_ref: { type: ['string', 'null'] } }),
    ),
    patch: record({
      digest: sha256,
      candidate_tree: text,
      files: list(record({ path: text, change_type: text, lines_added: count, lines_deleted: count })),
    }),
    decision: record(
      {
        type: { enum: ['commit', 'checkpoint', 'abandon', 'retry', 'rollback'] },
        rationale: text,
        decision_digest: sha256,
      },
      { commit_sha: text },
    ),
  },
} as const;
