/* Finds and reads the report of a test suite. */
import { compileGlob } from '../../core/base/glob.ts';
import type { ReportFile } from '../../core/interfaces/check.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { SandboxResult } from '../../core/interfaces/sandbox.ts';
import { metricsFile } from '../../readers/reports/metrics.ts';
import { endingOf, parseReport, reportEndings } from '../reports/parse-report.ts';
import { Tally } from '../reports/tally.ts';
import { beginsAsTap, parseTap, toPoint } from '../reports/tap.ts';
import {
  type ParsedReport,
  plainLine,
  type ReportRefusal,
  type TestReport,
  withoutEscapes,
} from '../reports/test-report.ts';
import { failure, note, unreadable } from './judge-exit.ts';

/** What a suite left, and what the config names of it. */
export interface SuiteOutput {
  /** `stdout` or a glob; `undefined` if the config names no report. */
  readonly named: string | undefined;
  readonly result: Pick<SandboxResult, 'stdout'>;
  readonly reports: readonly ReportFile[];
  readonly unread: readonly string[];
}

/** The one report of a suite, if there is one, and the findings against using it. */
export interface ReadSuite {
  readonly report?: TestReport;
  /** What it is called in a sentence. */
  readonly source: string;
  readonly findings: readonly Finding[];
}

type ReadFile = ParsedReport & { readonly name: string };

/**
 * Finds the one report of a suite. Order: the report that the config names; stdout that begins as TAP; the one test
 * report among `$REPORTS_DIR/*.{xml,tap,json}` (two are REPORT_AMBIGUOUS); otherwise REPORT_MISSING. Every other
 * output can only contradict the report: stdout with other counts or failed tests, or a second report with other
 * results (REPORT_DISAGREES).
 */
export async function readSuite(suite: SuiteOutput): Promise<ReadSuite> {
  const { named, result } = suite;
  if (named === 'stdout') {
    const chosen = await wholeOutput(result);
    return chosen ? fromOutput(chosen, suite) : { source: output, findings: [missing(output)] };
  }
  if (named !== undefined) return fromNamed(named, suite);
  const printed = await outputReport(result);
  return printed ? fromOutput(printed, suite) : fromFiles(suite);
}

/** Named by the config, output may be of any format that is known by its content. */
async function wholeOutput({ stdout }: SuiteOutput['result']): Promise<ParsedReport | undefined> {
  if (stdout.totalBytes === 0) return undefined;
  return truncation(stdout, 'is the report, but') ?? parseReport('stdout.tap', stdout.bytes);
}

async function fromOutput({ report, refusal }: ParsedReport, suite: SuiteOutput): Promise<ReadSuite> {
  const { files, findings } = await readFiles(suite, () => false);
  if (!report) return { source: output, findings: [unreadable(output, refusal), ...findings] };
  const isNamed = suite.named !== undefined;
  return { report, source: output, findings: [...findings, ...others(output, report, files, isNamed)] };
}

async function fromNamed(named: string, suite: SuiteOutput): Promise<ReadSuite> {
  const glob = compileGlob(named);
  const { files, findings } = await readFiles(suite, glob.matches);
  const chosen = files.filter(({ name }) => glob.matches(name));
  const source = chosen.length === 1 ? `\`${plainLine(chosen[0]?.name ?? named)}\`` : `\`${named}\``;
  const bad = chosen.flatMap(({ name, refusal }) => (refusal ? [unreadable(name, refusal)] : []));
  if (chosen.length === 0 && findings.length === 0) return { source, findings: [missing(`\`${named}\``)] };
  const total = new Tally();
  const shared: Finding[] = [];
  for (const { name, report } of chosen) {
    if (!report) continue;
    shared.push(...sharedTests(name, total.names, report.names));
    total.add(report);
  }
  if (bad.length + findings.length > 0) return { source, findings: [...findings, ...bad] };
  const report = total.toReport();
  const rest = files.filter(({ name }) => !glob.matches(name));
  const against = [
    ...others(source, report, rest, true),
    ...(await outputAgainst(source, report, suite.result)),
  ];
  return { report, source, findings: [...shared, ...against] };
}

