import t from 'tap';
import { parseReport } from '../../../gates/reports/parse-report.ts';
import { reportBounds } from '../../../gates/reports/test-report.ts';
import { long } from '../../rooms/long.ts';

const reasonOf = async (content: string | Uint8Array, name = 'a.json') =>
  (await parseReport(name, Buffer.from(content as Uint8Array))).refusal?.reason;
const jest = (tests: string) => `{"numTotalTests":0,"testResults":[${tests}]}`;

t.test('JSON that is not a report, is truncated or is malformed is refused', async (t) => {
  t.equal(await reasonOf('{}'), 'not-a-report');
  t.equal(await reasonOf('[]'), 'not-a-report');
  t.equal(await reasonOf('{"version":"2.1.0","runs":[]}'), 'not-a-report');
  t.equal(await reasonOf(jest('').slice(0, -1)), 'truncated');
  t.equal(await reasonOf(jest('{"a').slice(0, -2)), 'truncated');
  t.equal(await reasonOf('{"numTotalTests":tru}'), 'malformed');
  t.equal(await reasonOf('hello'), 'malformed');
  t.equal(await reasonOf(''), 'truncated');
  t.equal(await reasonOf('{"__proto__":{"numTotalTests":1,"testResults":[]}}'), 'not-a-report');
});

t.test('only UTF-8 without NUL is read, in every format', async (t) => {
  for (const name of ['a.xml', 'a.tap', 'a.json']) {
    for (const text of ['<testsuite name="\u00e9"/>', '1..1\nok 1 - \u00e9\n', jest('"\u00e9"')]) {
      const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')]);
      t.equal(await reasonOf(utf16, name), 'encoding');
      t.equal(await reasonOf(Buffer.from(text, 'latin1'), name), 'encoding');
      t.equal(await reasonOf(`${text}\0`, name), 'encoding');
    }
  }
  t.equal(await reasonOf(`\ufeff${jest('')}`), undefined, 'a byte order mark of UTF-8 is allowed');
});

t.test('a lone surrogate in a name is shown as a replacement character', async (t) => {
  const test =
    '{"status":"failed","title":"a \\ud800 b","fullName":"a \\ud800 b","failureMessages":["\\udc00"]}';
  const { report } = await parseReport(
    'a.json',
    Buffer.from(
      `{"numTotalTests":1,"numFailedTests":1,"testResults":[{"name":"x","assertionResults":[${test}]}]}`,
    ),
  );
  t.match(report?.failures, [{ name: 'a \ufffd b', message: '\ufffd' }]);
});

t.test('deep nesting is refused before it is built', async (t) => {
  const deep = (levels: number) => jest('['.repeat(levels) + ']'.repeat(levels));
  t.equal(await reasonOf(deep(62)), undefined);
  t.equal(await reasonOf(deep(63)), 'too-deep');
  t.equal(await reasonOf('['.repeat(5_000_000)), 'too-deep');
  t.equal(await reasonOf(jest(`"${'[{'.repeat(100)}\\"[["`)), undefined, 'brackets in texts do not nest');
  const event = (inner: string) => `{"Action":"output","Package":"p","Output":${inner}}\n`;
  t.equal(await reasonOf(event('""') + event('['.repeat(100) + ']'.repeat(100))), 'truncated');
});

t.test('more concurrent tests than the bound are refused', async (t) => {
  const started = (n: number): string => `{"Action":"run","Package":"p","Test":"${n}"}\n`;
  const many = Array.from({ length: reportBounds.maxNames + 1 }, (_, n) => started(n)).join('');
  t.equal(await reasonOf(many), 'too-large');
});

t.test('more values than the bound are refused before they are built', async (t) => {
  const before = process.memoryUsage().rss;
  t.equal(await reasonOf(jest(`[${'1,'.repeat(8_000_000)}1]`)), 'too-large');
  t.ok(process.memoryUsage().rss - before < 200 * 1024 * 1024);
});

t.test('a stream line longer than the bound is refused', async (t) => {
  const event = (text: string) => `{"Action":"output","Package":"p","Output":"${text}"}\n`;
  t.equal(await reasonOf(event('a') + event('x'.repeat(5 * 1024 * 1024))), 'too-large');
});

t.test('truncated or mixed streams of go are refused', async (t) => {
  const event = (action: string, test?: string) =>
    `${JSON.stringify({ Action: action, Package: 'p', ...(test === undefined ? {} : { Test: test }) })}\n`;
  const good = event('start') + event('run', 'A') + event('pass', 'A');
  t.equal(await reasonOf(good), 'truncated', 'no end of the package');
  t.equal(await reasonOf(good + event('pass')), undefined);
  t.equal(await reasonOf(`${good}${event('pass')}{"Act`), 'truncated');
  t.equal(await reasonOf(`${good}{"Act\n${event('pass')}`), 'malformed', 'a broken line in the middle');
  t.equal(await reasonOf(`${good}{"reason":"x"}\n${event('pass')}`), 'malformed');
  const { report } = await parseReport('a.json', Buffer.from(good + event('run', 'B') + event('pass')));
  t.match(report, { passed: 1, failed: 1 }, 'a test without an end has failed');
});

long('a million tests are counted within bounded memory', async (t) => {
  const bytes = Buffer.from(`1..1000000\n${'ok\n'.repeat(1_000_000)}`);
  const before = process.memoryUsage().rss;
  const { report } = await parseReport('a.tap', bytes);
  t.match(report, { passed: 1_000_000, failed: 0 });
  t.ok(process.memoryUsage().rss - before < 300 * 1024 * 1024);
  t.ok((report?.names.size ?? 0) <= 100_000);
});
