import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { RunView } from '../../core/interfaces/run-view.ts';
import { parallelLimit } from '../../engine/state/machine.ts';
import { readIntentSpec } from '../../spec/read-intent-spec.ts';
import { isLong, long } from '../rooms/long.ts';
import { fixtures, type Json, makeSample, merge, type Sample, sampleSpec } from './sample.ts';

/* One test for every field whose only effect is what a run stores or does: change the field, see the difference. */

const fix = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));
const quick = {
  id: 'quick',
  kind: 'command',
  command: 'true',
  required: true,
  timeoutSeconds: 30,
  artifactsProduced: ['test-log'],
};

interface Ran {
  readonly sample: Sample;
  readonly view: RunView;
  /** A file of the run record, parsed. */
  object(path: string): Record<string, Json>;
  /** The in-toto statement that was signed. */
  statement(): Record<string, Json>;
  content(path: string): string;
}

/** One run of the fix with a check that takes no time; `spec` is merged into the sample's contract. */
async function ran(t: Test, spec: Json, prepare: (sample: Sample) => void = () => {}): Promise<Ran> {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  prepare(sample);
  const plan = { acceptance: { verificationPlan: { fastChecks: [quick] } } };
  const view = await sample.run({ source: { kind: 'patch', bytes: fix } }, merge(plan, spec));
  const prefix =
    (spec as { objmodel?: { objectStore?: { aiRefPrefix?: string } } }).objmodel?.objectStore?.aiRefPrefix ??
    'refs/ai/';
  const show = (name: string): string => sample.git('cat-file', 'blob', name);
  const object = (path: string) =>
    JSON.parse(show(`${prefix}runs/${view.runId}:${path}`)) as Record<string, Json>;
  return {
    sample,
    view,
    object,
    statement() {
      const { payload } = object('provenance.sigstore.json').dsseEnvelope as { payload: string };
      return JSON.parse(Buffer.from(payload, 'base64').toString('utf8')) as Record<string, Json>;
    },
    content: (path) => show(`${prefix}content/${view.runId}:${path}`),
  };
}

/** Where the author's words end up: [field, contract, file of the run record, what must be in it]. */
const stored: readonly (readonly [field: string, spec: Json, file: string, expected: Json])[] = [
  [
    'metadata.createdBy.type and id',
    { metadata: { createdBy: { type: 'agent', id: 'robot-7' } } },
    'intent.json',
    { created_by: { kind: 'agent', id: 'robot-7' } },
  ],
  [
    'metadata.id',
    { metadata: { id: 'another-id-42' } },
    'intent.json',
    { external_ids: { intentspec_id: 'another-id-42' } },
  ],
  [
    'metadata.target.workspaceId',
    { metadata: { target: { workspaceId: 'ws-9' } } },
    'run.json',
    { workspace_id: 'ws-9' },
  ],
  [
    'metadata.target.labels on the run',
    { metadata: { target: { labels: { team: 'blue' } } } },
    'run.json',
    { tags: { team: 'blue' } },
  ],
  [
    'metadata.target.labels on the intent',
    { metadata: { target: { labels: { team: 'blue' } } } },
    'intent.json',
    { tags: { team: 'blue' } },
  ],
  [
    'metadata.target.baseRef',
    { metadata: { target: { baseRef: 'HEAD' } } },
    'run.json',
    { base_ref: 'HEAD' },
  ],
  [
    'intent.summary',
    { intent: { summary: 'Prices without the cent' } },
    'tasks/0001.json',
    { title: 'Prices without the cent' },
  ],
  [
    'intent.problemStatement, verbatim',
    { intent: { problemStatement: '  A cent\n\ttoo much. ' } },
    'intent.json',
    { prompt: '  A cent\n\ttoo much. ' },
  ],
  ['intent.changeType', { intent: { changeType: 'refactor' } }, 'tasks/0001.json', { goal: 'refactor' }],
  [
    'intent.objectives',
    { intent: { objectives: ['one thing', 'another'] } },
    'plan.json',
    { steps: [{ objective: 'one thing' }, { objective: 'another' }] },
  ],
  [
    'intent.inScope',
    { intent: { inScope: ['src/', 'test/', 'docs/'] } },
    'tasks/0001.json',
    { constraints: ['in-scope:src/', 'in-scope:test/', 'in-scope:docs/'] },
  ],
  [
    'intent.outOfScope',
    { intent: { inScope: ['src/', 'test/'], outOfScope: ['docs/'] } },
    'tasks/0001.json',
    { constraints: ['in-scope:src/', 'in-scope:test/', 'out-of-scope:docs/'] },
  ],
  [
    'acceptance.successCriteria',
    { acceptance: { successCriteria: ['the cent is gone'] } },
    'tasks/0001.json',
    { acceptance_criteria: ['the cent is gone'] },
  ],
  [
    'constraints.security.cryptoPolicy',
    { constraints: { security: { cryptoPolicy: 'no home-made ciphers' } } },
    'tasks/0001.json',
    {
      constraints: [
        'in-scope:src/',
        'in-scope:test/',
        'out-of-scope:src/secret/',
        'crypto-policy:no home-made ciphers',
      ],
    },
  ],
  [
    'risk.rationale',
    { risk: { rationale: 'nothing can go wrong' } },
    'tasks/0001.json',
    {
      constraints: [
        'in-scope:src/',
        'in-scope:test/',
        'out-of-scope:src/secret/',
        'risk-rationale:nothing can go wrong',
      ],
    },
  ],
  ['risk.level', { risk: { level: 'medium' } }, 'intent.json', { risk_level: 'medium' }],
  [
    'objmodel.actorMapping.orchestratorActorId',
    { objmodel: { actorMapping: { orchestratorActorId: 'boss' } } },
    'run.json',
    { created_by: { kind: 'system', id: 'boss' } },
  ],
  [
    'objmodel.actorMapping.reviewerActorId',
    { objmodel: { actorMapping: { reviewerActorId: 'judge' } } },
    'evidence/0001-quick.json',
    { created_by: { kind: 'agent', id: 'judge' } },
  ],
  [
    'objmodel.actorMapping.coderActorId',
    { objmodel: { actorMapping: { coderActorId: 'smith' } } },
    'patchset.json',
    { created_by: { kind: 'agent', id: 'smith' } },
  ],
];

