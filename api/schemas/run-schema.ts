/* JSON Schemas of a run and of lists of runs. */
import {
  type Admitted,
  anything,
  asItIs,
  count,
  countOrNull,
  duration,
  flag,
  integer,
  list,
  moment,
  number,
  oneOf,
  record,
  sha256,
  text,
  textOrNull,
  within,
} from './shape.ts';
import { attestedPlugin, modelWork } from './verification-schema.ts';

export const findingSchema = record(
  { rule: text, severity: oneOf('error', 'warning', 'note'), message: text },
  {
    path: text,
    line: within(1),
    column: within(1),
    check_id: text,
    detail: anything,
  },
);

/** One line of a receipt: what was removed under one rule. */
export const redactionSchema = record({
  rule: text,
  class: oneOf('internal', 'confidential', 'pii', 'phi', 'secrets'),
  count: within(1),
  digests: list(sha256),
});

const artifact = record(
  { name: text, stage: text, sha256, size_bytes: count, content_type: text },
  {
    check_id: text,
    plugin: text,
    path: text,
    expires_at: moment,
    redactions: count,
    receipt: list(redactionSchema),
    unscanned: text,
  },
  'name stage check_id plugin path sha256 size_bytes content_type expires_at redactions receipt unscanned',
);

const numbers = list(number);

const network = record({
  opened: asItIs(list(record({ hosts: list(text), reason: text }))),
  connections: list(
    record(
      {
        host: text,
        port: within(0, 65_535),
        via: oneOf('connect', 'http'),
        outcome: oneOf('allowed', 'refused', 'failed'),
        reasons: list(text),
        count: within(1),
        sent_bytes: count,
        received_bytes: count,
      },
      { why: text, address: text },
      'host port via outcome why address reasons count sent_bytes received_bytes',
    ),
  ),
});

const baseline = record(
  {},
  {
    network,
    failure: record(
      { outcome: oneOf('regression', 'old-failure', 'unknown'), reason: text },
      { new_failures: list(text) },
    ),
    speed: record(
      {
        measured: asItIs(
          list(
            record(
              { name: text, better: oneOf('lower', 'higher'), base: numbers, candidate: numbers },
              { unit: text },
            ),
          ),
        ),
        incomparable: asItIs(list(record({ name: text, reason: text }))),
        only_in_candidate: list(text),
      },
      { unmeasured: asItIs(record({ side: oneOf('base', 'candidate'), reason: text })) },
    ),
  },
);

const carriedPaths = asItIs(list(record({ path: text, sha256: text, entries: count, bytes: count })));

const carried = record({ received: carriedPaths, handed_on: carriedPaths });
const tests = record(
  { passed: count, failed: count, skipped: count, flaky: count },
  {
    duration_ms: duration,
    failed_tests: list(record({ name: text }, { duration_ms: duration })),
    slowest: list(record({ name: text, duration_ms: duration })),
  },
);
const outputTail = record({ text }, { truncated: flag });
/** A second run, with some files as the policy commit or the base has them. */
const laidRun = record(
  {
    status: oneOf('passed', 'failed'),
    laid: list(record({ path: text }, { parts: list(text) })),
    tree: text,
    timed_out: flag,
    duration_ms: duration,
  },
  { exit_code: integer, signal: text, tests, carried, log: sha256, output_tail: outputTail },
  'status laid tree exit_code signal timed_out duration_ms tests carried log output_tail',
);

