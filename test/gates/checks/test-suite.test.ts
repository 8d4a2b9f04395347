import t from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import type { CheckContext } from '../../../core/interfaces/check.ts';
import type { Finding } from '../../../core/interfaces/finding.ts';
import { createPool } from '../../../core/kernel/worker/pool.ts';
import { testSuiteCheck } from '../../../gates/checks/test-suite.ts';
import { long } from '../../rooms/long.ts';
import { readFixture } from '../reports/read-fixture.ts';
import { checkContext, errorCodes, type Given } from './check-context.ts';

const pool = createPool({ clock: systemClock, threads: 1 });
t.teardown(() => pool.close());
const suiteCheck = testSuiteCheck(pool);
const run = (given: Given) =>
  suiteCheck.run(checkContext({ ...given, check: { kind: 'testSuite' } }).context);
const passing = 'TAP version 13\nok 1 - a\nok 2 - b # SKIP\n1..2\n';
const failing = 'TAP version 13\nok 1 - a\nnot ok 2 - b\n1..2\n';
/** Codes of the notes. */
const notes = (findings: readonly Finding[]) =>
  findings.filter(({ severity }) => severity === 'note').map(({ detail }) => detail?.code);
const junit = '<testsuite><testcase name="x"/><testcase name="y"/></testsuite>';

t.test('a suite passes when its exit code and its report agree', async (t) => {
  const { findings, tests } = await run({ stdout: passing });
  t.match(findings, [{ severity: 'note', detail: { code: 'TESTS_SKIPPED', count: 1, tests: ['b'] } }]);
  t.equal(findings.length, 1);
  t.strictSame(tests, { passed: 1, failed: 0, skipped: 1 });
  const fromFile = await run({ stdout: 'anything', reports: { 'unit.xml': junit } });
  t.strictSame([fromFile.findings, fromFile.tests], [[], { passed: 2, failed: 0, skipped: 0 }]);
});

t.test('a good report does not make up for a bad exit code', async (t) => {
  t.strictSame(errorCodes((await run({ stdout: passing, result: { exitCode: 1 } })).findings), [
    'CHECK_EXIT_CODE',
    'REPORT_DISAGREES',
  ]);
});

t.test('a good exit code does not make up for a failed test', async (t) => {
  const { findings, tests } = await run({ stdout: failing });
  t.strictSame(errorCodes(findings), ['TESTS_FAILED', 'TEST_FAILED', 'REPORT_DISAGREES']);
  t.match(findings[2], { detail: { between: ['standard output', 'exit code'], failed: 1, exitCode: 0 } });
  t.match(findings[0], { detail: { contradictsExitCode: true, failed: 1 } });
  t.match(findings[1], { detail: { test: 'b' } });
  t.strictSame(tests, { passed: 1, failed: 1, skipped: 0, failedTests: [{ name: 'b' }] });
});

t.test('a nonzero expected exit code does not excuse a failed test', async (t) => {
  const { context } = checkContext({
    stdout: failing,
    check: { expectedExitCode: 1 },
    result: { exitCode: 1 },
  });
  t.strictSame(errorCodes((await suiteCheck.run(context)).findings), ['TESTS_FAILED', 'TEST_FAILED']);
});

t.test('a suite without a report fails with REPORT_MISSING', async (t) => {
  t.strictSame(errorCodes((await run({ stdout: 'all good\n' })).findings), ['REPORT_MISSING']);
  t.strictSame(errorCodes((await run({ reports: { 'test-log.txt': passing } })).findings), [
    'REPORT_MISSING',
  ]);
  t.strictSame(errorCodes((await run({ stderr: passing })).findings), ['REPORT_MISSING']);
  const metrics = await run({ reports: { 'metrics.json': '{"ms":1}' } });
  t.strictSame(errorCodes(metrics.findings), ['REPORT_MISSING'], 'metrics are no test report');
});