/**
 * What can be told apart in one run is asked of one run; the constraints of a Task are compared whole, so each of those
 * has its own.
 */
const runs = [
  stored.filter(([, , , expected]) => !hasConstraints(expected)),
  ...stored.filter(([, , , expected]) => hasConstraints(expected)).map((row) => [row]),
];

function hasConstraints(expected: Json): boolean {
  return 'constraints' in (expected as Record<string, Json>);
}

t.test('the run record stores the fields of the spec', { jobs: 2, timeout: 2_000_000 }, async (t) => {
  // The pairs of test/ledger show each field; here one run of many fields is enough.
  for (const rows of isLong ? runs : runs.slice(0, 1)) {
    const [[field] = ['']] = rows;
    t.test(rows.length === 1 ? field : 'all that one run can show', { timeout: 600_000 }, async (t) => {
      const spec = rows.reduce((all, [, one]) => merge(all, one), {} as Json);
      const { object, view } = await ran(t, spec);
      t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
      for (const [field, , file, expected] of rows) t.match(object(file), expected, field);
    });
  }
});

t.test('metadata.id, intent.summary and intent.changeType appear in the commit message', async (t) => {
  const { sample } = await ran(t, {
    metadata: { id: 'another-id-42' },
    intent: { summary: 'Faster prices', changeType: 'performance' },
  });
  const message = sample.git('log', '-1', '--format=%B');
  t.match(message, /^(perf: )?Faster prices\n/, 'subject');
  t.match(message, /^perf: /, 'prefix');
  t.match(message, /\nIntent-Id: another-id-42\n/);
  t.ok(sample.git('rev-parse', 'refs/ai/intents/another-id-42'));
});

long('provenance names the locator of a git repository and omits the locator of a local one', async (t) => {
  const remote = await ran(t, {
    metadata: { target: { repo: { type: 'git', locator: 'https://git.example.com/other.git' } } },
  });
  t.match(JSON.stringify(remote.statement()), 'git+https://git.example.com/other.git');
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const spec = { metadata: { target: { repo: { type: 'local', locator: sample.root } } } };
  const view = await sample.run({ source: { kind: 'patch', bytes: fix } }, spec);
  t.equal(view.decision?.type, 'commit');
  const bundle = sample.git('cat-file', 'blob', `refs/ai/runs/${view.runId}:provenance.sigstore.json`);
  const { payload } = (JSON.parse(bundle) as { dsseEnvelope: { payload: string } }).dsseEnvelope;
  t.notMatch(Buffer.from(payload, 'base64').toString('utf8'), sample.root);
});