async function fromFiles(suite: SuiteOutput): Promise<ReadSuite> {
  const { files, findings } = await readFiles(suite, () => false);
  const read = files.filter(({ report }) => report);
  const [first, second] = read;
  if (!first?.report) {
    const bad = files.flatMap(({ name, refusal }) => (refusal ? [unreadable(name, refusal)] : []));
    const all = [...findings, ...bad];
    return { source: 'no report', findings: all.length > 0 ? all : [missing(undefined)] };
  }
  const source = `\`${plainLine(first.name)}\``;
  if (second) return { source, findings: [...findings, ambiguous(read.map(({ name }) => name))] };
  const { report } = first;
  const rest = files.filter((file) => file !== first);
  const against = [
    ...others(source, report, rest, false),
    ...(await outputAgainst(source, report, suite.result)),
  ];
  return { report, source, findings: [...findings, ...against] };
}

/**
 * Reads the files that are meant as reports; findings are those that may hide one. What is `wanted` is read whatever
 * its ending.
 */
async function readFiles(
  { named, reports, unread }: SuiteOutput,
  wanted: (name: string) => boolean,
): Promise<{ readonly files: readonly ReadFile[]; readonly findings: readonly Finding[] }> {
  const isReport = (name: string): boolean =>
    name !== metricsFile && (wanted(name) || reportEndings.includes(endingOf(name)));
  // If the config names the source, a damaged file elsewhere hides no report.
  const mayHide = (name: string): boolean => named === undefined || wanted(name);
  const findings = unread
    .filter((name) => isReport(name) && mayHide(name))
    .map((name) => unreadable(name, { reason: 'not-a-file', message: 'it is no regular file' }));
  const files: ReadFile[] = [];
  for (const { name, bytes, isStale } of reports) {
    if (!isReport(name)) continue;
    const parsed = isStale ? { refusal: stale } : await parseReport(name, bytes);
    const isOther = parsed.refusal?.reason === 'not-a-report' && endingOf(name) !== 'tap';
    // An `.xml` or `.json` file may be any other output of the check.
    if (parsed.refusal && !isOther && !wanted(name) && mayHide(name))
      findings.push(unreadable(name, parsed.refusal));
    else files.push({ name, ...parsed });
  }
  return { files, findings };
}

/**
 * The reports directory was empty when the command began: the file was moved or copied there with the time of an
 * earlier run.
 */
const stale: ReportRefusal = { reason: 'stale', message: 'it was last written before the check began' };

/**
 * Findings about files beside the source. If the config chose the source, another file may be the report of another
 * suite. It is then ignored unless it has more failed tests.
 */
function others(
  source: string,
  report: TestReport,
  files: readonly ReadFile[],
  isNamed: boolean,
): readonly Finding[] {
  return files.flatMap(({ name, report: other, refusal }) => {
    const shown = `\`${plainLine(name)}\``;
    if (refusal) return [ignored(name, `is no test report and counts for nothing: ${refusal.message}`)];
    const against = reportAgainst(source, report, shown, other);
    if (against && (!isNamed || other.failed > report.failed)) return [against];
    return [ignored(name, `counts for nothing: the report is ${source}`)];
  });
}

function ignored(name: string, why: string): Finding {
  const report = plainLine(name);
  return note('REPORT_IGNORED', `\`${report}\` ${why}`, { report });
}

/** Notes tests that two files of one glob name: the files add up, so such a test counts twice. */
function sharedTests(
  name: string,
  before: ReadonlySet<string>,
  names: ReadonlySet<string>,
): readonly Finding[] {
  const [smaller, larger] = before.size < names.size ? [before, names] : [names, before];
  let count = 0;
  let first = '';
  for (const test of smaller) {
    if (!larger.has(test)) continue;
    if (count === 0) first = test;
    count += 1;
  }
  if (count === 0) return [];
  const report = plainLine(name);
  const message = `\`${report}\` names ${count} tests that another report names too, the first \`${first}\`: each report counts`;
  return [note('TEST_IN_TWO_REPORTS', message, { report, count, first })];
}

function ambiguous(names: readonly string[]): Finding {
  const shown = names.slice(0, 5).map((name) => `\`${plainLine(name)}\``);
  const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : '';
  return failure(
    'REPORT_AMBIGUOUS',
    `expected one test report in \`$REPORTS_DIR\`, found ${shown.join(', ')}${more}: name the one that counts by \`report\` in \`[checks.<id>]\` of the config`,
    { reports: names.slice(0, 20).map((name) => plainLine(name)), count: names.length },
  );
}

function missing(named: string | undefined): Finding {
  const place = named === output ? `on ${output}` : `in \`$REPORTS_DIR\` as ${named}`;
  const expected =
    named === undefined
      ? "a test report in `$REPORTS_DIR` (JUnit XML, TAP or the runner's JSON in `*.xml`, `*.tap`, `*.json`) or TAP on standard output, found neither"
      : `a test report ${place}, where the config looks for that of this check, found none`;
  return failure('REPORT_MISSING', `expected ${expected}`, named === undefined ? {} : { named });
}

