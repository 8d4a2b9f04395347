/* The JSON Schema of each command's data, by command name. */
import { partKindNames } from '../../plugins/third-party/part-kinds.ts';
import { attestShapes, graphSchema, queueSchema, serviceShapes } from './other-schemas.ts';
import { cancelledSchema, draftedRunSchema, issueSchema, planSchema, shownRunSchema } from './plan-schema.ts';
import {
  approvalSchema,
  findingSchema,
  redactionSchema,
  releaseSchema,
  replaySchema,
  runMembers,
  runsSchema,
  specMembers,
} from './run-schema.ts';
import type { JsonData } from './shape.ts';
import {
  count,
  countOrNull,
  duration,
  flag,
  integer,
  list,
  moment,
  oneOf,
  record,
  sha256,
  text,
  textOrNull,
} from './shape.ts';
import { verificationSchema } from './verification-schema.ts';

const digest = { type: 'string', pattern: '^sha256:[0-9a-f]{64}$' } as const;

const part = record({ kind: text, name: text });

/** Shapes of `writ plugin …`. */
const pluginShapes = {
  'plugin list': record({
    plugins: list(
      record(
        {
          name: text,
          source: { enum: ['built-in', 'path', 'package'] },
          status: { enum: ['loaded', 'trusted', 'untrusted', 'changed', 'missing', 'uncommitted'] },
          enforces: list(text),
          rules: list(text),
          parts: list(part),
          needs: list(text),
        },
        { place: text, version: text, digest, found_digest: digest },
      ),
    ),
  }),
  'plugin new': record({ path: text, name: text, files: list(text) }),
  'plugin test': record({
    name: text,
    version: text,
    digest,
    needs: list(text),
    rules: list(record({ id: text, cases: { type: 'integer', minimum: 0 }, failures: list(text) })),
    parts: list(
      record({
        kind: { enum: partKindNames },
        name: text,
        cases: { type: 'integer', minimum: 0 },
        failures: list(text),
      }),
    ),
  }),
  'plugin add': record(
    {
      name: text,
      version: text,
      digest,
      rules: list(text),
      parts: list(part),
      needs: list(text),
      kept: flag,
      changed: flag,
      files: list(text),
      next: list(text),
    },
    { path: text, package: text },
  ),
  'plugin pack': record({
    path: text,
    name: text,
    version: text,
    digest,
    sha256,
    size_bytes: count,
    files: list(record({ path: text, size_bytes: count })),
    left_out: list(text),
    config: text,
    rules: list(text),
    parts: list(part),
    needs: list(text),
  }),
  'plugin trust': record(
    { digest, trusted: flag, changed: flag, files: list(text), next: list(text) },
    { name: text, version: text, rules: list(text), parts: list(part), needs: list(text) },
  ),
} as const;

const vault = { enum: ['repository', 'global'] } as const;

const configured = { name: text, from: { enum: ['user', 'policy'] } } as const;

/** Shapes of `data` of the `mcp` commands: keys of the table as it is in the file. */
const mcpShapes: Readonly<Record<string, JsonData>> = {
  'mcp add': record(
    { ...configured, path: text, reach: text },
    {
      command: list(text),
      url: text,
      directory: text,
      workspace: { const: 'read' },
      hosts: list(text),
      token: text,
      tools: list(text),
      env: { type: 'object', additionalProperties: text },
    },
  ),
  'mcp list': record({
    servers: list(record({ ...configured, endpoint: text, reach: text }, { command: list(text), url: text })),
    uncommitted: list(text),
  }),
  'mcp remove': record({ ...configured, path: text }),
};

/** Shapes of `data` of the `vault` commands; never a value. */
const vaultShapes: Readonly<Record<string, JsonData>> = {
  'vault set': record({ name: text, vault, replaced: flag, scopes: list(text) }),
  'vault list': record({ secrets: list(record({ name: text, vault, scopes: list(text) })) }),
  'vault rm': record({ name: text, vault }),
};

/** What an audit of a whole ledger found. `continues_from`: the size at which this user last saw it. */
export const auditSchema = record({
  origin: text,
  vkey: text,
  entries: count,
  root_hash: sha256,
  cosigned_by: list(text),
  continues_from: countOrNull,
  directory: text,
});

const copiedLog = { origin: text, entries: count, added: count, root_hash: sha256, directory: text };

