import { claimedCount } from './claimed-count.ts';
import { type Fields, fieldsOf, listOf, nameOf, textOf, timeOf } from './json-fields.ts';
import { Tally } from './tally.ts';
import type { TestReport } from './test-report.ts';

/** All is well, a test failed, no test was collected: any other exit code of pytest is an interrupted or broken run. */
const ordinaryExits: readonly unknown[] = [0, 1, 5];

/** Whether a document is what pytest-json-report writes. */
export function isPytestJson(document: Fields): boolean {
  return Object.hasOwn(document, 'exitcode') && Object.hasOwn(fieldsOf(document.summary), 'total');
}

/**
 * What could not be collected is a failure; an expected failure is skipped, and so is an unexpected pass that did not
 * fail. Times are seconds.
 */
export function readPytestJson(document: Fields): TestReport {
  const tally = new Tally();
  const summary = fieldsOf(document.summary);
  const claimed = (key: string): number => claimedCount(tally, `\`summary.${key}\``, summary[key]);
  const failed = claimed('failed') + claimed('error');
  for (const entry of listOf(document.collectors)) {
    const { outcome, nodeid, longrepr } = fieldsOf(entry);
    if (outcome === 'failed') tally.fail(nameOf(nodeid) ?? 'collection', lastLine(longrepr));
  }
  const before = tally.failed;
  for (const entry of listOf(document.tests)) readTest(tally, fieldsOf(entry));
  if (document.tests === undefined) {
    const reran = claimed('rerun');
    tally.flaky += reran;
    tally.passed += claimed('passed') + reran;
    tally.skipped += claimed('skipped') + claimed('xfailed') + claimed('xpassed');
    for (let count = 0; count < Math.min(failed, 1_000_000); count += 1)
      tally.fail('a test that is not named');
  } else if (failed > tally.failed)
    tally.contradict('error', `the summary counts ${failed} failed tests and ${tally.failed} are listed`);
  const total = claimed('total');
  const listed = tally.passed + tally.skipped + tally.failed - before;
  if (total > listed)
    tally.contradict('error', `the summary counts ${total} tests and ${listed} are accounted for`);
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
  const name = nameOf(test.nodeid) ?? '';
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
