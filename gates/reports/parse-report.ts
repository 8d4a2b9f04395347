/* Selects the parser of a test report by its content. */
import { listOf, type Table, tableOf } from '../../readers/packages/content.ts';
import { isGoStream, readGoTest } from './go-test.ts';
import { countOf, nameOf, readReportJson, textOf, timeOf } from './read-xml.ts';
import { Tally } from './tally.ts';
import {
  type ParsedReport,
  plainLine,
  refuse,
  type TestReport,
  textRefusal,
  withoutEscapes,
} from './test-report.ts';

/**
 * Reads a runner's JSON and recognizes it by its members: jest and vitest, mocha, and the stream of
 * `go test -json`. Other JSON is `not-a-report`.
 */
async function parseJsonReport(bytes: Uint8Array): Promise<ParsedReport> {
  const unreadable = textRefusal(bytes);
  if (unreadable) return { refusal: unreadable };
  if (isGoStream(bytes)) return readGoTest(bytes);
  const { value, refusal } = readReportJson(bytes);
  if (refusal) return { refusal };
  const document = tableOf(value);
  if (isJest(document)) return { report: readJest(document) };
  if (isMocha(document)) return { report: readMocha(document) };
  return refuse('not-a-report', 'expected the JSON of jest, vitest, mocha or `go test -json`');
}

const skipped: readonly unknown[] = ['pending', 'skipped', 'todo', 'disabled'];

/** Whether a document is what `jest --json` and vitest's `json` reporter write. */
function isJest(document: Table): boolean {
  return Object.hasOwn(document, 'numTotalTests') && Object.hasOwn(document, 'testResults');
}

/**
 * A file that failed without a failed test in it is a failure; so is a test with any status that is not known. Times
 * are milliseconds.
 */
function readJest(document: Table): TestReport {
  const tally = new Tally();
  for (const entry of listOf(document.testResults)) readFile(tally, tableOf(entry));
  const isFailed = tally.failed > 0;
  const suites = isFailed ? Number.POSITIVE_INFINITY : 0;
  for (const [key, listed] of Object.entries({
    numFailedTests: tally.failed,
    numTotalTests: tally.listed,
    numFailedTestSuites: suites,
    numRuntimeErrorTestSuites: suites,
  }))
    tally.claim(`\`${key}\``, document[key], listed);
  if (document.success !== undefined && document.success !== true && !isFailed)
    tally.contradict('error', '`success` is not true and no failed test is listed');
  if (document.wasInterrupted === true) tally.contradict('error', '`wasInterrupted` is true');
  return tally.toReport();
}

function readFile(tally: Tally, file: Table): void {
  const path = nameOf(file.name) ?? nameOf(file.testFilePath) ?? '';
  const place = path.split(/[\\/]/).at(-1) ?? '';
  const before = tally.failed;
  for (const entry of listOf(file.assertionResults)) {
    const test = tableOf(entry);
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
  return textOf(value)
    ?.split('\n')
    .find((one) => plainLine(one) !== '');
}

/** Whether a document is what mocha's `json` reporter writes. */
function isMocha({ stats, passes, failures, pending }: Table): boolean {
  const isCounted = ['tests', 'passes', 'failures'].some((key) => Object.hasOwn(tableOf(stats), key));
  return isCounted && [passes, failures, pending].some(Array.isArray);
}

/** Hooks that failed are listed as failures. Times are milliseconds. */
function readMocha(document: Table): TestReport {
  const tally = new Tally();
  for (const entry of listOf(document.failures)) {
    const test = tableOf(entry);
    const message = textOf(tableOf(test.err).message)?.split('\n', 1)[0];
    tally.fail(titleOf(test), message, timeOf(test.duration));
  }
  for (const entry of listOf(document.pending)) tally.skip(titleOf(tableOf(entry)));
  for (const entry of listOf(document.passes)) {
    const test = tableOf(entry);
    tally.pass(titleOf(test), timeOf(test.duration), countOf(test.currentRetry) > 0);
  }
  const stats = tableOf(document.stats);
  const counts = { failures: tally.failed, passes: tally.passed, tests: tally.listed };
  for (const [key, listed] of Object.entries(counts)) tally.claim(`\`stats.${key}\``, stats[key], listed);
  tally.claim('the length of `tests`', listOf(document.tests).length, tally.listed);
  return tally.toReport();
}

function titleOf(test: Table): string {
  return nameOf(test.fullTitle) ?? nameOf(test.title) ?? '';
}

export const reportEndings: readonly string[] = ['xml', 'tap', 'json'];

/**
 * Parses a report file by its content: XML, JSON or TAP. The file extension decides only if the content matches none
 * of them, so that a damaged file is refused as its intended format.
 */
export async function parseReport(name: string, bytes: Uint8Array): Promise<ParsedReport> {
  const unreadable = textRefusal(bytes);
  if (unreadable) return { refusal: unreadable };
  switch (await kindOf(bytes, endingOf(name))) {
    case 'xml':
      return (await import('./junit.ts')).parseJunit(bytes);
    case 'tap':
      return (await import('./tap.ts')).parseTap(bytes);
    default:
      return parseJsonReport(bytes);
  }
}

/** Lower-case ending without the dot; empty where there is none. */
export function endingOf(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot > 0 ? name.slice(dot + 1).toLowerCase() : '';
}

async function kindOf(bytes: Uint8Array, ending: string): Promise<'xml' | 'json' | 'tap'> {
  const head = withoutEscapes(Buffer.from(bytes.subarray(0, 4096)).toString('utf8'))
    .replace(/^\ufeff/, '')
    .trimStart();
  if (head.startsWith('<')) return 'xml';
  if (head.startsWith('{') || head.startsWith('[')) return 'json';
  const { beginsAsTap } = await import('./tap.ts');
  if (beginsAsTap(bytes)) return 'tap';
  return ending === 'xml' || ending === 'tap' ? ending : 'json';
}