/** Shapes of `data` of the `ledger` commands. */
const ledgerShapes: Readonly<Record<string, JsonData>> = {
  'ledger show': record({
    origin: text,
    vkey: text,
    size: count,
    root_hash: sha256,
    checkpoint: text,
    signatures: list(record({ name: text, key_hint: { type: 'string', pattern: '^[0-9a-f]{8}$' } })),
    directory: text,
  }),
  'ledger prove': record(
    {
      origin: text,
      index: count,
      size: count,
      root_hash: sha256,
      hashes: list(sha256),
      entry_sha256: sha256,
      entry_bytes: count,
      proof: text,
    },
    { path: text },
  ),
  'ledger consistency': record({
    origin: text,
    from: count,
    to: count,
    from_root: sha256,
    to_root: sha256,
    hashes: list(sha256),
    size: count,
    remembered: list(count),
  }),
  'ledger audit': auditSchema,
  'ledger export-trusted-root': record(
    { origin: text, log_id: sha256, trusted_root: { type: 'object' } },
    { path: text },
  ),
  'ledger rotate': record({ origin: text, size: count, vkey: text, old_vkey: text }, { retired_key: text }),
  'ledger serve': record(
    { origin: text, url: text, directory: text, requests: count },
    { vkey: text, entries: count },
  ),
  'ledger token': record(
    {},
    {
      name: text,
      token: text,
      removed: { type: 'boolean' },
      tokens: list(record({ name: text, per_minute: count, max_bytes: count })),
    },
  ),
  'ledger backup': record(copiedLog),
  'ledger restore': record({ ...copiedLog, compared: list(record({ from: text, size: count })) }),
  'ledger migrate': record(
    { origin: text, entries: count, indexes: list(count), checkpoint: text, shared_checkpoint: text },
    { path: text },
  ),
};

const version = { type: ['string', 'null'] } as const;
const movedRefs = list(record({ ref: text, from: version, to: version, status: text }, { reason: text }));
const moved = record({ remote: text, refs: movedRefs });
const pushed = record({
  remote: text,
  refs: movedRefs,
  held: list(record({ run_id: text, decision: { enum: ['abandon', 'rollback'] } })),
});

const diagnosis = record({
  id: text,
  status: { enum: ['ok', 'missing', 'failed'] },
  detail: text,
  needed: flag,
});

const status = { enum: ['draft', 'active', 'deprecated', 'closed'] } as const;

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

