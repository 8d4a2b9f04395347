import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { parseReport } from '../../../gates/reports/parse-report.ts';
import type { ParsedReport } from '../../../gates/reports/test-report.ts';

const root = fileURLToPath(new URL('../../../fixtures/reports/', import.meta.url));
const expected = JSON.parse(readFileSync(`${root}expected.json`, 'utf8')) as Record<string, unknown>;
const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .map((name) => name.replaceAll('\\', '/'))
  .filter((name) => name.includes('/'))
  .sort();

t.test('every report fixture is read as expected, whatever its file name extension', async (t) => {
  t.strictSame(Object.keys(expected).sort(), files);
  for (const file of files) {
    const bytes = readFileSync(root + file);
    t.strictSame(summary(await parseReport(file, bytes)), expected[file], file);
    // Where nothing at its beginning tells what a file is, its ending does.
    if (['node/spec.tap', 'go/old-build-failed.json'].includes(file)) continue;
    for (const other of ['other.xml', 'other.tap', 'other.json'])
      t.strictSame(summary(await parseReport(other, bytes)), expected[file], `${file} named ${other}`);
  }
});

t.test('a truncated report is refused or counts no more than the whole', async (t) => {
  for (const file of files) {
    const bytes = readFileSync(root + file);
    const whole = (await parseReport(file, bytes)).report;
    if (!whole) continue;
    for (let length = 1; length < bytes.length - 2; length += Math.ceil(bytes.length / 40)) {
      const { report, refusal } = await parseReport(file, bytes.subarray(0, length));
      const isLess = report && report.passed <= whole.passed && report.failed >= whole.failed;
      t.ok(refusal || isLess, `${file} cut at ${length}`);
    }
  }
});

t.test('failed and skipped tests are listed by name, with durations', async (t) => {
  const { report } = await parseReport('a.json', readFileSync(`${root}jest/failed.json`));
  t.match(report?.failures[0], { name: 'price.test.js > price rounds', durationMs: 5 });
  t.strictSame(report?.skippedTests, ['price.test.js > price later', 'price.test.js > price some day']);
  t.match(report?.slowest[0], { durationMs: 5 });
});

t.test('the slowest twenty tests are kept, longest first', async (t) => {
  const cases = Array.from(
    { length: 60 },
    (_, index) => `<testcase name="t${index}" time="${(index * 7) % 60}"/>`,
  );
  const { report } = await parseReport('a.xml', Buffer.from(`<testsuite>${cases.join('')}</testsuite>`));
  t.strictSame(
    report?.slowest.map(({ durationMs }) => durationMs),
    Array.from({ length: 20 }, (_, index) => (59 - index) * 1000),
  );
});

function summary({ report, refusal }: ParsedReport): unknown {
  if (!report) return { refusal: refusal.reason };
  const { passed, failed, skipped, flaky, failures, flakyTests, contradictions, durationMs } = report;
  return {
    passed,
    failed,
    skipped,
    flaky,
    failures: failures.map(({ name, message }) => (message === undefined ? [name] : [name, message])),
    ...(flakyTests.length > 0 ? { flakyTests } : {}),
    ...(contradictions.length > 0 ? { contradictions: contradictions.map(({ severity }) => severity) } : {}),
    ...(durationMs === undefined ? {} : { durationMs: Math.round(durationMs * 1000) / 1000 }),
  };
}
