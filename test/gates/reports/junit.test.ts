import t from 'tap';
import { parseJunit } from '../../../gates/reports/junit.ts';
import type { TestReport } from '../../../gates/reports/test-report.ts';
import { readFixture } from './read-fixture.ts';

const parse = (text: string) => parseJunit(Buffer.from(text));

async function reportOf(bytes: Uint8Array | string): Promise<TestReport> {
  const { report, refusal } = await parseJunit(Buffer.from(bytes as Uint8Array));
  if (!report) throw new Error(`refused: ${refusal.reason}: ${refusal.message}`);
  return report;
}

const reasonOf = async (bytes: Uint8Array | string) =>
  (await parseJunit(Buffer.from(bytes as Uint8Array))).refusal?.reason;

t.test('reports of real test runners are read', async (t) => {
  t.test("nested suites and to-do tests of node's reporter are counted once", async (t) => {
    const report = await reportOf(readFixture('node.xml'));
    t.match(report, { passed: 5, failed: 2, skipped: 3 });
    t.strictSame(report.contradictions, []);
    t.strictSame(
      report.failures.map(({ name }) => name),
      ['parent with subtests > child # hash \\ back', 'async fail'],
    );
    t.equal(report.failures[0]?.message, '1 == 2');
  });

  t.test('a skipped test that fails has failed, and a to-do test has not', async (t) => {
    const report = await reportOf(readFixture('node-parents.xml'));
    t.match(report, { passed: 1, failed: 1, skipped: 2 });
    t.strictSame(
      report.failures.map(({ name }) => name),
      ['skips then fails'],
    );
  });

  t.test('a file in which no test ran is listed as empty', async (t) => {
    t.match(await reportOf(readFixture('node-no-tests.xml')), {
      passed: 0,
      failed: 0,
      skipped: 0,
      emptyFiles: ['e/none.test.js'],
    });
  });

  t.test('failures, errors, skips and expected failures of pytest are counted', async (t) => {
    const report = await reportOf(readFixture('pytest.xml'));
    t.match(report, { passed: 2, failed: 2, skipped: 2 });
    t.strictSame(report.contradictions, []);
    t.match(report.failures, [
      { name: 'tests.test_orders > test_discount[10-90.0]', message: 'AssertionError: assert 91 == 90' },
      { name: 'tests.test_store > test_save', message: 'failed on setup with "OSError: disk"' },
    ]);
    t.equal(Math.round(report.durationMs ?? 0), 9);
  });

  t.test('reruns and flaky failures of surefire do not count as further tests', async (t) => {
    const report = await reportOf(readFixture('surefire.xml'));
    t.match(report, { passed: 2, failed: 1, skipped: 1 });
    t.strictSame(report.contradictions, []);
    t.equal(Math.round(report.durationMs ?? 0), 1_201_567);
  });

  t.test('the message of a jest-junit failure is the first line of its text', async (t) => {
    const report = await reportOf(readFixture('jest-junit.xml'));
    t.match(report, { passed: 1, failed: 1, skipped: 1 });
    t.strictSame(report.contradictions, []);
    t.match(report.failures, [
      {
        name: 'orders rounds',
        message: 'Error: expect(received).toBe(expected) // Object.is equality',
      },
    ]);
  });
});

t.test('a suite whose totals differ from its test cases is a contradiction', async (t) => {
  const claims = (attributes: string) =>
    reportOf(`<testsuite name="s" ${attributes}><testcase name="a"/></testsuite>`);
  t.strictSame((await claims('tests="1" failures="0"')).contradictions, []);
  t.match((await claims('tests="1" failures="1"')).contradictions, [{ severity: 'error' }]);
  t.match((await claims('tests="1" errors="2"')).contradictions, [{ severity: 'error' }]);
  t.match((await claims('tests="2"')).contradictions, [{ severity: 'error' }]);
  const nested = await reportOf(
    '<testsuites tests="2" failures="1"><testsuite tests="2" failures="1"><testsuite tests="2"><testcase name="a"/><testcase name="b"><failure/></testcase></testsuite></testsuite></testsuites>',
  );
  t.match(nested, { passed: 1, failed: 1 });
  t.strictSame(nested.contradictions, []);
});

t.test('a suite that failed by itself counts as a failure', async (t) => {
  const report = await reportOf(
    '<testsuite name="boot"><error message="no database"/><testcase name="a"/></testsuite>',
  );
  t.match(report, { passed: 1, failed: 1, failures: [{ name: 'boot', message: 'no database' }] });
});

t.test('output and properties of a test are ignored', async (t) => {
  const report = await reportOf(
    '<testsuite><testcase name="a"><system-out><failure message="x"/></system-out><properties><error/></properties></testcase></testsuite>',
  );
  t.match(report, { passed: 1, failed: 0 });
});

