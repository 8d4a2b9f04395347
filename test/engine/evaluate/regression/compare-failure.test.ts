import t from 'tap';
import type { CheckOutcome } from '../../../../core/interfaces/check.ts';
import type { Finding } from '../../../../core/interfaces/finding.ts';
import type { SandboxResult } from '../../../../core/interfaces/sandbox.ts';
import type { CheckRecord } from '../../../../core/interfaces/stage.ts';
import { canBeOldFailure, compareFailure } from '../../../../engine/evaluate/machine-failure.ts';

const error = (code: string): Finding => ({
  rule: 'check-outcome',
  severity: 'error',
  message: code,
  detail: { code },
});
const failed = (...names: readonly string[]) => ({
  passed: 3,
  failed: names.length,
  skipped: 0,
  failedTests: names.map((name) => ({ name })),
});
const nothing = { bytes: Buffer.alloc(0), totalBytes: 0, truncated: false };

function record(more: Partial<CheckRecord> = {}): CheckRecord {
  return {
    id: 'suite',
    kind: 'testSuite',
    stage: 'integration',
    status: 'failed',
    required: true,
    command: 'run',
    expectedExitCode: 0,
    exitCode: 1,
    timedOut: false,
    durationMs: 1,
    startedAt: '2025-05-06T00:00:00Z',
    artifacts: [],
    findings: [error('CHECK_EXIT_CODE'), error('TESTS_FAILED'), error('TEST_FAILED')],
    ...more,
  };
}

function outcome(more: Partial<CheckOutcome> = {}, result: Partial<SandboxResult> = {}): CheckOutcome {
  const ended = { timedOut: false, aborted: false, durationMs: 1, stdout: nothing, stderr: nothing };
  return {
    findings: [error('CHECK_EXIT_CODE'), error('TESTS_FAILED')],
    result: { exitCode: 1, combined: nothing, ...ended, ...result },
    reports: [],
    ...more,
  };
}

const of = (candidate: CheckRecord, base: CheckOutcome) => compareFailure(candidate, base).outcome;

t.test('only a check that ended and failed as tests fail can be an old failure', async (t) => {
  t.ok(canBeOldFailure(record()));
  t.notOk(canBeOldFailure(record({ status: 'passed', findings: [] })));
  t.notOk(canBeOldFailure(record({ timedOut: true })));
  t.notOk(canBeOldFailure(record({ kind: 'policy' })));
  t.notOk(canBeOldFailure(record({ findings: [error('CHECK_EXIT_CODE'), error('NO_TEST_EXECUTED')] })));
  t.notOk(canBeOldFailure(record({ findings: [error('REPORT_UNREADABLE')] })));
  t.notOk(canBeOldFailure(record({ findings: [] })));
  const { exitCode: _, ...killed } = record();
  t.notOk(canBeOldFailure(killed));
});

t.test('a check that passes at the base and fails on the candidate is a regression', async (t) => {
  t.equal(of(record({ tests: failed('a') }), outcome({ findings: [] }, { exitCode: 0 })), 'regression');
});

t.test('a suite failure is old only if the same tests fail at the base', async (t) => {
  const base = outcome({ tests: failed('a', 'b') });
  t.equal(of(record({ tests: failed('a', 'b') }), base), 'old-failure');
  t.equal(of(record({ tests: failed('a') }), base), 'old-failure');
  t.match(compareFailure(record({ tests: failed('a', 'c') }), base), {
    outcome: 'regression',
    newFailures: ['c'],
  });
  t.equal(of(record({ tests: failed('a', 'a') }), base), 'regression', 'one more test of the same name');
});

t.test('a suite with failures that are not all named is never an old failure', async (t) => {
  const many = { ...failed('a'), failed: 200 };
  t.equal(of(record({ tests: many }), outcome({ tests: many })), 'unknown');
  t.equal(of(record({ tests: failed('a') }), outcome()), 'unknown');
});

t.test('a command failure is old only if the base has the same exit code', async (t) => {
  const command = record({ kind: 'command', findings: [error('CHECK_EXIT_CODE')] });
  const base = outcome({ findings: [error('CHECK_EXIT_CODE')] });
  t.equal(of(command, base), 'old-failure');
  t.equal(of({ ...command, exitCode: 2 }, base), 'regression');
});

t.test('a base without a usable result makes the comparison unknown', async (t) => {
  const candidate = record({ kind: 'command', exitCode: 127, findings: [error('CHECK_EXIT_CODE')] });
  const { result: _, ...notRun } = outcome();
  t.equal(of(candidate, notRun), 'unknown');
  t.equal(of(candidate, outcome({}, { exitCode: 127 })), 'unknown', 'the command is not there');
  t.equal(of(candidate, outcome({ findings: [error('CHECK_TIMED_OUT')] }, { timedOut: true })), 'unknown');
  t.equal(of(candidate, outcome({ findings: [error('WORKSPACE_DEPENDENCIES_MISSING')] })), 'unknown');
  t.equal(of(candidate, outcome({ findings: [error('NO_TEST_EXECUTED')] })), 'unknown');
  const { exitCode: __, ...signalled } = outcome().result ?? {};
  t.equal(of(candidate, outcome({ result: signalled as SandboxResult })), 'unknown');
});