t.test('a suite in which no test ran has failed', async (t) => {
  for (const stdout of ['1..0\n', 'ok 1 - a # SKIP\n1..1\n', readFixture('node-no-tests.tap')])
    t.strictSame(errorCodes((await run({ stdout })).findings), ['NO_TEST_EXECUTED']);
  for (const xml of ['<testsuites/>', readFixture('node-no-tests.xml')])
    t.strictSame(errorCodes((await run({ reports: { 'a.xml': xml } })).findings), ['NO_TEST_EXECUTED']);
});

t.test('a file without tests among others causes a warning and does not count as a test', async (t) => {
  const { findings, tests } = await run({ stdout: 'ok 1 - a\nok 2 - test/clients.js\n1..2\n' });
  t.match(findings, [{ severity: 'warning', detail: { code: 'FILE_WITHOUT_TESTS' } }]);
  t.equal(findings.length, 1);
  t.strictSame(tests, { passed: 1, failed: 0, skipped: 0 });
});

t.test('two reports are ambiguous unless the config selects one', async (t) => {
  const { findings, tests } = await run({ reports: { 'a.xml': junit, 'b.tap': passing } });
  t.match(findings, [
    { severity: 'error', detail: { code: 'REPORT_AMBIGUOUS', reports: ['a.xml', 'b.tap'] } },
  ]);
  t.equal(tests, undefined);
});

t.test('several reports are summed if the config selects them together', async (t) => {
  const skipped = '<testsuite><testcase name="z"><skipped/></testcase></testsuite>';
  const { findings, tests } = await run({
    report: 'TEST-*.xml',
    reports: { 'TEST-a.xml': junit, 'TEST-c.xml': skipped, 'b.tap': passing },
  });
  t.strictSame([errorCodes(findings), notes(findings)], [[], ['REPORT_IGNORED', 'TESTS_SKIPPED']]);
  t.strictSame(tests, { passed: 2, failed: 0, skipped: 1 });
  const damaged = await run({
    report: 'TEST-*.xml',
    reports: { 'TEST-a.xml': junit, 'TEST-b.xml': '<testsuite>' },
  });
  t.strictSame([errorCodes(damaged.findings), damaged.tests], [['REPORT_UNREADABLE'], undefined]);
});

t.test('only the report that the config names counts, and no other replaces it', async (t) => {
  const absent = await run({ report: 'junit.xml', stdout: passing, reports: { 'other.xml': junit } });
  t.match(absent.findings, [{ severity: 'error', detail: { code: 'REPORT_MISSING', named: '`junit.xml`' } }]);
  t.equal(absent.tests, undefined);
  const named = await run({ report: 'unit.out', reports: { 'unit.out': junit, 'other.xml': '<testsuite>' } });
  t.strictSame([errorCodes(named.findings), named.tests], [[], { passed: 2, failed: 0, skipped: 0 }]);
  const silent = await run({ report: 'stdout', reports: { 'a.xml': junit } });
  t.strictSame(errorCodes(silent.findings), ['REPORT_MISSING']);
  const text = await run({ report: 'stdout', stdout: 'all is well\n', reports: { 'a.xml': junit } });
  t.strictSame(errorCodes(text.findings), ['REPORT_UNREADABLE']);
  const json =
    '{"numTotalTests":1,"testResults":[{"assertionResults":[{"fullName":"a","status":"passed"}]}]}';
  t.match((await run({ report: 'stdout', stdout: json })).tests, { passed: 1 }, 'output of any known format');
  const failed = '<testsuite><testcase name="x"><failure/></testcase></testsuite>';
  const beside = await run({ report: 'a.xml', reports: { 'a.xml': junit, 'b.xml': failed } });
  t.strictSame(errorCodes(beside.findings), ['REPORT_DISAGREES'], 'a failed test in any report speaks');
});

t.test('TAP on standard output takes precedence over report files, which must agree with it', async (t) => {
  const same = await run({ stdout: 'ok 1 - x\nok 2 - y\n1..2\n', reports: { 'a.xml': junit } });
  t.strictSame([errorCodes(same.findings), notes(same.findings)], [[], ['REPORT_IGNORED']]);
  const more = await run({ stdout: 'ok 1 - x\n1..1\n', reports: { 'a.xml': junit } });
  t.match(more.findings, [
    {
      detail: {
        code: 'REPORT_DISAGREES',
        between: ['standard output', '`a.xml`'],
        passed: [1, 2],
        failed: [0, 0],
      },
    },
  ]);
  t.match(more.tests, { passed: 1 });
});

