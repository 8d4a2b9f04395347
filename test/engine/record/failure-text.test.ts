import t from 'tap';
import type { CheckRecord, StageRecord } from '../../../core/interfaces/stage.ts';
import { failedOutput, failedTests, failureText, withOutput } from '../../../engine/record/failure-text.ts';

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

t.test(
  'the output of failed checks that block is passed on, and of a second run if that failed',
  async (t) => {
    const printed = (text: string) => ({ outputTail: { text } });
    const laid = { status: 'failed', laid: [], tree: '', timedOut: false, durationMs: 1 } as const;
    const output = failedOutput([
      stage(
        check('unit', printed('AssertionError: 3 !== 2')),
        check('kept', { ...printed('all passed'), atPolicy: { ...laid, ...printed('fails at the policy') } }),
        check('optional', { required: false, ...printed('optional') }),
        check('old', { tolerated: true, ...printed('old') }),
        check('quiet', {}),
      ),
    ]);
    t.equal(
      output,
      'output of check unit:\nAssertionError: 3 !== 2\noutput of check kept:\nfails at the policy',
    );
    t.equal(failedOutput([stage(check('quiet', {}))]), '');
    t.equal(withOutput('why', output), `why\n${output}`);
    t.equal(withOutput('why', undefined), 'why');
  },
);

t.test('the output of many failed checks is bounded, and its end is kept', async (t) => {
  const tail = { outputTail: { text: `${'x'.repeat(16_000)}the end` } };
  const output = failedOutput([stage(...Array.from({ length: 20 }, (_, at) => check(`c${at}`, tail)))]);
  t.ok(output.length < 17_000);
  t.equal(output.split('the end').length, 9);
  t.match(output, 'output of check c0 (its end):');
});