long('a run in a monorepo accepts changes only below its locator', async (t) => {
  const bytes = readFileSync(join(fixtures, 'a-fix-without-a-new-test-is-refused', 'change.diff'));
  const below = async (locator: string): Promise<RunView> => {
    const sample = makeSample();
    t.teardown(() => sample.remove());
    const spec = {
      metadata: { target: { repo: { type: 'monorepo', locator } } },
      intent: { changeType: 'feature', inScope: ['price.js'], outOfScope: [] },
    };
    return sample.run({ source: { kind: 'patch', bytes } }, spec);
  };
  const inside = await below('//src');
  t.equal(inside.decision?.type, 'commit', inside.decision?.rationale ?? '');
  const outside = await below('//test');
  t.equal(outside.decision?.type, 'abandon');
  t.match(outside.findings, [{ rule: 'scope' }]);
});

t.test('metadata.target.baseRef sets the base commit of the change', async (t) => {
  const { sample, view } = await ran(t, { metadata: { target: { baseRef: 'old' } } }, (sample) => {
    sample.git('tag', 'old');
    sample.git('commit', '--quiet', '--allow-empty', '-m', 'Newer');
  });
  t.equal(view.baseCommit, sample.git('rev-parse', 'old'));
  t.not(view.baseCommit, sample.git('rev-parse', 'main'));
});

long('intent.touchHints.files widen the scope', async (t) => {
  const hinted = await ran(t, { intent: { inScope: ['src/'], touchHints: { files: ['test/**'] } } });
  t.equal(hinted.view.decision?.type, 'commit', hinted.view.decision?.rationale ?? '');
  const bare = await ran(t, { intent: { inScope: ['src/'] } });
  t.match(bare.view.findings, [{ rule: 'scope', path: 'test/price.test.js' }]);
});

long('a failing integration check abandons the run under maxAllowedRegression `none`', async (t) => {
  const integrationChecks = [{ id: 'integration', kind: 'command', command: 'false', required: true }];
  const { view } = await ran(t, {
    acceptance: { qualityGates: { maxAllowedRegression: 'none' }, verificationPlan: { integrationChecks } },
  });
  t.equal(view.decision?.type, 'abandon');
  t.equal(view.stages.find(({ stage }) => stage === 'integration')?.status, 'failed');
});

long(
  'abandonOnSecurityGateFail abandons the run on a failing security check before the release stage',
  async (t) => {
    const reports = ['sast-report', 'sca-report', 'sbom'];
    const securityChecks = [
      { id: 'audit', kind: 'command', command: 'false', required: true, artifactsProduced: reports },
    ];
    const required = ['patchset', 'test-log'].map((name) => ({ name, stage: 'per-task', required: true }));
    const wanted = reports.map((name) => ({ name, stage: 'security', required: true }));
    const { view } = await ran(t, {
      acceptance: { verificationPlan: { securityChecks } },
      artifacts: { required: [...required, ...wanted] },
    });
    t.equal(view.decision?.type, 'abandon');
    t.equal(view.stages.find(({ stage }) => stage === 'release')?.ran ?? 0, 0);
  },
);

long('a policy check evaluates the rule that its first word names, or else runs a command', async (t) => {
  const policy = (command: string) => ({
    acceptance: {
      verificationPlan: { fastChecks: [quick, { id: 'policy', kind: 'policy', command, required: true }] },
    },
  });
  const asked = await ran(t, policy('no-direct-eval'));
  const check = asked.view.stages[0]?.checks.find(({ id }) => id === 'policy');
  t.equal(check?.status, 'passed');
  t.equal(check?.exitCode, undefined, 'nothing was run');
  const command = await ran(t, policy('sh -c "exit 4"'));
  t.equal(command.view.stages[0]?.checks.find(({ id }) => id === 'policy')?.exitCode, 4);
});

