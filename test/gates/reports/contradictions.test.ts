import t from 'tap';
import { parseReport } from '../../../gates/reports/parse-report.ts';

const read = async (text: string) => (await parseReport('report.json', Buffer.from(text))).report;

t.test('a suite that failed and lists no failed test contradicts itself', async (t) => {
  const testResults = [{ name: 'a', status: 'passed', assertionResults: [{ status: 'passed', title: 'x' }] }];
  const document = { numTotalTests: 1, numFailedTests: 0, numFailedTestSuites: 0, testResults };
  t.same((await read(JSON.stringify(document)))?.contradictions, []);
  const found = await read(JSON.stringify({ ...document, numFailedTestSuites: 1 }));
  t.match(found?.contradictions, [{ severity: 'error' }]);
});

t.test('a build that failed beside packages that all passed is a contradiction', async (t) => {
  const passed =
    '{"Action":"run","Package":"p","Test":"A"}\n{"Action":"pass","Package":"p","Test":"A"}\n{"Action":"pass","Package":"p"}\n';
  t.same((await read(passed))?.contradictions, []);
  const found = await read(`${passed}{"ImportPath":"q","Action":"build-fail"}\n`);
  t.match(found?.contradictions, [{ severity: 'error' }]);
});