const check = record(
  {
    id: text,
    kind: oneOf('command', 'testSuite', 'policy'),
    status: oneOf('passed', 'failed', 'waiting'),
    required: flag,
    command: text,
    expected_exit_code: within(0, 255),
    started_at: moment,
    duration_ms: duration,
    timed_out: flag,
    artifacts: list(artifact),
  },
  {
    exit_code: integer,
    signal: text,
    from_policy: flag,
    tolerated: flag,
    network,
    baseline,
    workspace_ms: duration,
    clock_step_ms: number,
    at_policy: laidRun,
    with_base_tests: laidRun,
    on_base_product: laidRun,
    observed: record(
      { by: oneOf('trace', 'filling', 'none') },
      { footprint: sha256, prepare: list(sha256), reason: text },
    ),
    carried,
    wrote_outside: record(
      { count, paths: list(record({ path: text, was: oneOf('added', 'changed') })) },
      { at_least: flag },
    ),
    ran_on: record(
      {},
      { worker: text, key_id: sha256, action: sha256, fence: count, here: text },
      'worker key_id action fence here',
    ),
    tests,
    output_tail: outputTail,
  },
  'id kind status required command expected_exit_code exit_code signal started_at duration_ms workspace_ms clock_step_ms ' +
    'timed_out tests from_policy tolerated network baseline at_policy with_base_tests on_base_product observed carried ' +
    'wrote_outside ran_on output_tail artifacts',
);

const stage = record(
  {
    stage: oneOf('fast', 'integration', 'security', 'release'),
    status: oneOf('passed', 'failed', 'skipped', 'waiting'),
    expected: count,
    ran: count,
    checks: list(check),
    findings: list(findingSchema),
  },
  { asked: list(record({ name: text, plugin: text, status: oneOf('passed', 'failed') })) },
);

/** What a run's data says of its spec. */
export const specMembers = {
  id: text,
  digest: sha256,
  summary: text,
  change_type: text,
  risk_level: text,
  objectives: list(text),
};

/** Changed paths that one of their owners has to approve (`.writ/owners`), the first of them, and who has. */
const ownedPaths = record({
  pattern: text,
  owners: list(text),
  principals: list(text),
  paths: list(text),
  count,
  approved: list(text),
});

/** Fields of a run's data: required, and optional if known. */
export const runMembers = {
  required: {
    run_id: text,
    thread_id: text,
    state: oneOf('running', 'waiting', 'interrupted', 'decided'),
    started_at: moment,
    spec: record(specMembers, { document: { type: 'object' } }),
    target_ref: text,
    sandbox: text,
    stages: list(stage),
    findings: list(findingSchema),
    artifacts: list(artifact),
    provenance: record(
      {},
      {
        bundle: text,
        proof: text,
        key_id: text,
        log_origin: text,
        log_index: count,
        plugins: asItIs(list(attestedPlugin)),
        models: list(modelWork),
      },
    ),
  },
  optional: {
    would: oneOf('commit', 'abandon', 'wait'),
    rationale: text,
    waiting: record(
      {
        for: oneOf('approval', 'budget'),
        needed: count,
        people: list(
          record(
            {
              source: text,
              decision: oneOf('approve', 'reject'),
              status: text,
              principal: text,
              key_id: text,
            },
            { detail: text },
          ),
        ),
      },
      { owners: list(ownedPaths) },
    ),
    retries: asItIs(
      record({
        count,
        first: list(
          record({
            failed: text,
            tasks: list(text),
            next: oneOf('retry', 'replan'),
            reason: text,
            places: list(record({ rule: text, path: text }, { line: count })),
          }),
        ),
      }),
    ),
    citations: asItIs(
      record({
        needed: count,
        count,
        first: list(
          record(
            {
              decision: text,
              sources: list(
                record(
                  { source: text, counts: flag },
                  {
                    trust_tier: oneOf('repo', 'vendor-doc', 'standards', 'web', 'user-provided'),
                    why: text,
                  },
                ),
              ),
            },
            { attempt: text, step: count },
          ),
        ),
      }),
    ),
    tool_uses: asItIs(
      record({
        count,
        tools: list(
          record({ tool: text, action: text, done: count, denied: count, failed: count }, { unknown: count }),
        ),
      }),
    ),
    notices: list(text),
    time: record({
      ...{ total_ms: count, checks_ms: count, base_ms: count },
      ...{ footprint_ms: count, second_ms: count, other_ms: count },
    }),
    push: record(
      { remote: text, branch: text, status: oneOf('pushed', 'rejected'), refs: count },
      { reason: text },
    ),
    content_ref: text,
    finished_at: moment,
    base_commit: text,
    policy_commit: text,
    policy_ref: text,
    warnings: list(record({ code: text, message: text }, { policy_ref: text, default_ref: textOrNull })),
    patch: record({
      digest: sha256,
      candidate_tree: text,
      files: list(record({ path: text, change_type: text, lines_added: count, lines_deleted: count })),
    }),
    local_changes: asItIs(record({ paths: list(text), digest: sha256 })),
    decision: record(
      {
        type: oneOf('commit', 'checkpoint', 'abandon', 'retry', 'rollback'),
        rationale: text,
        decision_digest: sha256,
      },
      { commit_sha: text },
      'type rationale commit_sha decision_digest',
    ),
  },
} as const;

