import t from 'tap';
import type { Finding } from '../../../core/interfaces/finding.ts';
import type { StageRecord } from '../../../core/interfaces/stage.ts';
import { decide } from '../../../engine/decide/decide.ts';
import { type DecisionQuestion, decideRun } from '../../../engine/decide/decide-run.ts';
import type { SettledAttempt } from '../../../engine/record/attempt-files.ts';
import { newPlanState, type PlanState } from '../../../engine/record/plan-state.ts';
import { type BareOptions, bareAttempt, sampleSpec } from './bare-attempt.ts';

const human = { required: false, needed: 0, approved: 0, rejected: 0 };
const check = { id: 'unit', kind: 'command', status: 'passed', required: true, findings: [] };
const fast = {
  stage: 'fast',
  status: 'passed',
  expected: 2,
  ran: 2,
  checks: [check, { ...check, id: 'again' }],
  findings: [],
} as unknown as StageRecord;

const all = [
  fast,
  ...['integration', 'security', 'release'].map((stage) => ({
    stage,
    status: 'skipped',
    expected: 0,
    ran: 0,
    checks: [],
    findings: [],
  })),
] as unknown as readonly StageRecord[];

function state(more: Partial<PlanState> = {}): PlanState {
  return { ...newPlanState({ revision: 1, tasks: [] } as never, 0, undefined), ...more };
}

function question(more: Partial<DecisionQuestion> = {}): DecisionQuestion {
  return {
    subject: 'candidate',
    conflicts: [],
    human,
    findings: [],
    stages: all,
    dependencies: [],
    before: [],
    state: state(),
    ...more,
  };
}

const decided = (options: BareOptions = {}, more: Partial<DecisionQuestion> = {}) =>
  decideRun(bareAttempt(options), question(more));

t.test('a run may revise its plan less often than the engine allows, and never more often', async (t) => {
  for (const [maxReplans, limit] of [
    [1, 1],
    [50, 5],
  ]) {
    const settings = { clock: { now: () => 3_500 }, maxReplans };
    const { input } = await decided({ services: { settings } });
    t.equal(input.replans.limit, limit);
  }
});

