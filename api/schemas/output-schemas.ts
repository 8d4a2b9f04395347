import type { JsonData } from '../json-data.ts';
import { attestShapes } from './attest-schemas.ts';
import { ledgerShapes } from './ledger-schemas.ts';
import { pluginShapes } from './plugin-schemas.ts';
import { findingSchema, list, record, redactionSchema, runMembers } from './run-schema.ts';
import { serviceShapes } from './service-schemas.ts';

const text = { type: 'string' } as const;
const count = { type: 'integer', minimum: 0 } as const;
const sha256 = { type: 'string', pattern: '^[0-9a-f]{64}$' } as const;
const flag = { type: 'boolean' } as const;

const issue = record({ code: text, path: text, message: text, severity: { enum: ['error', 'warning'] } });
const run = record(runMembers.required, runMembers.optional);
const version = { type: ['string', 'null'] } as const;
const movedRefs = list(record({ ref: text, from: version, to: version, status: text }, { reason: text }));
const moved = record({ remote: text, refs: movedRefs });
const pushed = record({
  remote: text,
  refs: movedRefs,
  held: list(record({ run_id: text, decision: { enum: ['abandon', 'rollback'] } })),
});
const scope = record({ write: list(text), forbidden: list(text), whole_repository: flag });

const claimStatus = { enum: ['passed', 'failed', 'missing', 'expired', 'unverified'] } as const;
const claim = record(
  { id: text, status: claimStatus },
  { code: text, detail: { type: 'object' }, target: text },
);

/** A claim and what it rests on (`--explain`). */
const explained = record(
  {
    claim: text,
    status: claimStatus,
    says: text,
    evidence: list(record({ name: text, sha256 })),
    rule: text,
  },
  {
    code: text,
    signer: {
      anyOf: [
        record({ key_id: sha256, anchor: { enum: ['given', 'pinned', 'own'] } }),
        record({ identity: text, issuer: text }),
      ],
    },
    log: record({ origin: text, index: count, size: count }),
  },
);

const diagnosis = record({
  id: text,
  status: { enum: ['ok', 'missing', 'failed'] },
  detail: text,
  needed: flag,
});

const status = { enum: ['draft', 'active', 'deprecated', 'closed'] } as const;
const moment = { type: 'string', format: 'date-time' } as const;

/** What has become of an intent. */
const lifecycle = {
  required: {
    spec_id: text,
    digest: sha256,
    status,
    change_log: list(record({ at: moment, by: text, reason: text, diff_summary: text })),
    events: list(
      record(
        { at: moment, kind: text, by: text, reason: text },
        { from: status, status, run_id: text, superseded_by: text, supersedes: text },
      ),
    ),
  },
  optional: { thread_id: text },
};