const scanSchema = record(
  { findings: list(findingSchema), files: count, lines: count, rules: list(text) },
  { paths: list(text) },
);

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
      record({
        path: text,
        valid: flag,
        issues: list(issueSchema),
        digest: { anyOf: [sha256, { type: 'null' }] },
      }),
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
  plan: planSchema,
  run: draftedRunSchema,
  seal: record(
    {
      ...runMembers.required,
      spec: record({ ...specMembers, document: { type: 'object' } }),
    },
    runMembers.optional,
  ),
  ci: record(
    {
      run_id: text,
      outcome: { enum: ['commit', 'abandon', 'wait', 'rollback', 'none'] },
      reports: text,
      posted: flag,
      landed: flag,
    },
    { would: { enum: ['commit', 'abandon', 'wait'] }, pull: count, commit: text, branch: text },
  ),
  'ci init': record({
    system: { enum: ['github', 'gitlab', 'shell'] },
    branch: text,
    files: list(record({ path: text, status: { enum: ['written', 'kept'] } })),
    checks: list(text),
    installs: list(text),
    package: textOrNull,
    next: list(text),
    dry_run: flag,
  }),
  'ci-comment': record({ pull: countOrNull }),
  runs: runsSchema,
  explain: record({ subject: text, reasons: list(text), next: list(text) }),
  rules: record({
    rules: list(record({ id: text, point: text, refuses: text, example: text, mend: text }, { allow: text })),
  }),
  'config print': record({
    policy_commit: { type: ['string', 'null'] },
    values: list(record({ key: text, value: {}, from: text })),
  }),
  queue: queueSchema,
  'queue add': queueSchema,
  'queue remove': queueSchema,
  'queue run': queueSchema,
  'queue show': queueSchema,
  'hook install': record({ hook: text, path: text, kept: textOrNull, dry_run: flag }),
  'hook uninstall': record({ hook: text, path: text, restored: flag }),
  'hook run': { anyOf: [record({ scanned: count }), scanSchema] },
  lsp: record({}),
  worker: record({
    taken: count,
    published: count,
    declined: count,
    superseded: count,
    failed: count,
    running: count,
  }),
  completion: record({ shell: text, script: text }),
  complete: record({ text }),
  show: shownRunSchema,
  graph: graphSchema,
  resume: draftedRunSchema,
  cancel: cancelledSchema,
  scan: scanSchema,
  baseline: record({ path: text, findings: count, rules: list(record({ id: text, findings: count })) }),
  redact: record(
    { path: text, classes: list(text), count, redactions: list(redactionSchema) },
    { unscanned: text, content: text, content_base64: text },
  ),
  push: pushed,
  fetch: moved,
  replay: replaySchema,
  fsck: record(
    {
      problems: list(record({ code: text, where: text, what: text, depends_on: list(text) })),
      checked: record({
        objects: count,
        journals: count,
        entries: count,
        threads: count,
        audit_lines: count,
      }),
      restored: list(text),
    },
    {
      not_landed: list(record({ where: text, commit: text, ref: text })),
      landing_unknown: list(record({ where: text, commit: text, fetch: text })),
    },
  ),
  gc: record({
    dry_run: flag,
    bytes: count,
    removed: list(record({ kind: text, where: text, bytes: count }, { run_id: text, files: count })),
  }),
  approve: approvalSchema,
  report: {
    anyOf: [
      record({ run_id: text, paths: list(text) }, { warnings: list(record({ code: text, message: text })) }),
      releaseSchema,
    ],
  },
  verify: verificationSchema,
  ...attestShapes,
  ...ledgerShapes,
  ...pluginShapes,
  ...serviceShapes,
  ...vaultShapes,
  ...mcpShapes,
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
  demo: {
    anyOf: [
      record(
        {
          ...runMembers.required,
          verified: flag,
          model: record({
            run_id: text,
            request: text,
            provider: text,
            model: text,
            draft_turns: count,
            spec_digest: sha256,
            risk_level: text,
            repairs: list(text),
            objectives: list(text),
            retries: count,
            decision: textOrNull,
            commit_sha: textOrNull,
            verified: flag,
          }),
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
      record(
        {
          ...runMembers.required,
          verified: flag,
          repository: text,
          session: record({
            thread_id: text,
            request: text,
            status: text,
            runs: list(text),
            plans: list(record({ revision: count, status: text, repair: count, steps: list(text) })),
            nodes: count,
          }),
        },
        runMembers.optional,
      ),
      record({ repository: text, request: text, lines: list(text) }),
    ],
  },
  help: {
    type: 'object',
    anyOf: [record({ text }, { topic: text }), record({ topics: list(record({ name: text, title: text })) })],
  },
  version: record({ version: text }),
};

/**
 * JSON Schema (2020-12) of each command's `data`, by command name; `help` and `version` are the global options' data.
 */
export const outputSchemas: Readonly<Record<string, JsonData>> = Object.fromEntries(
  Object.entries(shapes).map(([command, shape]) => [
    command,
    toDocument(`data:${command.replace(' ', '-')}`, `data of \`writ ${command}\``, shape),
  ]),
);

function toDocument(name: string, title: string, shape: JsonData): JsonData {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `urn:writ:${name}`,
    title,
    ...shape,
  };
}

const ofRun = { run_id: text };

/** Steps of a run (`RunEvent`), by the `type` of their line. */
const runSteps: Readonly<Record<string, JsonData>> = {
  run_started: {
    anyOf: [
      record({ ...ofRun, resumed: { const: false }, spec_id: text, summary: text, stages: list(text) }),
      record({ ...ofRun, resumed: { const: true } }),
    ],
  },
  tool_settled: record(
    { ...ofRun, tool: text, outcome: oneOf('done', 'denied', 'failed'), duration_ms: duration },
    { check_id: text, exit_code: integer },
  ),
  stage_settled: record({ ...ofRun, stage: text, status: text, expected: count, ran: count }),
  decision_made: record({ ...ofRun, type: text, rationale: text }, { commit_sha: text }),
  approval_needed: record({ ...ofRun, needed: count, rationale: text }),
};

/** JSON Schema of a line that a command prints with `--events`: a step of the run, or the result. */
export const lineSchemas: Readonly<Record<string, JsonData>> = Object.fromEntries(
  (['run', 'seal', 'resume'] as const).map((command) => [
    command,
    toDocument(`line:${command}`, `a line of \`writ ${command} --events\``, {
      type: 'object',
      anyOf: [
        ...Object.entries(runSteps).map(([type, data]) => record({ type: { const: type }, data })),
        record(
          { ok: flag, command: { const: command } },
          { data: shapes[command], error: { type: 'object' } },
        ),
      ],
    }),
  ]),
);
