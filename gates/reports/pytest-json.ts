import { countOf, type Fields, fieldsOf, listOf, textOf, timeOf } from './json-fields.ts';
import { Tally } from './tally.ts';
import type { TestReport } from './test-report.ts';

/** All is well, a test failed, no test was collected: any other exit code of pytest is an interrupted or broken run. */
const ordinaryExits: readonly unknown[] = [0, 1, 5];

/** Whether a document is what pytest-json-report writes. */
export function isPytestJson(document: Fields): boolean {
  return typeof document.exitcode === 'number' && typeof fieldsOf(document.summary).total === 'number';
}

/** What could not be collected is a failure; an expected failure is skipped, and so is an unexpected pass that did not fail. Times are seconds. */
export function readPytestJson(document: Fields): TestReport {
  const tally = new Tally();
  const summary = fieldsOf(document.summary);
  const failed = countOf(summary.failed) + countOf(summary.error);
  for (const entry of listOf(document.collectors)) {
    const { outcome, nodeid, longrepr } = fieldsOf(entry);
    if (outcome === 'failed') tally.fail(textOf(nodeid) ?? 'collection', lastLine(longrepr));
  }
  for (const entry of listOf(document.tests)) readTest(tally, fieldsOf(entry));
  if (!Array.isArray(document.tests)) {
    tally.passed += countOf(summary.passed);
    tally.skipped += countOf(summary.skipped) + countOf(summary.xfailed) + countOf(summary.xpassed);
    for (let count = 0; count < Math.min(failed, 1_000_000); count += 1)
      tally.fail('a test that is not named');
  } else if (failed > tally.failed)
    tally.contradict('error', `the summary counts ${failed} failed tests and ${tally.failed} are listed`);
  const { exitcode } = document;
  if (!ordinaryExits.includes(exitcode))
    tally.contradict('error', `\`exitcode\` is ${Number(exitcode)}: the run did not come to its end`);
  else if (exitcode === 1 && tally.failed === 0)
    tally.contradict('error', '`exitcode` is 1 and no failed test is listed');
  return tally.toReport();
}

function readTest(tally: Tally, test: Fields): void {
  const phases = [fieldsOf(test.setup), fieldsOf(test.call), fieldsOf(test.teardown)];
  const times = phases.map(({ duration }) => timeOf(duration, 1000)).filter((time) => time !== undefined);
  const durationMs = times.length === 0 ? undefined : times.reduce((sum, time) => sum + time, 0);
  const name = textOf(test.nodeid) ?? '';
  const { outcome } = test;
  const broken = phases.find((phase) => phase.outcome === 'failed');
  const isSkipped = outcome === 'skipped' || outcome === 'xfailed' || outcome === 'xpassed';
  if (outcome === 'passed' && !broken) tally.pass(name, durationMs);
  else if (isSkipped) tally.skip(name, durationMs);
  // The plugin keeps the outcome of the first run where a later one passed.
  else if (outcome === 'rerun' && !broken && phases[1]?.outcome === 'passed')
    tally.pass(name, durationMs, true);
  else tally.fail(name, textOf(fieldsOf(broken?.crash).message)?.split('\n', 1)[0], durationMs);
}

function lastLine(value: unknown): string | undefined {
  return typeof value === 'string' ? value.slice(-1000).trim().split('\n').at(-1) : undefined;
}