long(
  'a file for artifactsProduced is kept from $REPORTS_DIR, and a missing one abandons the run',
  async (t) => {
    const spec = (command: string) => ({
      acceptance: {
        verificationPlan: {
          fastChecks: [
            quick,
            { id: 'build', kind: 'command', command, required: true, artifactsProduced: ['release-notes'] },
          ],
        },
      },
      artifacts: {
        required: [
          ...['patchset', 'test-log'].map((name) => ({ name, stage: 'per-task', required: true })),
          { name: 'release-notes', stage: 'per-task', required: true },
        ],
      },
    });
    const kept = await ran(t, spec('echo hello > "$REPORTS_DIR/release-notes.md"'));
    t.equal(kept.view.decision?.type, 'commit', kept.view.decision?.rationale ?? '');
    t.equal(kept.content('artifacts/fast/build/release-notes.md'), 'hello');
    const missing = await ran(t, spec('true'));
    t.equal(missing.view.decision?.type, 'abandon', 'what it does not leave refuses');
    const absent = { rule: 'artifact-present', detail: { artifact: 'release-notes', check: 'build' } };
    t.match(
      missing.view.stages[0]?.findings.filter(({ detail }) => detail && 'check' in detail),
      [absent],
      'and the finding names the check',
    );
  },
);

long('minCitationsPerDecision requires that many passed checks from a trusted tier', async (t) => {
  const decided = async (evidence: Json) => (await ran(t, { evidence })).view.decision;
  const abandoned = { type: 'abandon', rationale: /to cite.*, expected at least / };
  t.match(await decided({ minCitationsPerDecision: 2 }), abandoned, '2 of 1 check');
  t.match(await decided({ minCitationsPerDecision: 1 }), { type: 'commit' }, '1 of 1 check');
  const elsewhere = { trustTiers: ['web'] };
  t.match(await decided({ ...elsewhere, minCitationsPerDecision: 1 }), abandoned, 'what is not trusted');
  t.match(await decided({ ...elsewhere, minCitationsPerDecision: 0 }), { type: 'commit' }, '0 asks for none');
});

long('a run in which no check passed does not commit, even if none is required', async (t) => {
  const failing = [{ ...quick, command: 'false', required: false }];
  const { view } = await ran(t, { acceptance: { verificationPlan: { fastChecks: failing } } });
  t.match(view.decision, { type: 'abandon', rationale: 'no check passed' });
});

long('the build-log artifact holds the output of the check that produces it', async (t) => {
  const build = { ...quick, id: 'build', command: 'echo built', artifactsProduced: ['build-log'] };
  const names = ['patchset', 'test-log', 'build-log'];
  const { view, content } = await ran(t, {
    acceptance: { verificationPlan: { fastChecks: [quick, build] } },
    artifacts: {
      required: names.map((name) => ({
        name,
        stage: 'per-task',
        required: true,
        ...(name === 'build-log' ? { format: 'text' } : {}),
      })),
    },
  });
  t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
  t.equal(content('artifacts/fast/build/build-log.log'), '# echo built (exit code 0)\nbuilt');
  t.equal(view.artifacts.find(({ name }) => name === 'build-log')?.contentType, 'text', 'as it is declared');
});

const release = (...names: readonly string[]): Json => ({
  required: [
    ...['patchset', 'test-log'].map((name) => ({ name, stage: 'per-task', required: true })),
    ...names.map((name) => ({ name, stage: 'release', required: true })),
  ],
});

long('a required provenance-attestation is made even if requireSlsaProvenance is false', async (t) => {
  const { view } = await ran(t, {
    provenance: { requireSlsaProvenance: false },
    artifacts: release('provenance-attestation'),
  });
  t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
  t.ok(view.provenance?.bundle);
});

long('a required transparency-proof is refused when the run signs nothing', async (t) => {
  const without = { provenance: { requireSlsaProvenance: false } };
  const refused = await ran(t, { ...without, artifacts: release('transparency-proof') });
  t.match(refused.view.decision, { type: 'abandon', rationale: /`artifact-present`/ });
  const { view } = await ran(t, without);
  t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
  t.match(
    view.notices?.filter((notice) => notice.startsWith('LOG_UNUSED: ')),
    [/internal-ledger/],
  );
});

long('a check under networkPolicy `deny` cannot connect to localhost', async (t) => {
  const command = `node -e "require('net').connect(${String(9)}, '127.0.0.1').on('error', (e) => { console.log(e.code); process.exit(7); })"`;
  const { view } = await ran(t, {
    acceptance: { verificationPlan: { fastChecks: [{ ...quick, command, expectedExitCode: 7 }] } },
  });
  t.equal(view.decision?.type, 'commit', view.decision?.rationale ?? '');
});