t.test('a report file cannot hide failures in TAP after the banner of a package manager', async (t) => {
  const banner = '\n> pkg@1.0.0 test\n> node --test\n\n';
  const one = '<testsuite><testcase name="a"/></testsuite>';
  for (const stdout of [
    banner + failing,
    `${banner}not ok 1 - a\n`,
    `x\n    not ok 3 - deep\n`,
    `${banner}${failing}1..9\n`,
  ]) {
    for (const report of ['a.xml', undefined]) {
      const given = { stdout, reports: { 'a.xml': one }, ...(report === undefined ? {} : { report }) };
      const { findings } = await run(given);
      t.strictSame(errorCodes(findings), ['REPORT_DISAGREES'], stdout);
      t.match(findings[0], { detail: { between: ['`a.xml`', 'standard output'] } });
    }
  }
  for (const stdout of [
    'not ok 1 - later # TODO\n',
    'it is not ok 1 here\n',
    'not ok 1 # SKIP no net\n',
    'not okay\n',
  ])
    t.strictSame((await run({ stdout: banner + stdout, reports: { 'a.xml': one } })).findings, [], stdout);
  const lost = await run({ stdout: `${banner}not ok 1 - a\n`, stdoutLost: 9, reports: { 'a.xml': one } });
  t.strictSame(
    errorCodes(lost.findings),
    ['REPORT_DISAGREES'],
    'of output that was cut the rest still speaks',
  );
});

t.test('one damaged report among good ones fails', async (t) => {
  const { findings, tests } = await run({ reports: { 'a.xml': junit, 'b.xml': '<testsuite>' } });
  t.match(findings, [
    { severity: 'error', detail: { code: 'REPORT_UNREADABLE', report: 'b.xml', reason: 'truncated' } },
  ]);
  t.match(tests, { passed: 2 });
});

t.test('a damaged report is not replaced by standard output', async (t) => {
  t.strictSame(errorCodes((await run({ stdout: passing, reports: { 'a.tap': 'ok 1' } })).findings), [
    'REPORT_UNREADABLE',
  ]);
});

t.test("a runner's JSON is read, and other JSON is ignored beside a report", async (t) => {
  const jest =
    '{"numTotalTests":1,"testResults":[{"assertionResults":[{"fullName":"a","status":"passed"}]}]}';
  t.match((await run({ reports: { 'unit.json': jest } })).tests, { passed: 1, failed: 0 });
  const alone = await run({ reports: { 'unit.json': '{"numFailedTests":0}' } });
  t.match(alone.findings, [
    { severity: 'error', detail: { code: 'REPORT_UNREADABLE', reason: 'not-a-report' } },
  ]);
  const beside = await run({ reports: { 'unit.json': '{}', 'unit.xml': junit } });
  t.match(beside.findings, [{ severity: 'note', detail: { code: 'REPORT_IGNORED', report: 'unit.json' } }]);
  const printed = await run({ stdout: passing, reports: { 'unit.json': '{}' } });
  t.strictSame(errorCodes(printed.findings), []);
  t.strictSame(notes(printed.findings), ['REPORT_IGNORED', 'TESTS_SKIPPED']);
});

t.test('output of the `spec` reporter is not a report', async (t) => {
  const spec = '✔ a (0.5ms)\nℹ tests 1\n';
  t.strictSame(errorCodes((await run({ stdout: spec })).findings), ['REPORT_MISSING']);
  t.strictSame(errorCodes((await run({ reports: { 'a.tap': spec } })).findings), ['REPORT_UNREADABLE']);
});