const shapes: Readonly<Record<string, JsonData>> = {
  init: record({
    state_dir: text,
    key_id: sha256,
    ledger_origin: text,
    ledger_vkey: text,
    created: list(text),
  }),
  'spec new': record({ path: text, digest: sha256, spec: { type: 'object' } }),
  'spec validate': record({
    files: list(
      record({ path: text, valid: flag, issues: list(issue), digest: { anyOf: [sha256, { type: 'null' }] } }),
    ),
  }),
  'spec digest': record({ path: text, digest: sha256 }),
  'spec canonical': record({ path: text, canonical: text, digest: sha256 }),
  'spec show': record(
    { path: text, digest: sha256, markdown: text },
    { ...lifecycle.required, ...lifecycle.optional },
  ),
  'spec activate': record(lifecycle.required, lifecycle.optional),
  'spec close': record(lifecycle.required, lifecycle.optional),
  'spec supersede': record({ ...lifecycle.required, superseded_by: text }, lifecycle.optional),
  'spec schema': record({ schema: { type: 'object' } }),
  plan: record(
    {
      digest: sha256,
      effective: { type: 'object' },
      issues: list(issue),
      for: { enum: ['patch', 'worker'] },
      tasks: list(
        record(
          {
            id: text,
            number: count,
            kind: { enum: ['implementation', 'gate'] },
            title: text,
            goal: text,
            steps: list(text),
            constraints: list(text),
            acceptance_criteria: list(text),
            depends_on: list(text),
            stages: list(text),
          },
          { stage: text, predicted_writes: list(text) },
        ),
      ),
      edges: list({ type: 'array', prefixItems: [text, text], items: false, minItems: 2 }),
      scope,
      stages: list(record({ stage: text, checks: list(text), from_policy: list(text), rules: list(text) })),
      patch_rules: list(text),
      retention_days: count,
      ledger: list(record({ id: text, enforced_by: list(text), asked: flag })),
      unenforced: list(text),
    },
    { policy_commit: text },
  ),
  run,
  runs: record({
    runs: list(
      record(
        { run_id: text, state: runMembers.required.state, started_at: text, summary: text, spec_id: text },
        { decision: text, commit_sha: text },
      ),
    ),
  }),
  show: run,
  resume: run,
  cancel: run,
  scan: record(
    { findings: list(findingSchema), files: count, lines: count, rules: list(text) },
    { paths: list(text) },
  ),
  redact: record(
    { path: text, classes: list(text), count, redactions: list(redactionSchema) },
    { unscanned: text, content: text, content_base64: text },
  ),
  push: pushed,
  fetch: moved,
  replay: record(
    { run_id: text, equal: flag },
    {
      decision: record({ type: text, rationale: text, reasons: list(text) }),
      first_difference: record({ file: text, field: text, expected: text, found: text }),
    },
  ),
  fsck: record({
    problems: list(record({ code: text, where: text, what: text, depends_on: list(text) })),
    checked: record({ objects: count, journals: count, entries: count }),
    restored: list(text),
  }),
  gc: record({
    dry_run: flag,
    bytes: count,
    removed: list(record({ kind: text, where: text, bytes: count }, { run_id: text, files: count })),
  }),
  approve: record({
    run_id: text,
    ref: text,
    decision: { enum: ['approve', 'reject'] },
    judged: flag,
    approved: { anyOf: [count, { type: 'null' }] },
    needed: count,
    approvers: list(
      record(
        {
          source: text,
          digest: sha256,
          decision: { enum: ['approve', 'reject'] },
          principal: text,
          key_id: text,
          signed_at: text,
          status: text,
        },
        { role: text, comment: text, in_process: flag, detail: text },
      ),
    ),
  }),
  report: record(
    { run_id: text, paths: list(text) },
    { warnings: list(record({ code: text, message: text })) },
  ),
  verify: record(
    {
      verified: flag,
      checks: list(claim),
      expected: count,
      ran: count,
      targets: list(
        record(
          { target: text, kind: { enum: ['run', 'evidence', 'attestation', 'log-proof'] }, verified: flag },
          { run_id: text, commit_sha: text },
        ),
      ),
    },
    {
      explain: list(record({ target: text, claims: list(explained) })),
      warnings: list(record({ target: text, code: text, message: text })),
    },
  ),
  ...attestShapes,
  ...ledgerShapes,
  ...pluginShapes,
  ...serviceShapes,
  'sca import': record({
    advisories: count,
    records: count,
    stored: count,
    withdrawn: count,
    older: count,
    skipped: count,
    ecosystems: { type: 'object', additionalProperties: count },
    other_ecosystems: list(record({ name: text, records: count })),
    digest: { type: 'string', pattern: '^sha256:[0-9a-f]{64}$' },
    imported_at: moment,
    newest: moment,
    directory: text,
  }),
  schema: record({ command: text, schema: { type: 'object' } }),
  doctor: record({ checks: list(diagnosis) }),
  demo: record(
    {
      ...runMembers.required,
      verified: flag,
      repository: text,
      report: text,
      refused: list(
        record({
          patch: text,
          about: text,
          run_id: text,
          decision: { type: ['string', 'null'] },
          rationale: { type: ['string', 'null'] },
          rules: list(text),
        }),
      ),
      waited: list(
        record({
          about: text,
          state: text,
          rationale: { type: ['string', 'null'] },
          approvals: list(record({ principal: text, status: text })),
        }),
      ),
      approvals: list(record({ principal: text, key_id: text, in_process: flag })),
      next: list(record({ line: text, about: text, exit: count })),
    },
    runMembers.optional,
  ),
  help: record({ text }),
  version: record({ version: text }),
};

/** JSON Schema (2020-12) of each command's `data`, by command name; `help` and `version` are the global options' data. */
export const outputSchemas: Readonly<Record<string, JsonData>> = Object.fromEntries(
  Object.entries(shapes).map(([command, shape]) => [
    command,
    {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: `urn:writ:data:${command.replace(' ', '-')}`,
      title: `data of \`writ ${command}\``,
      ...shape,
    },
  ]),
);