t.test(
  'a new dependency without a report is refused under dependencyPolicy `allow-with-review`',
  async (t) => {
    const sample = makeSample();
    t.teardown(() => sample.remove());
    const bytes = readFileSync(
      join(fixtures, 'a-new-dependency-with-an-allowed-licence-is-accepted-under-allow', 'change.diff'),
    );
    const spec = {
      intent: { inScope: ['src/', 'test/', 'package.json'] },
      constraints: { security: { dependencyPolicy: 'allow-with-review' } },
    };
    const view = await sample.run({ source: { kind: 'patch', bytes } }, spec);
    t.equal(view.decision?.type, 'abandon');
    t.match(view.findings, [{ rule: 'new-dependency', severity: 'error' }]);
  },
);

long(
  'redactionRequired masks disallowed data classes in artifacts, and secrets are always masked',
  async (t) => {
    const token = `ghp_${'0Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx'}`;
    const mail = 'ann@corp.io';
    // Not as it is printed: a contract that holds a token is refused.
    const [head, tail] = [token.slice(0, 12), token.slice(12)];
    const fastChecks = [{ ...quick, command: `echo key ${head}""${tail} of ${mail}` }];
    const redacted = await ran(t, { acceptance: { verificationPlan: { fastChecks } } });
    t.notMatch(redacted.content('artifacts/fast/quick/test-log.log'), token);
    t.notMatch(redacted.content('artifacts/fast/quick/test-log.log'), mail, 'redacted');
    t.equal(redacted.view.artifacts.find(({ name }) => name === 'test-log')?.redactions, 3);
    const raw = await ran(t, {
      acceptance: { verificationPlan: { fastChecks } },
      constraints: { privacy: { redactionRequired: false } },
    });
    t.notMatch(raw.content('artifacts/fast/quick/test-log.log'), token, 'a secret never');
    t.match(raw.content('artifacts/fast/quick/test-log.log'), mail, 'without redaction');
    const allowed = await ran(t, {
      acceptance: { verificationPlan: { fastChecks } },
      constraints: { privacy: { dataClassesAllowed: ['public', 'pii'] } },
    });
    t.match(allowed.content('artifacts/fast/quick/test-log.log'), mail, 'of an allowed class');
  },
);

long('retention uses the lower number of days, and 0 keeps only the digests', async (t) => {
  const day = 86_400_000;
  for (const [artifacts, privacy, lower] of [
    [90, 3, 3],
    [2, 30, 2],
  ] as const) {
    const { view } = await ran(t, {
      artifacts: { retention: { days: artifacts } },
      constraints: { privacy: { retentionDays: privacy } },
    });
    const log = view.artifacts.find(({ name }) => name === 'test-log');
    const days = (Date.parse(log?.expiresAt ?? '') - Date.parse(view.startedAt)) / day;
    t.ok(days > lower - 0.1 && days < lower + 0.1, `expected ${lower} days, found ${days}`);
  }
  for (const spec of [
    { artifacts: { retention: { days: 0 } } },
    { constraints: { privacy: { retentionDays: 0 } } },
  ]) {
    const none = await ran(t, spec);
    t.equal(none.view.decision?.type, 'commit');
    t.equal(none.sample.git('for-each-ref', 'refs/ai/content'), '', `no content: ${JSON.stringify(spec)}`);
    t.match(none.view.artifacts.find(({ name }) => name === 'test-log')?.sha256, /^[0-9a-f]{64}$/);
  }
});

