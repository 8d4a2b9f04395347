import t from 'tap';
import { commandCheck } from '../../../gates/checks/test-suite.ts';
import { checkContext, errorCodes, type Given, noPool } from './check-context.ts';

const run = (given: Given) => commandCheck(noPool).run(checkContext(given).context);

t.test('a command that ends with the expected exit code passes', async (t) => {
  t.strictSame((await run({})).findings, []);
  t.strictSame((await run({ check: { expectedExitCode: 3 }, result: { exitCode: 3 } })).findings, []);
});

t.test('an unexpected exit code fails and is reported with the expected one', async (t) => {
  const { findings, result } = await run({ check: { expectedExitCode: 2 }, result: { exitCode: 0 } });
  t.match(findings, [
    { rule: 'check-outcome', severity: 'error', detail: { code: 'CHECK_EXIT_CODE', expected: 2, found: 0 } },
  ]);
  t.equal(result?.exitCode, 0);
});

t.test('a timeout fails even if the exit code is the expected one', async (t) => {
  const { findings } = await run({ check: { timeoutSeconds: 7 }, result: { timedOut: true, exitCode: 0 } });
  t.match(findings, [{ severity: 'error', detail: { code: 'CHECK_TIMED_OUT', timeoutSeconds: 7 } }]);
});

t.test('an interrupted command fails even if the exit code is the expected one', async (t) => {
  t.strictSame(errorCodes((await run({ result: { aborted: true, exitCode: 0 } })).findings), [
    'CHECK_INTERRUPTED',
  ]);
});

t.test('a command that a signal ended fails', async (t) => {
  const { findings } = await run({ signal: 'SIGKILL' });
  t.match(findings, [{ severity: 'error', detail: { code: 'CHECK_SIGNAL', signal: 'SIGKILL' } }]);
});

t.test('a denied command fails with the refusal itself', async (t) => {
  const denied = { rule: 'acl', severity: 'error', message: 'not allowed' } as const;
  t.strictSame((await run({ denied, notRun: true })).findings, [denied]);
  t.strictSame((await run({ denied })).findings, [denied], 'also where it ran, for its reports');
});

t.test('a command without a result fails', async (t) => {
  t.strictSame(errorCodes((await run({ notRun: true })).findings), ['CHECK_NOT_RUN']);
});

t.test('a failure because of missing dependencies names them', async (t) => {
  const stderr = "Error: Cannot find module 'left-pad'\n";
  const { findings } = await run({ stderr, result: { exitCode: 1 } });
  t.match(findings, [
    { severity: 'error', detail: { code: 'WORKSPACE_DEPENDENCIES_MISSING', name: 'left-pad', found: 1 } },
    { severity: 'note', detail: { code: 'WORKSPACE_DEPENDENCIES_MISSING' } },
  ]);
  t.strictSame((await run({ stderr })).findings, [], 'not where it passed');
  t.strictSame(errorCodes((await run({ stderr, result: { timedOut: true } })).findings), ['CHECK_TIMED_OUT']);
});

t.test('the reports of a command are passed on', async (t) => {
  const { reports } = await run({ reports: { 'sbom.json': '{}' } });
  t.strictSame(
    reports.map(({ name }) => name),
    ['sbom.json'],
  );
});
