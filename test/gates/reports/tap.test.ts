import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { beginsAsTap, parseTap } from '../../../gates/reports/tap.ts';
import type { TestReport } from '../../../gates/reports/test-report.ts';
import { readFixture } from './read-fixture.ts';

async function reportOf(bytes: Uint8Array | string): Promise<TestReport> {
  const { report, refusal } = await parseTap(Buffer.from(bytes as Uint8Array));
  if (!report) throw new Error(`refused: ${refusal.reason}: ${refusal.message}`);
  return report;
}

const reasonOf = async (bytes: Uint8Array | string) =>
  (await parseTap(Buffer.from(bytes as Uint8Array))).refusal?.reason;

const lines = (...all: string[]) => `${all.join('\n')}\n`;

t.test('streams of real test runners are read', async (t) => {
  t.test("node's suites and tests with subtests do not count as tests", async (t) => {
    const report = await reportOf(readFixture('node.tap'));
    t.match(report, { passed: 4, failed: 2, skipped: 3 });
    t.match(report.failures, [
      { name: 'parent with subtests > child # hash \\ back', message: '1 == 2' },
      { name: 'async fail', message: 'boom <b> & "q" ]]>' },
    ]);
    t.ok((report.durationMs ?? 0) > 1);
  });

  t.test('a test that fails although its subtests pass is counted', async (t) => {
    const report = await reportOf(readFixture('node-parents.tap'));
    t.match(report, { passed: 1, failed: 2, skipped: 2 });
    t.strictSame(
      report.failures.map(({ name }) => name),
      ['parent fails itself', 'skips then fails'],
    );
  });

  t.test('a file in which no test ran is listed as empty', async (t) => {
    t.match(await reportOf(readFixture('node-no-tests.tap')), {
      passed: 0,
      failed: 0,
      emptyFiles: ['e/none.test.js'],
    });
  });

  t.test('TAP 14 with subtests and escaped marks is read', async (t) => {
    const report = await reportOf(readFixture('node-tap.tap'));
    t.match(report, { passed: 3, failed: 1, skipped: 2, failures: [{ name: 'second' }] });
  });

  t.test('TAP 14 with buffered subtests after their test is read', async (t) => {
    const report = await reportOf(readFixture('tap14-buffered.tap'));
    t.match(report, { passed: 2, failed: 1, skipped: 1 });
    t.strictSame(report.failures, [{ name: 'second > inner three', message: 'no' }]);
  });

  t.test('TAP from the node version that runs this test is read', async (t) => {
    const sample = fileURLToPath(new URL('../../../fixtures/gates/reports/node-sample.cjs', import.meta.url));
    const env = { PATH: process.env.PATH ?? '' };
    let output: Buffer;
    try {
      output = execFileSync(process.execPath, ['--test', '--test-reporter=tap', sample], { env });
    } catch (fault) {
      output = (fault as { stdout: Buffer }).stdout;
    }
    t.match(await reportOf(output), { passed: 4, failed: 2, skipped: 3 });
  });
});

t.test('SKIP and TODO directives skip a test, but a skipped test that fails has failed', async (t) => {
  const report = await reportOf(
    lines(
      '1..8',
      'ok 1 - a # SKIP why',
      'ok 2 # skipped: no',
      'not ok 3 - b # TODO later',
      'ok 4 - c # todo',
      'not ok 5 - d # SKIP but it failed',
      'ok 6 - e \\# SKIP is part of the name',
      'ok 7 - f # todolist is no directive',
      'ok',
    ),
  );
  t.match(report, { passed: 3, failed: 1, skipped: 4, failures: [{ name: 'd' }] });
});

t.test('failures inside a to-do test are forgiven with it', async (t) => {
  const report = await reportOf(
    lines('    not ok 1 - inside', '    1..1', 'not ok 1 - outside # TODO', '1..1'),
  );
  t.match(report, { passed: 0, failed: 0, skipped: 1, failures: [] });
});

t.test('a failure inside a test that claims to have passed counts', async (t) => {
  t.match(await reportOf(lines('    not ok 1 - inside', '    1..1', 'ok 1 - outside', '1..1')), {
    passed: 0,
    failed: 1,
    failures: [{ name: 'inside' }],
  });
});

t.test('subtests without a parent test are counted', async (t) => {
  t.match(await reportOf(lines('1..1', 'ok 1 - a', '    not ok 1 - orphan', '    1..1')), {
    passed: 1,
    failed: 1,
  });
});

t.test('subtests without a parent test are counted two levels deep', async (t) => {
  t.match(
    await reportOf(
      lines('        not ok 1 - orphan', '    ok 1 - a', '        not ok 1 - last', 'ok 1 - b', '1..1'),
    ),
    {
      passed: 0,
      failed: 2,
    },
  );
});