t.test('a report without test cases counts no tests', async (t) => {
  t.match(await reportOf('<testsuites/>'), { passed: 0, failed: 0, skipped: 0 });
});

t.test('names lose control characters, and known secrets in them are masked', async (t) => {
  const secret = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`;
  const report = await reportOf(
    `<testsuite><testcase name="red &#27;not &#9;x ${secret} &#x202e;y"><failure message="m"/></testcase></testsuite>`.replace(
      '&#27;',
      '',
    ),
  );
  const name = report.failures[0]?.name ?? '';
  t.notMatch(name, secret);
  t.match(name, '[secret]');
  t.notMatch(name, /[\t\u202e]/);
});

t.test('many failures are all counted and the first hundred are listed', async (t) => {
  const report = await reportOf(
    `<testsuite>${'<testcase name="a"><failure/></testcase>'.repeat(500)}</testsuite>`,
  );
  t.equal(report.failed, 500);
  t.equal(report.failures.length, 100);
});

t.test('line endings and a byte order mark make no difference', async (t) => {
  const text = readFixture('jest-junit.xml').toString('utf8');
  const expected = await reportOf(text);
  t.strictSame(await reportOf(text.replaceAll('\n', '\r\n')), expected);
  t.strictSame(await reportOf(`\ufeff${text}`), expected);
});

t.test('characters that are split across chunks of the input are read whole', async (t) => {
  const filler = 'x'.repeat(64 * 1024 - 60);
  for (const shift of ['', 'y', 'yy', 'yyy']) {
    const report = await reportOf(
      `<testsuite name="${filler}${shift}"><testcase name="€€€€€€€€€€€€€€€€€€€€€€"><error/></testcase></testsuite>`,
    );
    t.equal(report.failures[0]?.name, '€'.repeat(22));
  }
});

t.test('hostile input is refused with a reason', async (t) => {
  const bomb = `<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa">${Array.from({ length: 9 }, (_, i) => `<!ENTITY a${i} "&a;&a;&a;">`).join('')}]><testsuite name="&a8;"/>`;
  t.equal(await reasonOf(bomb), 'document-type');
  t.equal(await reasonOf('<!DOCTYPE testsuite SYSTEM "file:///etc/passwd"><testsuite/>'), 'document-type');
  t.equal(await reasonOf('<testsuite name="&unknown;"/>'), 'malformed');
  t.equal(await reasonOf('<testsuite><testcase name="a"/>'), 'truncated');
  t.equal(await reasonOf('<testsuite><testcase name="a"/></testsuites>'), 'malformed');
  t.equal(await reasonOf('<testsuite/><testsuite/>'), 'malformed');
  t.equal(await reasonOf('<testsuite a="1" a="2"/>'), 'malformed');
  t.equal(await reasonOf(''), 'malformed');
  t.equal(await reasonOf('ok 1 - this is TAP'), 'malformed');
  t.equal(await reasonOf('<coverage/>'), 'not-a-report');
  t.equal(
    await reasonOf(
      '<testsuite><testcase name="a"><testcase name="b"><failure/></testcase></testcase></testsuite>',
    ),
    'malformed',
  );
  t.equal(await reasonOf('<testsuite><testcase name="a"><testsuite/></testcase></testsuite>'), 'malformed');
  t.equal(
    await reasonOf(
      `<testsuite ${Array.from({ length: 300 }, (_, index) => `a${index}="1"`).join(' ')}></testsuite>`,
    ),
    'malformed',
  );
});

t.test('64 levels of nesting are read and 65 are refused', async (t) => {
  const nest = (levels: number) => '<testsuite>'.repeat(levels) + '</testsuite>'.repeat(levels);
  t.ok((await parse(nest(64))).report);
  t.equal(await reasonOf(nest(65)), 'too-deep');
});

t.test('only UTF-8 and its ASCII subset are read', async (t) => {
  t.equal(await reasonOf(Buffer.from('<testsuite name="a"/>', 'utf16le')), 'encoding');
  t.equal(await reasonOf(Buffer.from('<testsuite name="\u00e9"/>', 'latin1')), 'encoding');
  t.equal(await reasonOf('<?xml version="1.0" encoding="ISO-8859-1"?><testsuite/>'), 'encoding');
  t.equal(await reasonOf('<?xml version="1.0" encoding="UTF-7"?><testsuite/>'), 'encoding');
  t.equal(await reasonOf('<?xml version="1.0" encoding="us-ascii"?><testsuite/>'), undefined);
});

t.test('a report above the size limit is refused before it is read', async (t) => {
  const huge = new Uint8Array(64 * 1024 * 1024 + 1);
  t.equal((await parseJunit(huge)).refusal?.reason, 'too-large');
});