/** A run as JSON. */
export const runSchema = record(
  runMembers.required,
  runMembers.optional,
  'run_id thread_id state started_at finished_at spec base_commit policy_commit policy_ref warnings target_ref ' +
    'content_ref sandbox patch local_changes decision push time would rationale retries citations tool_uses waiting notices stages findings ' +
    'artifacts provenance',
);
export type RunData = Admitted<typeof runSchema>;

/** A list of runs as JSON, drafts that wait among them. */
export const runsSchema = record({
  runs: list(
    record(
      {
        run_id: text,
        state: oneOf('running', 'waiting', 'interrupted', 'decided', 'drafted'),
        started_at: text,
        summary: text,
        spec_id: text,
      },
      {
        thread_id: text,
        decision: text,
        commit_sha: text,
        landed: flag,
        draft: record({ request: list(text), waits_for: list(text) }, { risk_level: text }),
      },
    ),
  ),
});
export type RunsData = Admitted<typeof runsSchema>;

/**
 * The approvals of a run as JSON. Where the policy commit is not in this clone, `judged` is false and `approved` null.
 */
export const approvalSchema = record(
  {
    run_id: text,
    ref: text,
    decision: oneOf('approve', 'reject'),
    judged: flag,
    approved: countOrNull,
    needed: count,
    approvers: list(
      record(
        {
          source: text,
          digest: sha256,
          decision: oneOf('approve', 'reject'),
          principal: text,
          key_id: text,
          signed_at: text,
          status: text,
        },
        { role: text, comment: text, in_process: flag, detail: text },
        'source digest decision principal role comment status detail in_process key_id signed_at',
      ),
    ),
  },
  {
    owners: list(ownedPaths),
    groups: list(record({ group: text, needed: count, approved: list(text) })),
  },
);
export type ApprovalData = Admitted<typeof approvalSchema>;

/** What deciding again came to, as JSON. `decision` is absent where the stored inputs cannot be read. */
export const replaySchema = record(
  { run_id: text, equal: flag },
  {
    decision: record({ type: text, rationale: text, reasons: list(text) }),
    first_difference: record({ file: text, field: text, expected: text, found: text }),
  },
);
export type ReplayData = Admitted<typeof replaySchema>;

/** `writ report --release A..B --json`. */
export const releaseSchema = record(
  {
    range: text,
    total: record({
      commits: count,
      sealed: count,
      verified: count,
      approvals: count,
      people: count,
      waivers: count,
      model_calls: count,
    }),
    commits: list(
      record(
        {
          commit: text,
          subject: text,
          sealed: flag,
          verified: flag,
          approvers: list(text),
          waivers: list(text),
          models: list(
            record({ provider: text, model: text, calls: count }, { agent: text, agent_sha256: sha256 }),
          ),
        },
        {
          author: text,
          authored_at: moment,
          why: text,
          run_id: text,
          signer: record({ trusted: flag }, { key_id: text, identity: text, issuer: text }),
          checks: record({ passed: count, expected: count }),
          approvals_verified: flag,
          found: list(record({ rule: text, severity: text, message: text }, { path: text, line: count })),
          spec_id: text,
          summary: text,
          change_type: text,
          risk_level: text,
          decided_at: moment,
          log_index: count,
          findings: record({ errors: count, warnings: count, notes: count }),
        },
      ),
    ),
  },
  {
    paths: list(text),
    warnings: list(record({ target: text, code: text, message: text })),
  },
);

export type ReleaseData = Admitted<typeof releaseSchema>;
