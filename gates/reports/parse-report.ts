/* Selects the parser of a test report by its content. */

import { setImmediate } from 'node:timers/promises';
import { listOf, type Table, tableOf } from '../../readers/packages/content.ts';
import { countOf, nameOf, readReportJson, textOf, timeOf } from './read-xml.ts';
import { Tally } from './tally.ts';
import {
  type ParsedReport,
  plainLine,
  type ReportRefusal,
  refuse,
  reportBounds,
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

const linesPerTurn = 5000;
/** Lines before the first event that are looked at: compilers print there. */
const maxHeadLines = 200;

/** True for a stream whose first JSON line is an event of `go test -json`. It reads only the head. */
function isGoStream(bytes: Uint8Array): boolean {
  let lines = 0;
  for (const line of linesOf(bytes)) {
    lines += 1;
    if (lines > maxHeadLines || line.length > reportBounds.lineBytes) return false;
    if (isObjectLine(line)) return isGoEvent(tableOf(readReportJson(line).value));
  }
  return false;
}

/**
 * Reads the stream of `go test -json`, one JSON object a line; other lines are what compilers and tests print. Refused:
 * a line of more than 4 MiB, a line that begins as an object and is none, and an event of another stream.
 */
async function readGoTest(bytes: Uint8Array): Promise<ParsedReport> {
  const reader = new GoTestReader();
  let lines = 0;
  let broken: ReportRefusal | undefined;
  for (const line of linesOf(bytes)) {
    lines += 1;
    if (lines % linesPerTurn === 0) await setImmediate();
    if (line.length > reportBounds.lineBytes)
      return refuse(
        'too-large',
        `line ${lines} has more than the ${reportBounds.lineBytes} bytes that are read`,
      );
    if (!isObjectLine(line)) continue;
    // Only the last line may be cut off.
    if (broken) return { refusal: { ...broken, reason: 'malformed' } };
    const { value, refusal } = readReportJson(line);
    if (refusal) {
      broken = { reason: 'truncated', message: `line ${lines}: ${refusal.message}` };
      continue;
    }
    const refused = reader.event(tableOf(value));
    if (refused) return { refusal: { ...refused, message: `line ${lines}: ${refused.message}` } };
  }
  const refusal = broken ?? reader.end();
  return refusal ? { refusal } : { report: reader.toReport() };
}

function isObjectLine(line: Uint8Array): boolean {
  return line[0] === 0x7b;
}

/** Lines without their end and without blanks in front, as views. */
function* linesOf(bytes: Uint8Array): Generator<Uint8Array> {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let start = whole.subarray(0, 3).toString('hex') === 'efbbbf' ? 3 : 0;
  while (start < whole.length) {
    const feed = whole.indexOf(10, start);
    const end = feed === -1 ? whole.length : feed;
    while (start < end && (whole[start] === 0x20 || whole[start] === 0x09)) start += 1;
    if (end > start) yield whole.subarray(start, end);
    start = end + 1;
  }
}

const actions: readonly unknown[] =
  'start run pause cont pass bench fail output attr artifacts skip build-output build-fail'.split(' ');
/** Output lines that do not explain a failure. */
const frame = /^\s*(?:=== |--- |FAIL\b|PASS\b|ok\s|exit status)/;

interface OpenTest {
  hasInner: boolean;
  innerFailed: boolean;
  message: string | undefined;
}

interface OpenPackage {
  readonly open: Map<string, OpenTest>;
  failed: number;
  message: string | undefined;
}

function isGoEvent(event: Table): boolean {
  const hasPlace = typeof event.Package === 'string' || typeof event.ImportPath === 'string';
  return actions.includes(event.Action) && hasPlace;
}

/**
 * Reads the events of `go test -json`. Tests without subtests count, every execution of `-count` by itself; a package
 * that failed without a failed test (build, panic, `TestMain`) is a failure, and so is a test that has no end when its
 * package ends. Packages without an end are a stream that was cut off.
 */
class GoTestReader {
  readonly #tally = new Tally();
  readonly #packages = new Map<string, OpenPackage>();
  readonly #passedOnce = new Set<string>();
  readonly #failedOnce = new Set<string>();
  #buildFailed = false;

  event(event: Table): ReportRefusal | undefined {
    const name = nameOf(event.Package);
    if (!isGoEvent(event)) return { reason: 'malformed', message: 'an event is none of `go test -json`' };
    if (name === undefined) {
      this.#buildFailed ||= event.Action === 'build-fail';
      return undefined;
    }
    const of = this.#packages.get(name) ?? { open: new Map(), failed: 0, message: undefined };
    this.#packages.set(name, of);
    const test = nameOf(event.Test);
    if (test === undefined) this.#package(name, of, event);
    else this.#test(name, of, test, event);
    return this.#packages.size > reportBounds.maxNames || of.open.size > reportBounds.maxNames
      ? { reason: 'too-large', message: `expected at most ${reportBounds.maxNames} tests at once` }
      : undefined;
  }

  end(): ReportRefusal | undefined {
    if (this.#packages.size === 0) return undefined;
    const [first = ''] = this.#packages.keys();
    const message = `the stream ends before the end of ${this.#packages.size} packages, the first \`${plainLine(first)}\``;
    return { reason: 'truncated', message };
  }

  toReport(): TestReport {
    if (this.#buildFailed && this.#tally.failed === 0)
      this.#tally.contradict('error', 'a build failed and no package that failed is listed');
    for (const name of this.#failedOnce) {
      if (!this.#passedOnce.has(name)) continue;
      this.#tally.contradict(
        'warning',
        `test \`${plainLine(name)}\` failed in one execution and passed in another`,
      );
    }
    return this.#tally.toReport();
  }

  #package(
    name: string,
    of: OpenPackage,
    { Action: action, Output: output, FailedBuild: build }: Table,
  ): void {
    if (action === 'output') {
      const line = textOf(output);
      // The last word before the end: a panic, a build error, what `TestMain` printed.
      if (line !== undefined && !frame.test(line)) of.message = line;
    }
    if (action !== 'pass' && action !== 'fail' && action !== 'skip') return;
    this.#packages.delete(name);
    for (const [test, { hasInner, message }] of of.open) {
      if (hasInner) continue;
      // A panic ends every test that runs.
      of.failed += 1;
      this.#tally.fail(`${name} > ${test}`, message ?? 'the test did not come to its end');
    }
    if (action !== 'fail' || of.failed > 0) return;
    const why = textOf(build) === undefined ? of.message : 'the build failed';
    this.#tally.fail(name, why ?? 'the package failed');
  }

  #test(name: string, of: OpenPackage, test: string, event: Table): void {
    const { Action: action } = event;
    if (action === 'run') {
      of.open.set(test, { hasInner: false, innerFailed: false, message: undefined });
      for (const outer of outerTests(of, test)) outer.hasInner = true;
      return;
    }
    const found = of.open.get(test);
    if (action === 'output') {
      const line = textOf(event.Output);
      if (found && line !== undefined && !frame.test(line)) found.message ??= line;
      return;
    }
    if (action !== 'pass' && action !== 'fail' && action !== 'skip') return;
    of.open.delete(test);
    if (found?.hasInner && (action !== 'fail' || found.innerFailed)) {
      if (action === 'fail') for (const outer of outerTests(of, test)) outer.innerFailed = true;
      return;
    }
    const full = `${name} > ${test}`;
    const durationMs = timeOf(event.Elapsed, 1000);
    if (action === 'pass') {
      this.#tally.pass(full, durationMs);
      if (this.#passedOnce.size < reportBounds.maxNames) this.#passedOnce.add(full);
    } else if (action === 'skip') this.#tally.skip(full, durationMs);
    else {
      of.failed += 1;
      this.#tally.fail(full, found?.message, durationMs);
      if (this.#failedOnce.size < reportBounds.maxFailures) this.#failedOnce.add(full);
      // The failure of a subtest is why its parents fail.
      for (const outer of outerTests(of, test)) outer.innerFailed = true;
    }
  }
}

/** The open tests that a subtest is part of. */
function* outerTests({ open }: OpenPackage, test: string): Generator<OpenTest> {
  for (let at = test.lastIndexOf('/'); at > 0; at = test.lastIndexOf('/', at - 1)) {
    const outer = open.get(test.slice(0, at));
    if (outer) yield outer;
  }
}
