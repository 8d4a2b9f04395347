import { countOf, type Fields, fieldsOf, listOf, textOf, timeOf } from './json-fields.ts';
import { Tally } from './tally.ts';
import type { TestReport } from './test-report.ts';

/** Whether a document is what mocha's `json` reporter writes. */
export function isMocha(document: Fields): boolean {
  const lists = [document.passes, document.failures, document.pending];
  return typeof fieldsOf(document.stats).tests === 'number' && lists.every(Array.isArray);
}

/** Hooks that failed are listed as failures. Times are milliseconds. */
export function readMocha(document: Fields): TestReport {
  const tally = new Tally();
  for (const entry of listOf(document.failures)) {
    const test = fieldsOf(entry);
    const message = textOf(fieldsOf(test.err).message)?.split('\n', 1)[0];
    tally.fail(nameOf(test), message, timeOf(test.duration));
  }
  for (const entry of listOf(document.pending)) tally.skip(nameOf(fieldsOf(entry)));
  for (const entry of listOf(document.passes)) {
    const test = fieldsOf(entry);
    tally.pass(nameOf(test), timeOf(test.duration), countOf(test.currentRetry) > 0);
  }
  const { failures, passes } = fieldsOf(document.stats);
  if (countOf(failures) > tally.failed)
    tally.contradict(
      'error',
      `\`stats.failures\` is ${countOf(failures)} and ${tally.failed} failed tests are listed`,
    );
  if (countOf(passes) > tally.passed)
    tally.contradict(
      'warning',
      `\`stats.passes\` is ${countOf(passes)} and ${tally.passed} passed tests are listed`,
    );
  return tally.toReport();
}

function nameOf(test: Fields): string {
  return textOf(test.fullTitle) ?? textOf(test.title) ?? '';
}