t.test('only the first 65,536 characters of a line are read', async (t) => {
  const todo = (length: number) => reportOf(lines('1..1', `not ok 1 - ${'x'.repeat(length)} # TODO`));
  t.match(await todo(65_000), { failed: 0, skipped: 1 });
  t.match(await todo(66_000), { failed: 1, skipped: 0 });
});

t.test('a parent whose subtests were all skipped is one skipped test', async (t) => {
  t.match(await reportOf(lines('    1..0 # nothing', 'ok 1 - a', '1..1')), { passed: 0, skipped: 1 });
});

t.test('`Bail out!` is a failure and needs no plan', async (t) => {
  const report = await reportOf(lines('1..3', 'ok 1 - a', 'Bail out! no database', 'ok 2'));
  t.match(report, { passed: 1, failed: 1, failures: [{ name: 'Bail out!', message: 'no database' }] });
  t.match(await reportOf(lines('    Bail out! inside')), { failed: 1 });
});

t.test('diagnostics hide no failed test', async (t) => {
  const report = await reportOf(
    lines(
      'ok 1 - a',
      '  ---',
      '  stack: |-',
      '    not ok 7 - text',
      '    ...',
      '  duration_ms: 12.5',
      '  ...',
      'ok 2 - b',
      '  ---',
      '  never: closed',
      'not ok 3 - c',
      '1..3',
    ),
  );
  t.match(report, { passed: 2, failed: 1, durationMs: 12.5 });
  t.equal(
    await reasonOf(lines('1..2', 'ok 1', '  ---', '  a: b', '  not ok 2')),
    'truncated',
    'a block that is open at the end',
  );
});

t.test('a missing, repeated or mismatched plan is refused', async (t) => {
  t.equal(await reasonOf(lines('ok 1', 'ok 2')), 'truncated', 'no plan');
  t.equal(await reasonOf(lines('1..3', 'ok 1', 'ok 2')), 'malformed', 'too few');
  t.equal(await reasonOf(lines('1..1', 'ok 1', 'ok 2')), 'malformed', 'too many');
  t.equal(await reasonOf(lines('    1..2', '    ok 1', 'ok 1', '1..1')), 'malformed', 'in a subtest');
  t.equal(await reasonOf(lines('1..1', 'ok 1', '1..1')), 'malformed', 'twice');
  t.equal(await reasonOf(''), 'truncated');
  t.equal(await reasonOf(lines('✔ a (1ms)', '✖ b (2ms)', 'ℹ tests 2')), 'not-a-report', 'what `spec` prints');
  t.match(await reportOf(lines('1..0 # SKIP nothing here')), { passed: 0, failed: 0, skipped: 0 });
});

t.test('a stream that is cut before its plan is refused as truncated', async (t) => {
  const whole = readFixture('node.tap');
  const { passed, failed, skipped } = await reportOf(whole);
  // The plan and the summary stand at the very end.
  const end = whole.lastIndexOf('\n1..');
  for (let length = 0; length < end; length += 97) {
    t.equal(await reasonOf(whole.subarray(0, length)), 'truncated', `cut at ${length}`);
  }
  t.match(await reportOf(whole), { passed, failed, skipped });
});

t.test('line endings, blank lines, a byte order mark and colours make no difference', async (t) => {
  const text = readFixture('node.tap').toString('utf8');
  const expected = await reportOf(text);
  t.strictSame(await reportOf(text.replaceAll('\n', '\r\n')), expected);
  t.strictSame(await reportOf(text.replaceAll('\n', '\n\n')), expected);
  t.strictSame(await reportOf(`\ufeff${text}`), expected);
  t.strictSame(
    await reportOf(text.replaceAll('not ok', '\x1b[31mnot ok\x1b[39m').replaceAll(' - ', ' \x1b[1m- ')),
    expected,
  );
});

t.test('escape sequences are removed from names, and known secrets are masked', async (t) => {
  const secret = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`;
  const { failures } = await reportOf(
    lines(
      '1..1',
      `not ok 1 - \x1b]8;;http://x\x07a\x1b[0m \x07${secret}`,
      '  ---',
      `  error: '${secret}'`,
      '  ...',
    ),
  );
  t.strictSame(failures, [{ name: 'a [secret]', message: '[secret]' }]);
});

t.test('hostile streams are refused with a reason', async (t) => {
  t.equal(await reasonOf(Buffer.from('TAP version 13\n1..1\nok 1\n', 'utf16le')), 'encoding');
  t.equal(await reasonOf(Buffer.from('1..1\nok 1 - caf\u00e9\n', 'latin1')), 'encoding');
  t.equal(await reasonOf(lines('TAP version 15', '1..1', 'ok 1')), 'unsupported');
  t.equal(await reasonOf(lines(`${'    '.repeat(65)}ok 1`, '1..0')), 'too-deep');
  t.equal(await reasonOf(lines(`${'    '.repeat(64)}ok 1`, '1..0')), undefined);
  t.equal((await parseTap(new Uint8Array(64 * 1024 * 1024 + 1))).refusal?.reason, 'too-large');
});

