import t from 'tap';
import { sha256Hex } from '../../../core/base/digest.ts';
import type { ObjectBody, ObjectType } from '../../../core/store/object-shapes.ts';
import { parseObject, sealObject } from '../../../core/store/stored-object.ts';

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
  },
  task: {
    intent: id,
    title: 't',
    goal: 'bugfix',
    steps: ['o'],
    constraints: ['in-scope: x'],
    acceptance_criteria: ['c'],
    depends_on: [],
  },
  run: {
    intent: id,
    plan: id,
    task: id,
    thread_id: 't',
    attempt: 1,
    base_ref: 'main',
    base_commit: null,
    base_tree: object,
    target_ref: 'refs/heads/main',
    sandbox: 'bubblewrap',
    scheduler_version: '0.1.0',
    started_at: '2026-01-01T00:00:00.000Z',
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
  },
};

for (const type of Object.keys(bodies) as ObjectType[])
  t.test(
    `a ${type} object is sealed with its header, read back, and refuses what it does not know`,
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
      for (const name of Object.keys(bodies[type])) refused({ [name]: { no: 'such' } });
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
