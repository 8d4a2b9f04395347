import t from 'tap';
import type { CheckRecord, StageRecord } from '../../../../core/contract/stage.ts';
import { failedTests, failureText } from '../../../../engine/run/record/failure-text.ts';

function check(id: string, more: Partial<CheckRecord>): CheckRecord {
  return {
    id,
    stage: 'fast',
    kind: 'testSuite',
    command: 'make test',
    required: true,
    status: 'failed',
    expectedExitCode: 0,
    timedOut: false,
    startedAt: '2026-01-02T03:04:05Z',
    durationMs: 1,
    artifacts: [],
    findings: [],
    ...more,
  };
}

const stage = (...checks: CheckRecord[]): StageRecord => ({
  stage: 'fast',
  status: 'failed',
  expected: checks.length,
  ran: checks.length,
  checks,
  findings: [],
});
const failing = (test: string) => ({
  rule: 'check-outcome',
  severity: 'error' as const,
  message: `${test} failed`,
  detail: { test },
});

t.test('failed tests of required checks are listed by name, once each', async (t) => {
  const optional = check('optional', { required: false, findings: [failing('adds')] });
  const unit = check('unit', { findings: [failing('adds'), failing('divides'), failing('adds')] });
  const passed = check('passed', { status: 'passed', findings: [failing('old')] });
  t.strictSame(failedTests([stage(optional, unit, passed, check('lint', {}))]), [
    'unit: adds',
    'unit: divides',
    'lint',
  ]);
  t.strictSame(failedTests([stage(optional)]), [], 'what does not block is no reason to plan anew');
  t.notMatch(failureText([], [stage(optional, unit)]), /optional/);
});