t.test('reads lines of megabytes and 100,000 lines', async (t) => {
  t.equal(await reasonOf(`1..1\nok 1 ${'# '.repeat(2_000_000)}\n`), undefined);
  t.equal(await reasonOf(`1..1\nok 1${' '.repeat(2_000_000)}x\n`), undefined);
  t.match(await reportOf(`1..100000\n${'ok\n'.repeat(100_000)}`), { passed: 100_000 });
});

t.test('output begins as TAP with a version, a plan or a numbered test', async (t) => {
  const begins = (text: string) => beginsAsTap(Buffer.from(text));
  for (const text of [
    'TAP version 13\n',
    '\n\n1..3\n',
    'ok 1 - a',
    'not ok 2',
    '\x1b[32mok 1\x1b[0m',
    '\ufeffok 1',
  ])
    t.ok(begins(text), text);
  for (const text of ['', 'ok then', '> npm test\nTAP version 13', 'TAP', '# comment', 'PASS ok 1'])
    t.notOk(begins(text), text);
});

t.test('a failed test between two levels of indentation counts', async (t) => {
  const suite = (...inner: string[]) => reportOf(lines('1..1', ...inner, 'ok 1 - a'));
  for (const inner of [
    '  not ok 1 - b',
    '\tnot ok 1 - b',
    '  not ok - b',
    '      not ok',
    '\u00a0not ok 3 b',
  ])
    t.match(await suite(inner), { passed: 1, failed: 1 }, inner);
  for (const inner of ['  ok 1 - b', '  not ok 1 - b # TODO', '  not okay', '  # not ok 1', '  not ok then'])
    t.match(await suite(inner), { passed: 1, failed: 0 }, inner);
  const yaml = lines('ok 1 - a', '  ---', '  found: |', '    not ok 1 - b', '  ...', '1..1');
  t.match(await reportOf(yaml), { passed: 1, failed: 0 }, 'what a diagnostic quotes is no test');
});

t.test('a byte order mark before a line does not hide a failed test', async (t) => {
  t.match(await reportOf(lines('1..2', 'ok 1 - a', '\ufeffnot ok 2 - b')), { passed: 1, failed: 1 });
  t.match(await reportOf(`\ufeff${lines('not ok 1 - b', '1..1')}`), { failed: 1 });
});

t.test('totals of the runner that differ from its test points are a contradiction', async (t) => {
  const contradictions = async (text: string) =>
    (await parseTap(Buffer.from(text))).report?.contradictions.length;
  const totals = (pass: number, fail: number): string =>
    `# tests ${pass + fail}\n# pass ${pass}\n# fail ${fail}\n`;
  const two = 'ok 1 - a\nnot ok 2 - b\n1..2\n';
  t.equal(await contradictions(two + totals(1, 1)), 0);
  t.equal(await contradictions(two + totals(5, 1)), 0, 'a test with tests inside counts too');
  t.equal(await contradictions(two + totals(2, 0)), 1, 'a failed test that the totals do not have');
  t.equal(await contradictions(`ok 1 - a\n1..1\n${totals(1, 1)}`), 1, 'a failed test that is not listed');
  t.equal(await contradictions(`ok 1\nok 2\nok 3 - forged\n1..3\n${totals(2, 0)}`), 1, 'a point too many');
  t.equal(await contradictions(`ok 1 - a\n# pass 0\n1..1\n`), 0, 'one word is no total');
  t.equal(
    await contradictions(`${totals(0, 9)}ok 1 - a\n1..1\n${totals(1, 0)}`),
    0,
    'a test may print them before',
  );
});

t.test('the message of a failed test has its values, and no stack', async (t) => {
  const { failures } = await reportOf(
    lines(
      ...[
        '1..3',
        'not ok 1 - a',
        '  ---',
        '  error: |-',
        '    Expected values to be strictly equal:',
        '    ',
      ],
      ...['    2 !== 3', '    ', "  code: 'ERR_ASSERTION'", '  stack: |-', '    at x (file.js:1:2)', '  ...'],
      ...[
        'not ok 2 - b',
        '  ---',
        '  message: it broke',
        '    at x (file.js:1:2)',
        '  error: other',
        '  ...',
      ],
      ...['not ok 3 - c', '  ---', '  error: |-', '    wrong key:', '    -----BEGIN PRIVATE KEY-----'],
      ...[`    ${'MIGHAgEAMBMG'.repeat(5)}`, '    -----END PRIVATE KEY-----', '  ...'],
    ),
  );
  t.strictSame(failures, [
    { name: 'a', message: 'Expected values to be strictly equal: 2 !== 3' },
    { name: 'b', message: 'it broke' },
    { name: 'c', message: 'wrong key: [secret]' },
  ]);
});