long('secrets `deny-all` hides the environment of the user from a check', async (t) => {
  process.env.WRIT_TEST_PROVIDER_KEY = 'sk-very-secret';
  t.teardown(() => delete process.env.WRIT_TEST_PROVIDER_KEY);
  const command = `node -e "console.log(JSON.stringify(process.env))"`;
  const { content } = await ran(t, {
    acceptance: { verificationPlan: { fastChecks: [{ ...quick, command }] } },
  });
  const log = content('artifacts/fast/quick/test-log.log');
  t.match(log, /^# node -e "console\.log\(JSON\.stringify\(process\.env\)\)" \(exit code 0\)\n\{/);
  const seen = JSON.parse(log.slice(log.indexOf('\n'))) as Record<string, string>;
  t.notOk('WRIT_TEST_PROVIDER_KEY' in seen);
  t.equal(seen.CI, 'true');
  const allowed = [
    'PATH',
    'HOME',
    'LANG',
    'TMPDIR',
    'CI',
    'PWD',
    'INTENTSPEC_ID',
    'INTENTSPEC_DIGEST',
    'RUN_ID',
    'WORKSPACE',
    'BASE_SHA',
    'PATCHSET_DIGEST',
    'REPORTS_DIR',
    'npm_config_fetch_retries',
    'pnpm_config_fetch_retries',
    'pnpm_config_verify_deps_before_run',
  ];
  t.strictSame(
    Object.keys(seen).filter((name) => !allowed.includes(name)),
    [],
  );
});

/** When a check ran, as its evidence has it. */
interface Taken {
  readonly started_at: string;
  readonly duration_ms: number;
  readonly workspace_ms: number;
}

long(
  'maxParallelTasks 1 runs checks one at a time, and 3 runs them in parallel',
  { timeout: 600_000 },
  async (t) => {
    const fastChecks = Array.from({ length: 3 }, (_, index) => ({
      ...quick,
      id: `nap-${index}`,
      command: `node -e "console.log(Date.now()); setTimeout(() => console.log(Date.now()), 700)"`,
    }));
    const overlaps = async (maxParallelTasks: number): Promise<boolean> => {
      // The first workspace takes a second to make.
      const argv = JSON.stringify(['sh', '-c', 'sleep 1; mkdir made']);
      const prepare =
        maxParallelTasks === 1 ? `[[workspace.prepare]]\nargv = ${argv}\noutputs = ["made"]\n` : '';
      const config = `[checks]\nmax_parallel = 3\n${prepare}`;
      const { view, object, content } = await ran(
        t,
        {
          acceptance: { verificationPlan: { fastChecks } },
          execution: { concurrency: { maxParallelTasks } },
        },
        (sample) => {
          writeConfig(sample, config);
        },
      );
      const spans = (view.stages[0]?.checks ?? []).map(
        ({ startedAt, durationMs }) => [Date.parse(startedAt), Date.parse(startedAt) + durationMs] as const,
      );
      if (maxParallelTasks === 1) {
        const logs = view.stages[0]?.checks.map(({ artifacts }) => content(artifacts[0]?.path ?? '')) ?? [];
        for (const [index, { id }] of fastChecks.entries()) {
          const evidence = object(`evidence/000${index + 1}-${id}.json`) as unknown as Taken;
          const [began = 0, ended = 0] = logs[index]?.split('\n').slice(1).map(Number) ?? [];
          const start = Date.parse(evidence.started_at);
          const end = start + evidence.duration_ms;
          t.ok(start <= began && ended <= end + 2, `${id}: ${start} ${began} ${ended} ${end}`);
          t.ok(evidence.workspace_ms > (index === 0 ? 1000 : 0), `${id}: ${evidence.workspace_ms}`);
          const before = index === 0 ? Date.parse(view.startedAt) : (spans[index - 1]?.[1] ?? 0);
          t.ok(before + evidence.workspace_ms <= start + 2, `${id}: the workspace is made before it starts`);
          t.notOk('clock_step_ms' in evidence, 'nobody set the clock');
        }
      }
      return spans.some(([from, to], index) =>
        spans.some(([start], other) => other !== index && start >= from && start < to - 100),
      );
    };
    t.equal(await overlaps(1), false);
    t.equal(await overlaps(3), true);
  },
);

long('risk.level high runs one check at a time, whatever maxParallelTasks allows', async (t) => {
  const limitOf = (more: Json): number => {
    const read = readIntentSpec(
      sampleSpec(merge({ execution: { concurrency: { maxParallelTasks: 8 } } }, more)),
    );
    if (!read.ok) throw new Error(`the sample is not valid: ${JSON.stringify(read.issues)}`);
    return parallelLimit(read.effective, 6);
  };
  t.equal(limitOf({}), 6);
  const people = { id: 'people', kind: 'policy', command: 'require-approvers', required: true };
  const high = { level: 'high', humanInLoop: { required: true, minApprovers: 2 } };
  t.equal(limitOf({ risk: high, acceptance: { verificationPlan: { releaseChecks: [people] } } }), 1);
});

long('the gate report names the sandbox even if no check runs a command', async (t) => {
  const policy = { id: 'policy', kind: 'policy', command: 'no-direct-eval', required: true };
  const asked = await ran(t, { acceptance: { verificationPlan: { fastChecks: [policy] } } });
  t.match(asked.object('gate-report.json'), { sandbox: /^[a-z]+$/ });
});

long('the statement holds the spec and evidence digests only if bindings enable them', async (t) => {
  const bound = await ran(t, {});
  const statement = JSON.stringify(bound.statement());
  t.match(statement, `"intentspec_digest":"${bound.view.spec.digest}"`);
  t.match(statement, 'evidence/0001-quick.json');
  const loose = await ran(t, {
    provenance: { bindings: { embedIntentSpecDigest: false, embedEvidenceDigests: false } },
  });
  t.notMatch(JSON.stringify(loose.statement()), 'intentspec_digest');
  t.notMatch(JSON.stringify(loose.statement()), 'evidence/0001-quick.json');
});

long(
  'transparencyLog mode internal-ledger adds a proof, and none gives a signed bundle without one',
  async (t) => {
    const logged = await ran(t, {});
    t.ok(logged.view.provenance?.proof);
    const unlogged = await ran(t, { provenance: { transparencyLog: { mode: 'none' } } });
    t.ok(unlogged.view.provenance?.bundle);
    t.equal(unlogged.view.provenance?.proof, undefined);
  },
);

long('refs under aiRefPrefix keep the objects of a run through `git gc`', async (t) => {
  const { sample, view, object } = await ran(t, {
    objmodel: { objectStore: { aiRefPrefix: 'refs/x-acme/' } },
  });
  sample.git('gc', '--quiet', '--prune=now');
  t.match(object('decision.json'), { type: 'commit' });
  t.ok(sample.git('rev-parse', `refs/x-acme/content/${view.runId}:patchset.diff`));
  t.equal(sample.git('for-each-ref', 'refs/ai'), '');
});

long('a metric that does not match metricsSchema abandons the run', async (t) => {
  const metrics = (metricsSchema: Json): Json => ({ objmodel: { runPolicy: { metricsSchema } } });
  const unlike = await ran(t, metrics({ patchsets_generated: { minimum: 2 } }));
  t.equal(unlike.view.decision?.type, 'abandon');
  t.match(unlike.view.decision?.rationale, '`metrics`');
});

long('maxOutputBytes limits how much command output is kept', async (t) => {
  const allow = [{ tool: 'workspace.command', actions: ['execute'], constraints: { maxOutputBytes: 4 } }];
  const { content } = await ran(t, {
    acceptance: { verificationPlan: { fastChecks: [{ ...quick, command: 'echo 123456789' }] } },
    security: { toolAcl: { allow } },
  });
  t.notMatch(content('artifacts/fast/quick/test-log.log'), /\n.*56789/);
});

long(
  'an enabled replan trigger abandons a supplied patch, and the rationale names the trigger',
  async (t) => {
    const outside = (triggers: Json): Json => ({
      intent: { inScope: ['src/'] },
      execution: { replan: { triggers } },
    });
    const enabled = await ran(t, outside(['scope-creep']));
    t.match(enabled.view.decision, { type: 'abandon', rationale: /cannot be replanned for `scope-creep`/ });
    const silent = await ran(t, outside([]));
    t.equal(silent.view.decision?.type, 'abandon');
    t.notMatch(silent.view.decision?.rationale, 'replanned');
  },
);

long('patchsetFormat stores the patchset as a git diff or a unified diff', async (t) => {
  const git = await ran(t, {});
  const pathOf = ({ view }: Ran): string =>
    view.artifacts.find(({ name }) => name === 'patchset')?.path ?? '';
  t.match(git.content(pathOf(git)), /^diff --git /);
  const unified = await ran(t, { objmodel: { runPolicy: { patchsetFormat: 'Unified' } } });
  t.match(unified.content(pathOf(unified)), /^--- a\//);
});

function writeConfig(sample: Sample, text: string): void {
  mkdirSync(join(sample.root, '.writ'), { recursive: true });
  writeFileSync(join(sample.root, '.writ', 'config.toml'), text);
  sample.git('add', '--force', '.writ/config.toml');
  sample.git('commit', '--quiet', '-m', 'Configure');
}