t.test('a flaky test passes and is listed', async (t) => {
  const xml = '<testsuite><testcase name="x"><flakyFailure message="once"/></testcase></testsuite>';
  const { findings, tests } = await run({ reports: { 'a.xml': xml } });
  t.match(findings, [{ severity: 'note', detail: { code: 'TESTS_FLAKY', count: 1, tests: ['x'] } }]);
  t.equal(findings.length, 1);
  t.strictSame(tests, { passed: 1, failed: 0, skipped: 0, flaky: 1 });
});

t.test('a test that is in two reports counts twice, and a note says so', async (t) => {
  const { findings, tests } = await run({ report: '*.xml', reports: { 'a.xml': junit, 'b.xml': junit } });
  t.match(findings, [
    { severity: 'note', detail: { code: 'TEST_IN_TWO_REPORTS', report: 'b.xml', count: 2, first: 'x' } },
  ]);
  t.match(tests, { passed: 4 });
  const other = '<testsuite><testcase name="x"><failure/></testcase></testsuite>';
  const both = { report: '*.xml', reports: { 'a.xml': junit, 'b.xml': other }, result: { exitCode: 1 } };
  t.strictSame(
    errorCodes((await run(both)).findings),
    ['CHECK_EXIT_CODE', 'TESTS_FAILED', 'TEST_FAILED'],
    'a failure in one of them stands',
  );
});

t.test('the total duration, the slowest tests and the durations of failed tests are kept', async (t) => {
  const xml =
    '<testsuite><testcase name="a" time="0.5"/><testcase name="b" time="1.5"><failure/></testcase></testsuite>';
  const { tests } = await run({ reports: { 'a.xml': xml } });
  t.strictSame(tests, {
    passed: 1,
    failed: 1,
    skipped: 0,
    durationMs: 2000,
    failedTests: [{ name: 'b', durationMs: 1500 }],
    slowest: [
      { name: 'b', durationMs: 1500 },
      { name: 'a', durationMs: 500 },
    ],
  });
});

t.test('XML that is not a test report is ignored beside a report', async (t) => {
  const { findings } = await run({ reports: { 'coverage.xml': '<coverage/>', 'unit.xml': junit } });
  t.match(findings, [{ severity: 'note', detail: { code: 'REPORT_IGNORED', report: 'coverage.xml' } }]);
  t.strictSame(errorCodes((await run({ reports: { 'coverage.xml': '<coverage/>' } })).findings), [
    'REPORT_UNREADABLE',
  ]);
});

t.test('a report whose totals contradict its test cases fails', async (t) => {
  const xml = '<testsuite failures="1"><testcase name="x"/></testsuite>';
  t.strictSame(errorCodes((await run({ reports: { 'a.xml': xml } })).findings), ['REPORT_CONTRADICTORY']);
});

t.test('truncated standard output is not counted', async (t) => {
  const { findings, tests } = await run({ stdout: passing, stdoutLost: 10 });
  t.match(findings, [{ severity: 'error', detail: { code: 'REPORT_UNREADABLE', reason: 'truncated' } }]);
  t.equal(tests, undefined);
});

t.test('twenty failed tests are listed and all are counted', async (t) => {
  const stdout = `1..50\n${Array.from({ length: 50 }, (_, index) => `not ok ${index + 1} - t${index}\n`).join('')}`;
  const { findings, tests } = await run({ stdout });
  t.equal(findings.filter(({ detail }) => detail?.code === 'TEST_FAILED').length, 20);
  t.equal(tests?.failed, 50);
});

t.test('the report of a command that timed out or was denied is not read', async (t) => {
  const timedOut = await run({ stdout: passing, result: { timedOut: true } });
  t.strictSame([errorCodes(timedOut.findings), timedOut.tests], [['CHECK_TIMED_OUT'], undefined]);
  const denied = { rule: 'acl', severity: 'error', message: 'no' } as const;
  t.strictSame((await run({ denied, notRun: true })).findings, [denied]);
  t.strictSame((await run({ denied, reports: { 'a.xml': junit } })).findings, [denied]);
});