t.test('a decision input records what the decision depends on', async (t) => {
  t.test('a decision input binds the run, spec, patch and policy', async (t) => {
    const { input, decision } = await decided();
    t.match(input, {
      schema: 'urn:writ:decision-input:v2',
      runId: 'run-1',
      specId: 'sample-intent-0001',
      specDigest: 'd'.repeat(64),
      baseCommit: 'b'.repeat(40),
      policyCommit: 'c'.repeat(40),
      policyRef: 'refs/heads/main',
      patchDigest: 'e'.repeat(64),
      candidateTree: 'f'.repeat(40),
      gateReportDigest: /^[0-9a-f]{64}$/,
      subject: 'candidate',
      source: 'worker',
      conflicts: [],
      touchesGoverning: false,
      wallClock: { limitSeconds: 14400, exceeded: false },
      triggers: { enabled: [], fired: [] },
      replans: { count: 0, limit: 5 },
      cost: { limitUnits: 0, usedUnits: 0 },
      human,
      citations: { needed: 2, trusted: true },
      policy: {
        abandonOnSecurityGateFail: true,
        checkpointBeforeReplan: true,
        rollbackOnProvenanceFail: true,
      },
    });
    for (const absent of ['defaultRef', 'task', 'blame', 'worker', 'workerReason'])
      t.notOk(absent in input, absent);
    t.strictSame(decision, decide(input));
    t.equal(decision.next, 'seal');
  });

  t.test('a decision input includes the task, the worker answer and the foreign default ref', async (t) => {
    const task = { id: 'task-1', attempt: 2, maxRetries: 3 };
    const blame = { merged: [], tasks: [], unwritten: { count: 0, first: [] } };
    const { input } = await decided(
      { environment: { foreign: { defaultRef: 'refs/heads/dev' } }, identity: { isWorked: false } },
      { task, blame, worker: 'nothing', workerReason: 'tired' },
    );
    t.match(input, {
      source: 'supplied',
      defaultRef: 'refs/heads/dev',
      task,
      blame,
      worker: 'nothing',
      workerReason: 'tired',
    });
  });

  t.test('a decision input has null commits on an unborn branch', async (t) => {
    const { input } = await decided({ patch: { baseCommit: undefined }, environment: { policy: {} } });
    t.match(input, { baseCommit: null, policyCommit: null });
    t.notOk('policyRef' in input);
  });

  t.test('a decision input omits finding messages and lists stages that did not start', async (t) => {
    const finding: Finding = { rule: 'scope', severity: 'warning', message: 'm', path: 'a', line: 2 };
    const bare: Finding = { rule: 'sbom', severity: 'note', message: 'm' };
    const tolerated = { ...check, status: 'failed', tolerated: true };
    const stage = {
      ...fast,
      checks: [check, tolerated],
      findings: [finding, bare],
    } as unknown as StageRecord;
    const spec = sampleSpec();
    spec.acceptance.verificationPlan.securityChecks = spec.acceptance.verificationPlan.fastChecks;
    const { input } = await decided({ spec }, { findings: [finding], stages: [stage] });
    const words = { rule: 'scope', severity: 'warning', path: 'a', line: 2 };
    const notStarted = { status: 'not-started', expected: 0, ran: 0, checks: [], findings: [] };
    t.strictSame(input.patchFindings, [words]);
    t.strictSame(input.stages, [
      {
        stage: 'fast',
        status: 'passed',
        expected: 2,
        ran: 2,
        checks: [
          { id: 'unit', status: 'passed', required: true },
          { id: 'unit', status: 'failed', required: true, tolerated: true },
        ],
        findings: [words, { rule: 'sbom', severity: 'note' }],
      },
      { stage: 'integration', ...notStarted },
      { stage: 'security', ...notStarted, expected: 2 },
      { stage: 'release', ...notStarted },
    ]);
  });

  t.test('a decision input records changed governing files and an exceeded wall clock', async (t) => {
    const { input } = await decided({
      patch: { files: [{ path: '.writ/config.toml', changeType: 'modify', linesAdded: 1, linesDeleted: 0 }] },
      services: { wallClockExceeded: () => true },
    });
    t.match(input, { touchesGoverning: true, wallClock: { exceeded: true } });
  });

  t.test(
    'a decision input marks citations as untrusted when the spec does not trust the repository',
    async (t) => {
      const spec = sampleSpec();
      spec.evidence.trustTiers = ['web'];
      t.match((await decided({ spec })).input, { citations: { needed: 2, trusted: false } });
    },
  );
});

t.test('replan triggers fire once each, from attempts, the worker and plugins', async (t) => {
  const failed = { ...check, status: 'failed' };
  const stages = [{ ...fast, status: 'failed', checks: [failed] } as unknown as StageRecord];
  const before = [{ patchFindings: [], stages: [], failedTests: ['unit'] }];
  const calls: unknown[] = [];
  const hooks = {
    replan: {
      sense: {
        call: async (asked: unknown) => {
          calls.push(asked);
          return ['security-gate-fail'];
        },
      },
    },
    decision: { guard: { call: async () => undefined } },
  };
  const spec = sampleSpec();
  spec.execution.replan.triggers = ['scope-creep'];
  const { input } = await decided(
    { spec, services: { engine: { hooks } } },
    { stages, before, sensed: ['unknown-api', 'repeated-test-fail'] },
  );
  t.strictSame(input.triggers.enabled, ['scope-creep']);
  t.strictSame([...input.triggers.fired].sort(), ['repeated-test-fail', 'security-gate-fail', 'unknown-api']);
  t.match(calls, [
    {
      runId: 'run-1',
      subject: 'candidate',
      fired: ['repeated-test-fail', 'unknown-api', 'repeated-test-fail'],
    },
  ]);
  t.strictSame((await decided({}, { stages, before: [] })).input.triggers.fired, []);
});

