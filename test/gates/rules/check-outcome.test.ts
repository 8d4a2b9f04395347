import t from 'tap';
import { gateTester } from '../../../testing.ts';
import { checkRecord, ruleOf, stageOf } from './stage-case.ts';

const error = { rule: 'check-outcome', severity: 'error' } as const;
const warning = { rule: 'check-outcome', severity: 'warning' } as const;

await gateTester(t, ruleOf('check-outcome'), {
  valid: [
    { name: 'a check that passed', ...stageOf('fast', checkRecord()), expect: [] },
    {
      name: 'an exit code that is expected',
      ...stageOf('fast', checkRecord({ exitCode: 3, expectedExitCode: 3 })),
      expect: [],
    },
    {
      name: 'a check that runs a rule and has no exit code',
      ...stageOf('fast', { ...checkRecord({ kind: 'policy' }), ...{ exitCode: undefined } } as never),
      expect: [],
    },
    {
      name: 'a check that waits for a person',
      ...stageOf('release', checkRecord({ status: 'waiting' })),
      expect: [],
    },
    {
      name: 'a failed check that is not required is reported',
      ...stageOf('fast', checkRecord({ status: 'failed', exitCode: 1, required: false })),
      expect: [warning],
    },
    {
      name: 'a time-out of a check that is not required is reported',
      ...stageOf('fast', checkRecord({ status: 'failed', timedOut: true, required: false })),
      expect: [warning],
    },
    {
      name: 'an old failure that the contract tolerates is reported',
      ...stageOf('integration', checkRecord({ status: 'failed', exitCode: 1, tolerated: true })),
      expect: [warning],
    },
    { name: 'the patch, before any stage', expect: [] },
  ],
  invalid: [
    {
      name: 'a failed check',
      ...stageOf('fast', checkRecord({ status: 'failed', findings: [{ ...error, message: 'no report' }] })),
      expect: [{ ...error, message: 'check `unit` failed: no report' }],
    },
    {
      name: 'an exit code that is not expected, whatever the status says',
      ...stageOf('fast', checkRecord({ exitCode: 1 })),
      expect: [error],
    },
    {
      name: 'a time-out, whatever the status says',
      ...stageOf('fast', checkRecord({ timedOut: true })),
      expect: [error],
    },
    {
      name: 'a signal, whatever the status says',
      ...stageOf('fast', checkRecord({ signal: 'SIGSEGV' })),
      expect: [error],
    },
    {
      name: 'failed tests, whatever the status says',
      ...stageOf('fast', checkRecord({ kind: 'testSuite', tests: { passed: 1, failed: 2, skipped: 0 } })),
      expect: [error],
    },
    {
      name: 'one finding for each check that failed, in their order',
      ...stageOf(
        'fast',
        checkRecord({ id: 'a', status: 'failed' }),
        checkRecord({ id: 'b' }),
        checkRecord({ id: 'c', status: 'failed', required: false }),
      ),
      expect: [error, warning],
    },
  ],
});