/** What standard output is called in a sentence. */
const output = 'standard output';

/** The error if another report has other counts of passed or failed tests. The number of skipped tests may differ. */
function reportAgainst(
  source: string,
  report: TestReport,
  beside: string,
  other: TestReport,
): Finding | undefined {
  if (report.passed === other.passed && report.failed === other.failed) return undefined;
  const counts = ({ passed, failed }: TestReport): string => `${passed} passed and ${failed} failed`;
  const message = `${source} and ${beside} disagree: ${source} says ${counts(report)}, ${beside} ${counts(other)}`;
  const both = { passed: [report.passed, other.passed], failed: [report.failed, other.failed] };
  return failure('REPORT_DISAGREES', message, { between: [source, beside], ...both });
}

/** Findings if stdout contradicts a report in a file. */
async function outputAgainst(
  source: string,
  report: TestReport,
  result: Pick<SandboxResult, 'stdout'>,
): Promise<readonly Finding[]> {
  const said = await streamSays(result);
  const against = said?.report && reportAgainst(source, report, output, said.report);
  if (against) return [against];
  if (!said || said.failed <= report.failed) return [];
  const message = `${source} and ${output} disagree: ${source} says ${report.failed} failed, ${output} has ${said.failed} lines \`not ok\``;
  return [
    failure('REPORT_DISAGREES', message, { between: [source, output], failed: [report.failed, said.failed] }),
  ];
}

/** Test results on stdout, in addition to a report in a file. */
interface StreamSays {
  /** All of it, where the stream is whole. */
  readonly report?: TestReport;
  /** At least so many failed. */
  readonly failed: number;
}

/**
 * Standard output as the report itself; `undefined` where it does not begin as TAP. A part that was lost refuses it.
 */
async function outputReport({ stdout }: Pick<SandboxResult, 'stdout'>): Promise<ParsedReport | undefined> {
  if (!beginsAsTap(stdout.bytes)) return undefined;
  return truncation(stdout, 'begins as TAP, but') ?? parseTap(stdout.bytes);
}

/** The refusal of output of which a part was lost. */
function truncation(
  { bytes, totalBytes, truncated }: SandboxResult['stdout'],
  but: string,
): ParsedReport | undefined {
  if (!truncated) return undefined;
  const message = `it ${but} only ${bytes.length} of its ${totalBytes} bytes were kept: write the report to \`$REPORTS_DIR\``;
  return { refusal: { reason: 'truncated', message } };
}

/**
 * Reads the TAP anywhere in stdout, for example after the lines that `npm test` prints. Returns `undefined` if there
 * is none. If the stream is not complete TAP, its `not ok` lines still count as failures, except to-do and skipped
 * ones.
 */
export async function streamSays({ stdout }: Pick<SandboxResult, 'stdout'>): Promise<StreamSays | undefined> {
  const begins = tapBeginsAt(stdout.bytes);
  if (begins !== undefined && !stdout.truncated) {
    const { report } = await parseTap(stdout.bytes.subarray(begins));
    if (report) return { report, failed: report.failed };
  }
  const failed = countNotOk(stdout.bytes);
  return begins === undefined && failed === 0 ? undefined : { failed };
}

/** Offset at which TAP begins: the start, or the first line `TAP version N`. */
export function tapBeginsAt(bytes: Buffer): number | undefined {
  if (beginsAsTap(bytes)) return 0;
  for (let at = bytes.indexOf('TAP version '); at !== -1; at = bytes.indexOf('TAP version ', at + 1)) {
    if (at === 0 || bytes[at - 1] === 0x0a) return at;
  }
  return undefined;
}

/** Lines `not ok N` at any depth: text that a program prints for people has no number there. */
function countNotOk(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf('not ok '); at !== -1; at = bytes.indexOf('not ok ', at + 1)) {
    const start = bytes.lastIndexOf(0x0a, at) + 1;
    if (at - start > 256 || withoutEscapes(bytes.toString('utf8', start, at)).trim() !== '') continue;
    const feed = bytes.indexOf(0x0a, at);
    const end = Math.min(feed === -1 ? bytes.length : feed, at + 4096);
    const line = withoutEscapes(bytes.toString('utf8', at, end)).trimEnd();
    if (/^not ok \d{1,9}(?=\s|$)/.test(line) && toPoint(line)?.directive === undefined) count += 1;
  }
  return count;
}
