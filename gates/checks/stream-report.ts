import type { SandboxResult } from '../../core/interfaces/sandbox.ts';
import { beginsAsTap, parseTap, toPoint } from '../reports/tap.ts';
import { type ParsedReport, type TestReport, withoutEscapes } from '../reports/test-report.ts';

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
export async function outputReport({
  stdout,
}: Pick<SandboxResult, 'stdout'>): Promise<ParsedReport | undefined> {
  if (!beginsAsTap(stdout.bytes)) return undefined;
  return truncation(stdout, 'begins as TAP, but') ?? parseTap(stdout.bytes);
}

/** The refusal of output of which a part was lost. */
export function truncation(
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
