/* JSON Schemas of the data of the `attest`, `trust`, service and graph commands. */
import type { JsonData } from './shape.ts';
import {
  type Admitted,
  count,
  countOrNull,
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

const subjects = list(record({ name: text, digest: { type: 'object', additionalProperties: text } }));
const name = { type: ['string', 'null'] } as const;

const kind = oneOf('certificate-authority', 'certificate-log', 'transparency-log', 'time-stamp-authority');

const service = { kind, name: text, sha256, valid_from: moment } as const;
const period = { chain_sha256: sha256, valid_until: moment } as const;
const newest = {
  anyOf: [record({ kind, name: text, sha256, valid_from: moment, age_days: integer }), { type: 'null' }],
} as const;

/** Shapes of `data` of the `attest` and `trust` commands. */
export const attestShapes: Readonly<Record<string, JsonData>> = {
  'trust update': record({
    path: text,
    before: { anyOf: [sha256, { type: 'null' }] },
    after: sha256,
    written: flag,
    newest,
    services: list(
      record(
        { change: oneOf('added', 'removed', 'ended', 'extended', 'changed', 'kept'), ...service },
        { ...period, before: record({ valid_from: moment }, period) },
      ),
    ),
    ended: list(kind),
  }),
  'trust show': record({
    roots: list(
      record({ path: text, sha256, newest, services: list(record(service, period)), ended: list(kind) }),
    ),
  }),
  'attest sign': record(
    { key_id: sha256, predicate_type: text, subjects },
    { bundle: { type: 'object' }, path: text },
  ),
  'attest show': record({
    path: text,
    verified: { const: false },
    attestations: list(
      record(
        { kind: { enum: ['evidence', 'attestation', 'log-proof'] }, sha256 },
        {
          line: { type: 'integer', minimum: 1 },
          file: text,
          media_type: text,
          signer: { anyOf: [record({ key_id: text }), record({ identity: name, issuer: name })] },
          logged: list(
            record({ index: { type: ['integer', 'null'] } }, { kind: text, origin: text, size: count }),
          ),
          payload_type: text,
          predicate_type: text,
          subjects,
          predicate: { type: 'object' },
          signed_digest: text,
          run_id: text,
          commit_sha: text,
          files: count,
          content_files: count,
          problem: text,
        },
      ),
    ),
  }),
};

const pid = { type: 'integer', minimum: 1 } as const;

const numberOrNull = { type: ['number', 'null'] };

const threadList = record({
  threads: list(
    record(
      {
        id: text,
        created_at: moment,
        updated_at: moment,
        state: { enum: ['open', 'closed', 'damaged'] },
      },
      { title: text, current_intent_id: text, archived: flag },
    ),
  ),
  has_more: flag,
});

/** Shapes of `data` of the commands that serve, and of those that talk to what is served. */
export const serviceShapes: Readonly<Record<string, JsonData>> = {
  'service run': record({
    pid,
    base_url: text,
    working_dir: text,
    started_at: moment,
    discovery_file: text,
    token_file: text,
  }),
  code: {
    anyOf: [
      record(
        {
          pid,
          base_url: text,
          mcp_url: text,
          mcp_token_file: text,
          thread_id: text,
          working_dir: text,
          provider: text,
        },
        { model: text, token_file: text, info_file: text },
      ),
      threadList,
      // `--print`.
      record(
        {
          thread_id: text,
          provider: text,
          model: textOrNull,
          status: { enum: ['answered', 'committed', 'stopped'] },
          answer: text,
          usage: record({ input_tokens: count, output_tokens: count, cost_usd: numberOrNull }),
        },
        { run_id: text, decision: text, commit: textOrNull, waits_for: text },
      ),
    ],
  },
  'threads list': threadList,
  'threads archive': record({ id: text, archived: flag }),
  'threads export': record({ id: text }, { markdown: text, path: text }),
  'threads delete': record({ deleted: list(text), kept: list(text) }),
  usage: record({
    usage: list(
      record(
        {
          thread_id: text,
          provider: text,
          model: textOrNull,
          calls: count,
          input_tokens: count,
          output_tokens: count,
          cost_usd: numberOrNull,
          last_at: moment,
        },
        { unpriced: flag },
      ),
    ),
    total: record({ input_tokens: count, output_tokens: count, cost_usd: numberOrNull }, { unpriced: flag }),
    unread: count,
  }),
  'service status': record(
    {
      running: flag,
      state: { enum: ['running', 'stale', 'stopped'] },
      health: { enum: ['ok', 'unreachable', 'stale'] },
    },
    { pid, base_url: text, started_at: moment, working_dir: text, token_file: text },
  ),
  'service events': record({ events: count }),
  'code-control': record({ requests: count, events: count }),
  'service dirty': record({ marks: list(record({ path: text, marked_at: moment })), cleared: flag }),
};

/** The merge queue: `data` of `writ queue`. `position` is null for an entry that has ended. */
export const queueSchema = record({
  entries: list(
    record(
      {
        number: count,
        position: countOrNull,
        state: oneOf('waiting', 'evaluating', 'waits-for-approval', 'landed', 'removed'),
        target: text,
        spec_id: text,
        summary: text,
      },
      { run_id: text, tree: text, commit: text, reason: record({ code: text, message: text }) },
    ),
  ),
});

/** A thread as a graph of versions: `data` of `writ graph --json`. `truncated` if parts are left out. */
export const graphSchema = record(
  {
    thread_id: text,
    title: text,
    nodes: list(
      record({
        id: text,
        kind: oneOf('thread', 'intent', 'plan', 'task', 'run', 'patchset', 'evidence', 'decision'),
        label: text,
        tags: list(text),
        detail: text,
      }),
    ),
    edges: list(
      record({
        from: text,
        to: text,
        kind: oneOf(
          'plan',
          'replaced-by',
          'task',
          'before',
          'run',
          'part-of',
          'patchset',
          'evidence',
          'decision',
          'rests-on',
          'revised',
          'superseded-by',
          'fork',
        ),
      }),
    ),
  },
  { truncated: flag },
);
export type GraphData = Admitted<typeof graphSchema>;
export type GraphNode = GraphData['nodes'][number];
export type GraphEdge = GraphData['edges'][number];
