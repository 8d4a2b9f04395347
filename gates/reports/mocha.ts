import { claimedCount } from './claimed-count.ts';
import { countOf, type Fields, fieldsOf, listOf, nameOf, textOf, timeOf } from './json-fields.ts';
import { Tally } from './tally.ts';
import type { TestReport } from './test-report.ts';

/** Whether a document is what mocha's `json` reporter writes. */
export function isMocha({ stats, passes, failures, pending }: Fields): boolean {
  const isCounted = ['tests', 'passes', 'failures'].some((key) => Object.hasOwn(fieldsOf(stats), key));
  return isCounted && [passes, failures, pending].some(Array.isArray);
}

/** Hooks that failed are listed as failures. Times are milliseconds. */
export function readMocha(document: Fields): TestReport {
  const tally = new Tally();
  for (const entry of listOf(document.failures)) {
    const test = fieldsOf(entry);
    const message = textOf(fieldsOf(test.err).message)?.split('\n', 1)[0];
    tally.fail(titleOf(test), message, timeOf(test.duration));
  }
  for (const entry of listOf(document.pending)) tally.skip(titleOf(fieldsOf(entry)));
  for (const entry of listOf(document.passes)) {
    const test = fieldsOf(entry);
    tally.pass(titleOf(test), timeOf(test.duration), countOf(test.currentRetry) > 0);
  }
  const stats = fieldsOf(document.stats);
  const listed = tally.passed + tally.failed + tally.skipped;
  for (const [key, count] of [
    ['failures', tally.failed],
    ['passes', tally.passed],
    ['tests', listed],
  ] as const) {
    const claimed = claimedCount(tally, `\`stats.${key}\``, stats[key]);
    if (claimed > count) tally.contradict('error', `\`stats.${key}\` is ${claimed} and ${count} are listed`);
  }
  const tests = listOf(document.tests).length;
  if (tests > listed)
    tally.contradict('error', `\`tests\` lists ${tests} and ${listed} of them have a result`);
  return tally.toReport();
}

function titleOf(test: Fields): string {
  return nameOf(test.fullTitle) ?? nameOf(test.title) ?? '';
}