t.test('a decision collects refusals from cancellation, guards, metrics and missing proofs', async (t) => {
  t.test('a cancelled run is refused and abandoned', async (t) => {
    const { refusals, input, decision } = await decided({ services: { cancelled: 'no longer wanted' } });
    t.strictSame(refusals, [{ rule: 'cancelled', severity: 'error', message: 'no longer wanted' }]);
    t.strictSame(input.refusals, [{ rule: 'cancelled', severity: 'error' }]);
    t.equal(decision.type, 'abandon');
  });

  t.test('guards are called with the run and add their refusals', async (t) => {
    const refusal = { rule: 'guard', severity: 'error', message: 'm' } as const;
    const calls: unknown[] = [];
    const hooks = {
      replan: { sense: { call: async () => [] } },
      decision: {
        guard: {
          call: async (asked: unknown) => {
            calls.push(asked);
            return refusal;
          },
        },
      },
    };
    const { refusals } = await decided({ services: { engine: { hooks } } });
    t.strictSame(refusals, [refusal]);
    t.match(calls, [{ runId: 'run-1', patch: { digest: 'e'.repeat(64) }, stages: all, findings: [] }]);
  });

  t.test('a candidate is refused for metrics that do not match the spec, an attempt is not', async (t) => {
    const spec = sampleSpec();
    spec.objmodel.runPolicy.metricsSchema = { cost_usd: { minimum: 1 } };
    t.match((await decided({ spec })).refusals, [
      { rule: 'metrics', severity: 'error', message: /^metric `cost_usd`: / },
    ]);
    t.strictSame((await decided({ spec }, { subject: 'attempt' })).refusals, []);
  });

  t.test('a required transparency proof is refused when no log can provide it', async (t) => {
    const refusedWith = async (mode: string, isProvenance: boolean, required: readonly object[]) => {
      const spec = sampleSpec();
      Object.assign(spec.provenance.transparencyLog, { mode });
      spec.provenance.requireSlsaProvenance = isProvenance;
      spec.artifacts.required = required as typeof spec.artifacts.required;
      return (await decided({ spec })).refusals;
    };
    const proof = { name: 'transparency-proof', required: true, stage: 'release', format: '' };
    t.match(await refusedWith('none', true, [proof]), [
      { rule: 'artifact-present', severity: 'error', message: /is `none`$/ },
    ]);
    t.match(await refusedWith('internal-ledger', false, [proof]), [
      { rule: 'artifact-present', message: /is `false`$/ },
    ]);
    t.strictSame(await refusedWith('internal-ledger', true, [proof]), []);
    t.strictSame(await refusedWith('none', true, [{ ...proof, required: false }]), []);
    t.strictSame(await refusedWith('none', true, [{ ...proof, name: 'sbom' }]), []);
    t.strictSame(await refusedWith('none', true, []), []);
  });
});

const settled = (number: number, more: Partial<SettledAttempt> = {}): SettledAttempt =>
  ({
    name: `task-1/revision-1/attempt-${number}`,
    baseTree: 'x',
    tree: 'x',
    usage: { costUnits: 2, tokensUsed: 10 },
    ...more,
  }) as unknown as SettledAttempt;

t.test('metrics and cost sum the earlier attempts, the drafting and the attempt itself', async (t) => {
  const attempts = [
    settled(1, { tree: 'y', metrics: { lines: 1, own: 4 } }),
    settled(2, { tree: 'z', metrics: { lines: 2 } }),
    settled(3),
  ];
  const drafting = { turns: 1, tokensUsed: 100, costUnits: 50 };
  const {
    metrics,
    input,
    attempts: count,
  } = await decided(
    {},
    { state: state({ attempts, drafting, costUnits: 56, costLimit: 70 }), usage: { costUnits: 4 } },
  );
  t.strictSame(metrics, {
    lines: 2,
    own: 4,
    wall_clock_seconds: 2.5,
    cost_usd: 0.06,
    tokens_used: 130,
    patchsets_generated: 2,
  });
  t.strictSame(input.cost, { limitUnits: 70, usedUnits: 60 });
  t.equal(count, 3);
  const none = await decided({ services: { settings: { clock: { now: () => 0 } } } });
  t.match(none.metrics, { wall_clock_seconds: 0, patchsets_generated: 1, tokens_used: 0, cost_usd: 0 });
  t.equal(none.attempts, 1);
});