t.test('missing dependencies are reported besides the missing report', async (t) => {
  const { findings } = await run({ stderr: "Error: Cannot find package 'tap'", result: { exitCode: 1 } });
  t.strictSame(errorCodes(findings), ['WORKSPACE_DEPENDENCIES_MISSING', 'REPORT_MISSING']);
});

t.test('a good report does not make up for an unreadable one', async (t) => {
  const bad: Readonly<Record<string, string>> = {
    'b.xml': '',
    'b.json': '',
    'b.tap': '',
    'c.tap': 'all is well\n',
    'd.tap': 'TAP version 99\nok 1\n1..1\n',
    'e.json': '{"numTotalTests":1,"numTotalTests":0,"testResults":[]}',
  };
  for (const [name, content] of Object.entries(bad)) {
    const { findings } = await run({ reports: { 'a.xml': junit, [name]: content } });
    t.strictSame(errorCodes(findings), ['REPORT_UNREADABLE'], `${name}: ${content.slice(0, 20)}`);
  }
  const hiding = '{"numTotalTests":1,"numFailedTests":"1","testResults":[]}';
  const { findings } = await run({ reports: { 'a.xml': junit, 'b.json': hiding } });
  t.strictSame(errorCodes(findings), ['REPORT_AMBIGUOUS']);
});

t.test('a stale report, or one that is not a regular file, does not count', async (t) => {
  const { context } = checkContext({ check: { kind: 'testSuite' } });
  const bytes = Buffer.from(junit);
  const withFiles = (given: Partial<Awaited<ReturnType<CheckContext['runCommand']>>>) =>
    suiteCheck.run({
      ...context,
      runCommand: async () => ({ ...(await context.runCommand()), ...given }),
    });
  const stale = await withFiles({ reports: [{ name: 'a.xml', bytes, isStale: true }] });
  t.match(stale.findings, [{ severity: 'error', detail: { code: 'REPORT_UNREADABLE', reason: 'stale' } }]);
  t.equal(stale.tests, undefined);
  const fresh = await withFiles({ reports: [{ name: 'a.xml', bytes }], unread: ['html', 'site'] });
  t.strictSame(fresh.findings, [], 'a directory beside it is no report');
  const log = { name: 'build.log', bytes, isStale: true } as const;
  t.strictSame((await withFiles({ reports: [{ name: 'a.xml', bytes }, log] })).findings, []);
  const link = await withFiles({ reports: [{ name: 'a.xml', bytes }], unread: ['b.xml'] });
  t.match(link.findings, [{ severity: 'error', detail: { reason: 'not-a-file', report: 'b.xml' } }]);
});

long('a large report is read in a thread and does not block the event loop', async (t) => {
  const cases = Array.from({ length: 60_000 }, (_, at) => `ok ${at + 1} - case number ${at + 1}\n`).join('');
  const large = `TAP version 13\n${cases}not ok 60001 - the last\n1..60001\n`;
  let turns = 0;
  const ticking = setInterval(() => {
    turns += 1;
  }, 5);
  const { findings, tests, executed } = await run({ reports: { 'a.tap': large }, result: { exitCode: 1 } });
  clearInterval(ticking);
  t.ok(turns > 3, `${turns} turns`);
  t.match(tests, { passed: 60_000, failed: 1 });
  t.equal(executed?.names.size, 60_001);
  t.strictSame(errorCodes(findings), ['CHECK_EXIT_CODE', 'TESTS_FAILED', 'TEST_FAILED']);
});

t.test('a large report fails if its thread crashes, times out or is aborted', async (t) => {
  const { context } = checkContext({ reports: { 'a.tap': `TAP version 13\n${'#\n'.repeat(600_000)}` } });
  for (const reason of ['crashed', 'deadline', 'aborted'] as const) {
    const lost = {
      run: async () => ({ ok: false, reason, error: { name: 'Error', message: 'gone' } }) as const,
    };
    const { findings, tests } = await testSuiteCheck(lost).run(context);
    t.match(findings, [
      { severity: 'error', detail: { code: 'REPORT_UNREADABLE' }, message: new RegExp(reason) },
    ]);
    t.equal(tests, undefined);
  }
});
