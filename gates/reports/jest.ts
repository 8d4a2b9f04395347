import { claimedCount } from './claimed-count.ts';
import { countOf, type Fields, fieldsOf, listOf, nameOf, textOf, timeOf } from './json-fields.ts';
import { plainLine } from './plain-text.ts';
import { Tally } from './tally.ts';
import type { TestReport } from './test-report.ts';

const skipped: readonly unknown[] = ['pending', 'skipped', 'todo', 'disabled'];

/** Whether a document is what `jest --json` and vitest's `json` reporter write. */
export function isJest(document: Fields): boolean {
  return Object.hasOwn(document, 'numTotalTests') && Object.hasOwn(document, 'testResults');
}

/**
 * A file that failed without a failed test in it is a failure; so is a test with any status that is not known. Times
 * are milliseconds.
 */
export function readJest(document: Fields): TestReport {
  const tally = new Tally();
  for (const entry of listOf(document.testResults)) readFile(tally, fieldsOf(entry));
  const listed = tally.passed + tally.failed + tally.skipped;
  const claimed = (key: string): number => claimedCount(tally, `\`${key}\``, document[key]);
  const failed = claimed('numFailedTests');
  if (failed > tally.failed)
    tally.contradict('error', `\`numFailedTests\` is ${failed} and ${tally.failed} failed tests are listed`);
  const total = claimed('numTotalTests');
  if (total > listed)
    tally.contradict('error', `\`numTotalTests\` is ${total} and ${listed} tests are listed`);
  if (document.success !== undefined && document.success !== true && tally.failed === 0)
    tally.contradict('error', '`success` is not true and no failed test is listed');
  for (const key of ['numFailedTestSuites', 'numRuntimeErrorTestSuites']) {
    const suites = claimed(key);
    if (suites > 0 && tally.failed === 0)
      tally.contradict('error', `\`${key}\` is ${suites} and no failed test is listed`);
  }
  if (document.wasInterrupted === true) tally.contradict('error', '`wasInterrupted` is true');
  return tally.toReport();
}

function readFile(tally: Tally, file: Fields): void {
  const path = nameOf(file.name) ?? nameOf(file.testFilePath) ?? '';
  const place = path.split(/[\\/]/).at(-1) ?? '';
  const before = tally.failed;
  for (const entry of listOf(file.assertionResults)) {
    const test = fieldsOf(entry);
    const title = nameOf(test.fullName) ?? nameOf(test.title) ?? '';
    const name = place === '' ? title : `${place} > ${title}`;
    const durationMs = timeOf(test.duration);
    const reran = countOf(test.invocations) > 1 || listOf(test.retryReasons).length > 0;
    if (test.status === 'passed') tally.pass(name, durationMs, reran);
    else if (skipped.includes(test.status)) tally.skip(name, durationMs);
    else tally.fail(name, firstLine(listOf(test.failureMessages)[0]), durationMs);
  }
  if (file.status === 'failed' && tally.failed === before)
    tally.fail(place || 'test file', firstLine(file.message));
}

function firstLine(value: unknown): string | undefined {
  const line = textOf(value)
    ?.split('\n')
    .find((one) => plainLine(one) !== '');
  return line === undefined ? undefined : line;
}