t.test('a decision on a candidate carries the dependencies and networks of its attempts', async (t) => {
  const context = new Map([
    [
      'task-1/revision-1/attempt-1',
      { sha256: 'a', dependencies: [{ name: 'doc', digest: { sha256: 'a' } }] },
    ],
  ]) as unknown as PlanState['context'];
  const server = { name: 'server', digest: { sha256: 'b' } };
  const network = { opened: [], uses: [] };
  const attempts = [settled(1, { servers: [server], network }), settled(2)];
  const own = { name: 'node_modules', digest: { sha256: 'c' } };
  const more = {
    state: state({ context, attempts, draft: { revision: 3, tasks: [] } as never }),
    dependencies: [own],
  };

  const ofCandidate = await decided({}, more);
  t.strictSame(
    ofCandidate.dependencies.map(({ name }) => name),
    ['doc', 'server', 'node_modules'],
  );
  t.strictSame(ofCandidate.workNetworks, [
    { stage: 'work', check: 'task-1/revision-1/attempt-1', ...network },
  ]);
  t.match(ofCandidate, { revision: 3, stages: all, findings: [] });
  t.equal(ofCandidate.input.replans.count, 2);

  const ofAttempt = await decided({}, { ...more, subject: 'attempt' });
  t.strictSame(ofAttempt.dependencies, [own], 'an attempt speaks for itself');
});

t.test('plugin networks are recorded once, with secrets in host names redacted', async (t) => {
  const use = {
    host: 'token-12345678.example',
    port: 443,
    via: 'connect',
    outcome: 'allowed',
    reasons: [],
    connections: 1,
    sentBytes: 0,
    receivedBytes: 0,
  };
  let calls = 0;
  const networks = () => {
    calls += 1;
    return [{ plugin: 'p', opened: [], uses: [use] }];
  };
  const options: BareOptions = {
    services: { secrets: { given: {}, values: ['token-12345678'] } },
    environment: { plugins: { networks } },
  };
  const attempt = bareAttempt(options);
  const { workNetworks } = await decideRun(attempt, question());
  t.match(workNetworks, [{ stage: 'plugin', check: 'p', opened: [] }]);
  t.notMatch(JSON.stringify(workNetworks), /token-12345678/);

  // Another process goes on, whose plugins were not called.
  const later = {
    ...attempt,
    environment: { ...attempt.environment, plugins: { networks: () => [] } },
  } as unknown as typeof attempt;
  t.strictSame((await decideRun(later, question())).workNetworks, workNetworks);
  t.equal(calls, 1);
  t.strictSame((await decideRun(bareAttempt(options), question({ subject: 'attempt' }))).workNetworks, []);
  t.equal(attempt.services.steps.ended('plugin-networks') === undefined, false);
  const silent = bareAttempt();
  await decideRun(silent, question());
  t.equal(
    silent.services.steps.ended('plugin-networks'),
    undefined,
    'nothing is recorded if no plugin has any',
  );
});

t.test('a decision is recorded once and made again only while it waits for approval', async (t) => {
  const attempt = bareAttempt();
  await decideRun(attempt, question());
  t.ok(attempt.services.steps.ended('decided'));
  const again = await decideRun(attempt, question({ conflicts: ['a'] }));
  t.strictSame(again.input.conflicts, []);

  const waiting = bareAttempt();
  const asked = { ...human, required: true, needed: 1 };
  t.equal((await decideRun(waiting, question({ human: asked }))).decision.next, 'wait-for-approval');
  t.notOk(waiting.services.steps.ended('decided'));
  t.equal((await decideRun(waiting, question({ human: { ...asked, approved: 1 } }))).decision.next, 'seal');

  const ofAttempt = bareAttempt();
  await decideRun(
    ofAttempt,
    question({ subject: 'attempt', worker: 'patch', task: { id: 'task-1', attempt: 1, maxRetries: 1 } }),
  );
  t.ok(ofAttempt.services.steps.ended('attempt-decided'));
  t.notOk(ofAttempt.services.steps.ended('decided'));
});
