import t from 'tap';
import { parseReport } from '../../../gates/reports/parse-report.ts';

const read = async (text: string) => (await parseReport('report.json', Buffer.from(text))).report;

t.test('a failed suite that lists no failed test is a contradiction', async (t) => {
  const testResults = [{ name: 'a', status: 'passed', assertionResults: [{ status: 'passed', title: 'x' }] }];
  const document = { numTotalTests: 1, numFailedTests: 0, numFailedTestSuites: 0, testResults };
  t.same((await read(JSON.stringify(document)))?.contradictions, []);
  const found = await read(JSON.stringify({ ...document, numFailedTestSuites: 1 }));
  t.match(found?.contradictions, [{ severity: 'error' }]);
});

t.test('a failed build beside packages that all passed is a contradiction', async (t) => {
  const passed =
    '{"Action":"run","Package":"p","Test":"A"}\n{"Action":"pass","Package":"p","Test":"A"}\n{"Action":"pass","Package":"p"}\n';
  t.same((await read(passed))?.contradictions, []);
  const found = await read(`${passed}{"ImportPath":"q","Action":"build-fail"}\n`);
  t.match(found?.contradictions, [{ severity: 'error' }]);
});

t.test('differently written counts are equal if their values are', async (t) => {
  const xml = async (attributes: string, inner = '') =>
    (
      await parseReport(
        'a.xml',
        Buffer.from(`<testsuite name="s" ${attributes}><testcase name="a">${inner}</testcase></testsuite>`),
      )
    ).report?.contradictions.map(({ severity }) => severity);
  for (const count of [' 1 ', '1.0', '+1', '01', '1\n']) {
    t.strictSame(await xml(`failures="${count}"`), ['error'], JSON.stringify(count));
    t.strictSame(await xml(`failures="${count}"`, '<failure/>'), [], JSON.stringify(count));
  }
  for (const count of ['one', '-1', '1,5', '0x1', '1e1', '0.5'])
    t.strictSame(await xml(`errors="${count}"`), ['error'], count);
  for (const count of ['', ' 0 ', '0.0', '+0']) t.strictSame(await xml(`failures="${count}"`), [], count);
  t.strictSame(await xml('tests="many"'), ['warning'], 'how many tests there are hides no failure');
});

t.test('jest totals that differ from its listed tests are a contradiction', async (t) => {
  const passed = { assertionResults: [{ status: 'passed', title: 'x' }] };
  const document = { numTotalTests: 1, numFailedTests: 0, success: true, testResults: [passed] };
  const severities = async (more: object) =>
    (await read(JSON.stringify({ ...document, ...more })))?.contradictions.map(({ severity }) => severity);
  t.strictSame(await severities({}), []);
  t.strictSame(await severities({ numFailedTests: '0', numTotalTests: '1' }), [], 'texts that are counts');
  t.strictSame(await severities({ numFailedTests: '2' }), ['error']);
  t.strictSame(await severities({ numFailedTests: 'two' }), ['error']);
  t.strictSame(await severities({ numFailedTests: [2] }), ['error']);
  t.strictSame(await severities({ numTotalTests: 5 }), ['error'], 'a list that is shorter than its total');
  t.strictSame(await severities({ testResults: [] }), ['error']);
  t.strictSame(await severities({ success: 'false' }), ['error']);
  t.strictSame(await severities({ numRuntimeErrorTestSuites: 1 }), ['error']);
});

t.test('mocha totals that differ from its listed tests are a contradiction', async (t) => {
  const passes = [{ fullTitle: 'x' }];
  const stats = { tests: 1, passes: 1, failures: 0 };
  const severities = async (more: object) =>
    (await read(JSON.stringify({ stats, passes, failures: [], pending: [], ...more })))?.contradictions.map(
      ({ severity }) => severity,
    );
  t.strictSame(await severities({}), []);
  t.strictSame(await severities({ stats: { ...stats, failures: 5 } }), ['error']);
  t.strictSame(await severities({ stats: { ...stats, failures: '5' } }), ['error']);
  t.strictSame(await severities({ stats: { ...stats, tests: 3 } }), ['error']);
  t.strictSame(await severities({ passes: [] }), ['error', 'error']);
  t.strictSame(await severities({ tests: [{}, {}] }), ['error'], 'a test without a result');
  t.strictSame(await severities({ stats: { tests: '1', passes: '1', failures: '0' } }), []);
  for (const key of ['passes', 'failures', 'pending'])
    t.match(await read(JSON.stringify({ stats: { tests: 0 }, [key]: [] })), { contradictions: [] }, key);
});

