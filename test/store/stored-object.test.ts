import t from 'tap';
import { sha256Hex } from '../../core/base/canonical.ts';
import { type ObjectBody, type ObjectType, objectTypes } from '../../store/object-shapes.ts';
import {
  fields,
  listOf,
  mapOf,
  openShape,
  orNull,
  type Shape,
  text,
  toStored,
  wholeNumber,
} from '../../store/shape.ts';
import { parseObject, sealObject } from '../../store/stored-object.ts';

const digest = 'a'.repeat(64);
const object = 'b'.repeat(40);
const id = '0198c0de-7abc-7def-8123-456789abcdef';
const content = {
  store: 'git-native',
  key: 'refs/ai/content/r:x',
  sha256: digest,
  sizeBytes: 1,
  contentType: 'text/plain',
  expiresAt: '2026-01-01T00:00:00Z',
};
const options = {
  nowMs: 1_700_000_000_000,
  createdBy: { kind: 'system', id: 'writ-orchestrator' },
  objectId: id,
} as const;

const bodies: { readonly [T in ObjectType]: ObjectBody<T> } = {
  intent: {
    intentspec_digest: digest,
    summary: 's',
    prompt: 'p\n',
    change_type: 'bugfix',
    risk_level: 'low',
    objectives: ['o'],
    intentspec: content,
  },
  plan: {
    intent: id,
    revision: 1,
    steps: [{ objective: 'o', task: id }],
    tasks: [id],
    edges: [[id, id]],
    scope: { write: ['src/'], forbidden: [], whole_repository: false },
    stages: ['fast'],
    diff_summary: 'd',
  },
  task: {
    intent: id,
    title: 't',
    goal: 'bugfix',
    steps: ['o'],
    constraints: ['in-scope: x'],
    acceptance_criteria: ['c'],
    depends_on: [],
    number: 1,
    kind: 'implementation',
    predicted_writes: ['src/'],
  },
  run: {
    intent: id,
    plan: id,
    task: id,
    thread_id: 't',
    attempt: 1,
    base_ref: 'main',
    base_commit: null,
    policy_commit: null,
    base_tree: object,
    target_ref: 'refs/heads/main',
    sandbox: 'bubblewrap',
    scheduler_version: '0.1.0',
    started_at: '2026-01-01T00:00:00.000Z',
    snapshot: id,
    attempt_of: id,
    outcome: 'accepted',
  },
  patchset: {
    run: id,
    digest,
    base_commit: object,
    base_tree: object,
    candidate_tree: object,
    format: 'GitDiff',
    apply_status: 'Proposed',
    files: [{ path: 'a', change_type: 'add', binary: false, lines_added: 1, lines_deleted: 0 }],
    findings: [{ rule: 'scope', severity: 'error', message: 'm' }],
  },
  evidence: {
    run: id,
    patchset: id,
    kind: 'fast:unit',
    stage: 'fast',
    status: 'passed',
    required: true,
    reports: [content],
    findings: [],
    duration_ms: 1.5,
    tests: { passed: 1, failed: 0, skipped: 0 },
  },
  decision: {
    run: id,
    type: 'commit',
    rationale: 'r',
    reasons: [],
    input_digest: digest,
    decision_digest: digest,
    evidence: [id],
    commit_sha: object,
    next: 'replan',
    task: id,
    attempt: 2,
    trigger: 'scope-creep',
  },
  context_snapshot: {
    run: id,
    strategy: 'repo-first',
    items: [
      {
        kind: 'Snippet',
        name: 'src/a.ts#L1-L2',
        uri: 'urn:writ:tree:x:src/a.ts',
        sha256: digest,
        tags: { symbol: 'a' },
        trust_tier: 'repo',
        trust: 'trusted',
        size_bytes: 3,
        selected_by: 'touchHints.symbols',
        content,
        line_from: 1,
        line_to: 2,
      },
    ],
    not_expanded: ['src/a.rs'],
    base_tree: object,
    trust_tiers: ['repo'],
    rejected: [{ kind: 'Url', name: 'https://x.example', reason: 'domain', message: 'm' }],
    unresolved: ['nothing'],
    total_bytes: 3,
  },
  provenance: {
    run: id,
    bundle: content,
    predicate_type: 'https://slsa.dev/provenance/v1',
    subjects: [{ name: 'commit', digest: { gitCommit: object } }],
    key_id: 'k',
    log_origin: 'o',
    log_index: 0,
  },
  intent_event: {
    intent: id,
    kind: 'deprecated',
    by: 'b',
    reason: 'r',
    status: 'deprecated',
    from: 'active',
    diff_summary: 'd',
    run: id,
    superseded_by: 'i',
    supersedes: 'h',
  },
  task_event: { task: id, kind: 'attempt-failed', attempt: 1, run: id, reason: 'r' },
  run_event: { run: id, kind: 'stage-settled', data: { stage: 'fast' } },
  plan_step_event: { plan: id, step: 0, status: 'completed' },
  tool_invocation: {
    run: id,
    tool: 'workspace.command',
    action: 'execute',
    outcome: 'denied',
    duration_ms: 0.5,
    started_at: '2026-01-01T00:00:00.000Z',
    check_id: 'unit',
    command: 'rm -rf /',
    exit_code: 1,
    refusal: 'not allowed',
  },
  context_frame: {
    run: id,
    kind: 'IntentAnalysis',
    seq: 0,
    protected: true,
    summary: 's',
    evicted: false,
    trust: 'untrusted',
    trust_tier: 'web',
    digest,
  },
  run_usage: {
    run: id,
    cost_units: 1.5,
    wall_clock_seconds: 2.5,
    patchsets_generated: 1,
    attempt: 1,
    tokens_used: 10,
  },
};

