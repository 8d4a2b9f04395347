import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { systemClock } from '../../../../core/base/clock.ts';
import type { CheckContext, CheckOutcome } from '../../../../core/interfaces/check.ts';
import type { StageRecord } from '../../../../core/interfaces/stage.ts';
import type { OpeningWorkspace } from '../../../../engine/evaluate/open-workspace.ts';
import { compareWithBase } from '../../../../engine/evaluate/regression.ts';
import type { Attempt, RunServices } from '../../../../engine/state/open-run.ts';
import { type Steps, stepsOver } from '../../../../engine/state/record-collector.ts';
import type { JournalRecord } from '../../../../store/parse-journal.ts';
import { toRuleInput } from '../../../../testing.ts';
import { check, checkRecord } from '../../../gates/rules/stage-case.ts';

type Level = 'none' | 'low' | 'medium';
const failedOutcome: CheckOutcome = {
  findings: [{ rule: 'check-outcome', severity: 'error', message: 'm', detail: { code: 'CHECK_EXIT_CODE' } }],
  reports: [],
  result: {
    exitCode: 1,
    timedOut: false,
    aborted: false,
    durationMs: 1,
    stdout: { bytes: Buffer.alloc(0), totalBytes: 0, truncated: false },
    stderr: { bytes: Buffer.alloc(0), totalBytes: 0, truncated: false },
    combined: { bytes: Buffer.alloc(0), totalBytes: 0, truncated: false },
  },
};

interface MoreOfAttempt {
  readonly services?: Partial<RunServices>;
  readonly patch?: Attempt['patch'];
}

/** What comparing asks of an attempt; check kinds are told to whoever counts. */
function attemptOf(
  level: Level,
  steps: Steps,
  asked: string[],
  more: MoreOfAttempt = {},
  outcome: CheckOutcome = failedOutcome,
  carry: readonly string[] = ['dist'],
): Attempt {
  const { spec, patch, scope } = toRuleInput({ name: 'regression' });
  const verificationPlan = {
    ...spec.acceptance.verificationPlan,
    fastChecks: [check({ id: 'build' }), check({ id: 'people', kind: 'policy' })],
    integrationChecks: [check({ id: 'old' })],
  };
  const qualityGates = { ...spec.acceptance.qualityGates, maxAllowedRegression: level };
  const runner = {
    run: async ({ check: { id } }: CheckContext) => {
      asked.push(id);
      return outcome;
    },
  };
  const parts = {
    environment: {
      config: { redaction: {}, checks: { reports: new Map() }, workspace: { carry } },
      sandbox: { name: 'sealed' },
    },
    identity: {
      contract: {
        effective: { ...spec, acceptance: { ...spec.acceptance, verificationPlan, qualityGates } },
      },
      scope,
    },
    services: {
      engine: { slots: { check: { pick: async () => runner } } },
      settings: { clock: systemClock, signal: new AbortController().signal },
      steps,
      wallClockExceeded: () => false,
      secrets: { values: [], given: {} },
      ...more.services,
    },
    patch: more.patch ?? { ...patch, baseCommit: 'a'.repeat(40) },
    box: { list: () => [] },
  };
  return parts as unknown as Attempt;
}

function stageWith(more: Parameters<typeof checkRecord>[0] = {}): StageRecord {
  const { findings } = failedOutcome;
  const failed = { id: 'old', stage: 'integration', status: 'failed', exitCode: 1, findings } as const;
  const checks = [checkRecord({ ...failed, ...more })];
  return { stage: 'integration', status: 'passed', expected: 1, ran: 1, checks, findings: [] };
}

/** A base tree with one file. */
function treeWith(t: Test, content: string): MoreOfAttempt {
  const cwd = t.testdir({ 'run.sh': content });
  const env = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd, env: { ...process.env, ...env }, encoding: 'utf8' }).trim();
  git('init', '--quiet');
  git('add', 'run.sh');
  const place = { gitDir: join(cwd, '.git'), objectFormat: 'sha1', cwd, env, settings: [] } as const;
  const { patch } = toRuleInput({ name: 'regression' });
  return {
    services: { scratch: place as unknown as RunServices['scratch'] },
    patch: { ...patch, baseCommit: 'a'.repeat(40), baseTree: git('write-tree') },
  };
}

const workspace = {} as OpeningWorkspace;
const inMemory = () => stepsOver({ records: [], append: async () => undefined });