t.test('XML elements are read the same with and without a namespace prefix', async (t) => {
  const found = async (text: string) => (await parseReport('a.xml', Buffer.from(text))).report;
  const inner = '<j:testcase name="a"><j:failure message="m"/></j:testcase>';
  const whole = await found(
    `<j:testsuites xmlns:j="urn:x"><j:testsuite>${inner}</j:testsuite></j:testsuites>`,
  );
  t.match(whole, { passed: 0, failed: 1, failures: [{ message: 'm' }] });
  t.match(await found('<testsuite><testcase name="a"><j:failure/></testcase></testsuite>'), { failed: 1 });
  t.match(await found('<testsuite><testcase name="a"><Failure/></testcase></testsuite>'), { failed: 1 });
  t.match(await found('<testsuite><testcase name="a"><j:properties/></testcase></testsuite>'), {
    passed: 1,
    failed: 0,
  });
  const claims = await found('<testsuite j:failures="1"><testcase name="a"/></testsuite>');
  t.match(claims?.contradictions, [{ severity: 'error' }]);
});

t.test('an object with a duplicate member is refused in every format', async (t) => {
  const refused = async (text: string) => (await parseReport('a.json', Buffer.from(text))).refusal?.reason;
  const jest = (last: string) =>
    `{"numTotalTests":1,"numFailedTests":1,"testResults":[{"assertionResults":[{"status":"failed",${last}}]}]}`;
  t.equal(await refused(jest('"title":"x"')), undefined);
  t.equal(await refused(jest('"title":"a:b \\" : {"')), undefined, 'colons in texts are none');
  t.equal(await refused(jest('"status":"passed"')), 'duplicate');
  t.equal(await refused(jest('"st\\u0061tus":"passed"')), 'duplicate');
  t.equal(await refused(jest('"__proto__":{"status":"passed"},"__proto__":1')), 'duplicate');
  t.equal(await refused(jest('"__proto__":{"status":"passed"}')), undefined);
  const go = (event: string) =>
    `{"Action":"run","Package":"p","Test":"A"}\n${event}\n{"Action":"pass","Package":"p"}\n`;
  t.equal(await refused(go('{"Action":"fail","Package":"p","Test":"A"}')), undefined);
  t.equal(await refused(go('{"Action":"fail","Action":"pass","Package":"p","Test":"A"}')), 'malformed');
});

t.test('long names that differ only near the end stay different names', async (t) => {
  const long = 'x'.repeat(5000);
  const named = async (name: string, text: string) =>
    (await parseReport(name, Buffer.from(text))).report?.failures.map((one) => one.name);
  const of = {
    'a.xml': (name: string) => `<testsuite><testcase name="${name}"><failure/></testcase></testsuite>`,
    'a.tap': (name: string) => `1..1\nnot ok 1 - ${name}\n`,
    'b.tap': (name: string) => `1..1\n    not ok 1 - ${name}\n    1..1\nnot ok 1 - ${long}\n`,
    'a.json': (name: string) =>
      `{"numTotalTests":1,"testResults":[{"assertionResults":[{"status":"failed","fullName":"${name}"}]}]}`,
    'b.json': (name: string) =>
      `{"stats":{"tests":1},"passes":[],"pending":[],"failures":[{"fullTitle":"${name}"}]}`,
    'c.json': (name: string) =>
      `{"Action":"fail","Package":"p","Test":"${name}"}\n{"Action":"fail","Package":"p"}\n`,
  };
  for (const [file, report] of Object.entries(of)) {
    const [one] = (await named(file, report(`${long}1`))) ?? [];
    const [two] = (await named(file, report(`${long}2`))) ?? [];
    const [again] = (await named(file, report(`${long}1`))) ?? [];
    t.not(one, two, file);
    t.equal(one, again, file);
    t.ok((one?.length ?? 0) > 0 && (one?.length ?? 0) <= 400, file);
  }
});