t.test('exactly sixteen object types are defined', async (t) => {
  t.strictSame([...objectTypes].sort(), Object.keys(bodies).sort());
  t.equal(objectTypes.length, 16);
});

t.test('inner objects with unknown members or enum values are refused', async (t) => {
  const refused = <T extends ObjectType>(type: T, body: unknown): void => {
    t.throws(() => sealObject(type, body as never, options), { code: 'INTERNAL' }, JSON.stringify(body));
  };
  const [item] = bodies.context_snapshot.items;
  refused('context_snapshot', { ...bodies.context_snapshot, items: [{ ...item, more: 1 }] });
  refused('context_snapshot', { ...bodies.context_snapshot, items: [{ ...item, trust_tier: 'friend' }] });
  refused('intent_event', { ...bodies.intent_event, kind: 'reopened' });
  refused('intent_event', { ...bodies.intent_event, status: 'open' });
  refused('task_event', { ...bodies.task_event, attempt: -1 });
  refused('tool_invocation', { ...bodies.tool_invocation, outcome: 'maybe' });
  refused('context_frame', { ...bodies.context_frame, kind: 'Thought' });
  refused('run_usage', { ...bodies.run_usage, cost_units: Number.NaN });
  refused('provenance', { ...bodies.provenance, subjects: [{ name: 'x', digest: { sha256: 1 } }] });
});

for (const type of Object.keys(bodies) as ObjectType[])
  t.test(
    `a ${type} object is sealed with its header, read back, and refused with unknown members`,
    async (t) => {
      const sealed = sealObject(type, bodies[type] as never, {
        ...options,
        tags: { team: 'x' },
        externalIds: { intentspec_id: 'i' },
      });
      t.equal(sealed.path, `${type}/${id}.json`);
      t.equal(sealed.sha256, sha256Hex(sealed.bytes));
      t.equal(
        sealed.bytes.toString(),
        sealObject(type, bodies[type] as never, {
          ...options,
          tags: { team: 'x' },
          externalIds: { intentspec_id: 'i' },
        }).bytes.toString(),
      );
      const read = parseObject(type, sealed.bytes, sealed.sha256);
      t.match(read, {
        ...bodies[type],
        object_id: id,
        object_type: type,
        version: 1,
        created_at: '2023-11-14T22:13:20.000Z',
        created_by: options.createdBy,
        tags: { team: 'x' },
        external_ids: { intentspec_id: 'i' },
      });
      const refused = (change: Record<string, unknown>): void => {
        const bytes = Buffer.from(JSON.stringify({ ...JSON.parse(sealed.bytes.toString()), ...change }));
        t.throws(() => parseObject(type, bytes), { code: 'OBJECT_CORRUPT' }, JSON.stringify(change));
      };
      refused({ unknown: 1 });
      refused({ version: 2 });
      refused({ object_type: type === 'run' ? 'task' : 'run' });
      refused({ object_id: 'x' });
      refused({ created_by: { kind: 'robot', id: 'x' } });
      refused({ tags: { a: 1 } });
      for (const name of Object.keys(bodies[type]))
        refused({ [name]: name === 'data' ? [] : { no: 'such' } });
      t.throws(() => parseObject(type, sealed.bytes, digest), { code: 'OBJECT_CORRUPT' });
      t.throws(() => parseObject(type, sealed.bytes.subarray(0, -5)), { code: 'OBJECT_CORRUPT' });
      t.throws(() => sealObject(type, { ...bodies[type], unknown: 1 } as never, options), {
        code: 'INTERNAL',
      });
      const [required] = Object.keys(bodies[type]);
      const missing = Object.fromEntries(Object.entries(bodies[type]).filter(([name]) => name !== required));
      t.throws(
        () => sealObject(type, missing as never, options),
        { code: 'INTERNAL' },
        `without ${required}`,
      );
    },
  );

t.test('an open shape ignores unknown fields at every depth, and validates the known ones', async (t) => {
  const inner = fields({ name: text }, { size: wholeNumber });
  const shape = fields({ list: listOf(inner), map: mapOf(inner) }, { last: orNull(inner) });
  const problemsOf = (value: unknown, checked: Shape<unknown> = openShape(shape)): readonly string[] => {
    const problems: string[] = [];
    checked.check(value, '', problems);
    return problems;
  };
  const more = { name: 'a', more: 1 };
  const value = { list: [more], map: { a: more }, last: more, more: 1 };
  t.same(problemsOf(value), []);
  t.equal(problemsOf(value, shape).length, 4);
  t.same(problemsOf({ ...value, last: { name: 'a', size: -1 }, map: { a: {} } }), [
    '/map/a/name: expected a value',
    '/last/size: expected a whole number from 0',
  ]);
});

t.test('a stored object takes members in camelCase by the names of its shape', async (t) => {
  const shape = fields(
    { base_tree: text, files: listOf(fields({ path: text })) },
    { old_path: text, size: text },
  );
  const given = { baseTree: 'b', files: [{ path: 'a', newMode: 'x' }], oldPath: undefined, more: 1 };
  t.strictSame(toStored(shape, given), { base_tree: 'b', files: [{ path: 'a', newMode: 'x' }] });
});