t.test('a failed check runs once at the base, and a resumed run reuses the result', async (t) => {
  const records: JournalRecord[] = [];
  const append = async (type: string, data: unknown) => {
    records.push({ type, data } as JournalRecord);
  };
  const asked: string[] = [];
  const first = await compareWithBase(
    attemptOf('low', stepsOver({ records: [], append }), asked),
    workspace,
    stageWith(),
  );
  t.strictSame(asked, ['build', 'old']);
  t.match(first.checks, [{ baseline: { failure: { outcome: 'old-failure' } }, tolerated: true }]);
  const resumed = stepsOver({ records, append });
  const second = await compareWithBase(attemptOf('low', resumed, asked), workspace, stageWith());
  t.strictSame(second, first);
  t.strictSame(asked, ['build', 'old'], 'nothing ran');
});

t.test('the base runs only the failed check if no files are carried between checks', async (t) => {
  const asked: string[] = [];
  const attempt = attemptOf('low', inMemory(), asked, {}, failedOutcome, []);
  const { checks } = await compareWithBase(attempt, workspace, stageWith());
  t.strictSame(asked, ['old']);
  t.match(checks, [{ baseline: { failure: { outcome: 'old-failure' } } }]);
});

t.test('maxAllowedRegression `none` tolerates no old failure', async (t) => {
  const { checks } = await compareWithBase(attemptOf('none', inMemory(), []), workspace, stageWith());
  t.match(checks, [{ baseline: { failure: { outcome: 'old-failure' } } }]);
  t.equal(checks[0]?.tolerated, undefined);
});

t.test('maxAllowedRegression `low` and `medium` tolerate an old failure', async (t) => {
  for (const level of ['low', 'medium'] as const) {
    const { checks } = await compareWithBase(attemptOf(level, inMemory(), []), workspace, stageWith());
    t.equal(checks[0]?.tolerated, true, level);
  }
});

t.test('the base does not run for a check that passed, is optional or timed out', async (t) => {
  const asked: string[] = [];
  const unborn = { ...toRuleInput({ name: 'regression' }).patch, baseCommit: undefined };
  const cases: readonly (readonly [StageRecord, MoreOfAttempt])[] = [
    [stageWith({ status: 'passed', findings: [] }), treeWith(t, 'a text without that name')],
    [stageWith({ status: 'passed', findings: [], kind: 'policy', command: 'write metrics.json' }), {}],
    [stageWith({ required: false }), {}],
    [stageWith({ timedOut: true }), {}],
    [{ ...stageWith(), stage: 'fast' }, {}],
    [stageWith(), { services: { wallClockExceeded: () => true } }],
    [stageWith(), { patch: unborn }],
  ];
  for (const [stage, more] of cases) {
    const attempt = attemptOf('low', inMemory(), asked, more);
    t.strictSame(await compareWithBase(attempt, workspace, stage), stage);
  }
  t.strictSame(asked, []);
});

t.test('a check that stopped writing metrics is reported with the metrics of the base', async (t) => {
  const measured: CheckOutcome = {
    ...failedOutcome,
    findings: [],
    reports: [{ name: 'metrics.json', bytes: Buffer.from('{"p95":{"value":12.5,"unit":"ms"},"size":3}') }],
  };
  const passed = stageWith({ status: 'passed', findings: [], exitCode: 0, command: 'sh run.sh' });
  const asked: string[] = [];
  const found = treeWith(t, 'date > "$REPORTS_DIR/metrics.json"');
  const attempt = attemptOf('medium', inMemory(), asked, found, measured);
  const { checks } = await compareWithBase(attempt, workspace, passed);
  t.strictSame(asked, ['build', 'old'], 'once at the base');
  const { unmeasured } = checks[0]?.baseline?.speed ?? {};
  t.equal(unmeasured?.side, 'candidate');
  t.match(unmeasured?.reason, /at the base one with `p95` 12\.5 ms, `size` 3/);
  const nothing = { ...measured, reports: [] };
  const without = attemptOf('medium', inMemory(), [], found, nothing);
  t.strictSame(await compareWithBase(without, workspace, passed), passed, 'the base writes none either');
  const named = stageWith({ ...passed.checks[0], command: 'make > $REPORTS_DIR/metrics.json' });
  const byCommand = attemptOf('medium', inMemory(), [], treeWith(t, 'nothing'), measured);
  t.ok((await compareWithBase(byCommand, workspace, named)).checks[0]?.baseline?.speed);
});
