/* Types and limits of test reports. */
import { isUtf8 } from 'node:buffer';
import { sha256Hex } from '../../core/base/canonical.ts';
import { withoutTerminalStrings } from '../../core/base/printable.ts';
import { findSecrets } from '../../readers/sensitive/secrets/find-secrets.ts';

export interface TestFailure {
  readonly name: string;
  /** First line of the failure message in the report. */
  readonly message?: string;
  readonly durationMs?: number;
}

export interface TestTime {
  readonly name: string;
  readonly durationMs: number;
}

/** Something in a report that speaks against another part of it; `error` where it may hide a failure. */
export interface Contradiction {
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

/** The content of a test report. Tests without subtests are counted, once each. */
export interface TestReport {
  readonly passed: number;
  readonly failed: number;
  /** Skipped and to-do tests, whatever came of them. */
  readonly skipped: number;
  /** Of those that passed: tests that failed before they passed when they were run again. */
  readonly flaky: number;
  /** In order of the report, the first `maxFailures`. */
  readonly failures: readonly TestFailure[];
  /** Names in order of the report, the first `maxNamed` each. */
  readonly skippedTests: readonly string[];
  readonly flakyTests: readonly string[];
  /** The `maxSlowest` slowest tests, slowest first. */
  readonly slowest: readonly TestTime[];
  /** Sum of the tests' own times, milliseconds; absent where the report gives none. */
  readonly durationMs?: number;
  /** Files that the runner lists as passed although no test ran in them. They are not counted. */
  readonly emptyFiles: readonly string[];
  readonly contradictions: readonly Contradiction[];
  /** Names of tests, the first `maxNames`: what another report is compared with. */
  readonly names: ReadonlySet<string>;
}

export interface ReportRefusal {
  readonly reason:
    | 'too-large'
    | 'encoding'
    | 'malformed'
    | 'duplicate'
    | 'stale'
    | 'not-a-file'
    | 'truncated'
    | 'document-type'
    | 'too-deep'
    | 'not-a-report'
    | 'unsupported';
  readonly message: string;
}

/** A report in normal form, or why it is none. Reports come from outside: neither is a fault. */
export type ParsedReport =
  | { readonly report: TestReport; readonly refusal?: undefined }
  | { readonly report?: undefined; readonly refusal: ReportRefusal };

/**
 * Bounds of every report: bytes, nesting, JSON values, bytes of one line of a stream, and how much is listed of each
 * kind.
 */
export const reportBounds = {
  bytes: 64 * 1024 * 1024,
  depth: 64,
  jsonTokens: 8_000_000,
  lineBytes: 4 * 1024 * 1024,
  maxFailures: 100,
  maxNamed: 20,
  maxSlowest: 20,
  maxNames: 100_000,
  maxEmptyFiles: 20,
  maxContradictions: 10,
};

export function refuse(reason: ReportRefusal['reason'], message: string): ParsedReport {
  return { refusal: { reason, message } };
}

const utf16Marks = ['fffe', 'feff'];

/** Why bytes cannot be read as the text of a report; `undefined` where they can. Only UTF-8 is read. */
export function textRefusal(bytes: Uint8Array): ReportRefusal | undefined {
  if (bytes.length > reportBounds.bytes) {
    return {
      reason: 'too-large',
      message: `expected at most ${reportBounds.bytes} bytes, found ${bytes.length}`,
    };
  }
  const head = Buffer.from(bytes.subarray(0, 2)).toString('hex');
  if (utf16Marks.includes(head) || !isUtf8(bytes) || bytes.includes(0)) {
    return { reason: 'encoding', message: 'expected UTF-8 without NUL characters' };
  }
  return undefined;
}

/** Pieces of valid UTF-8, none of which ends inside a character; a byte order mark is left out. */
export function* textPieces(bytes: Uint8Array, pieceBytes = 64 * 1024): Generator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for (let start = 0; start < bytes.length; start += pieceBytes) {
    yield decoder.decode(bytes.subarray(start, start + pieceBytes), { stream: true });
  }
  yield decoder.decode();
}

const escapes = /\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|[@-Z\\^_])/g;

/** Text without the escape sequences that terminals obey. */
export function withoutEscapes(text: string): string {
  return text.includes('\x1b') ? withoutTerminalStrings(text).replace(escapes, '') : text;
}

/**
 * Makes one line of text safe for a finding: no escape sequences or control characters, at most `maxLength`
 * characters. Known secrets are blanked out, because findings are not redacted later.
 */
export function plainLine(text: string, maxLength = 200): string {
  // Cut well behind what is kept, so that a secret at the cut is still whole enough to be known.
  const shown = plainText(text.slice(0, 16_384));
  return shown.length <= maxLength ? shown : `${shown.slice(0, maxLength - 1).toWellFormed()}…`;
}

const maxMessageLines = 12;
const stackLine = /^\s*(?:at |File "|\u276f )/;

/**
 * What a failed test said, up to its stack: `Expected values to be strictly equal:` alone has no value in it, the next
 * lines have.
 */
export function beforeStack(lines: readonly string[]): string {
  const said = lines.filter((line) => line.trim() !== '').slice(0, maxMessageLines);
  const end = said.findIndex((line, at) => at > 0 && stackLine.test(line));
  return said.slice(0, end === -1 ? said.length : end).join('\n');
}

/**
 * Makes the name of a test safe for a finding, as one line. A longer name ends in a digest of the whole name, so that
 * comparisons remain exact.
 */
export function plainName(text: string, maxLength = 200): string {
  return boundedName(plainText(text), maxLength);
}

/** A line that `plainName` gave, or several of them together. */
export function boundedName(line: string, maxLength: number): string {
  if (line.length <= maxLength) return line;
  const digest = sha256Hex(line).slice(0, 16);
  return `${line.slice(0, maxLength - digest.length - 2).toWellFormed()}…#${digest}`;
}

function plainText(text: string): string {
  // A JSON report can name half a character, which no record can hold.
  const line = withoutEscapes(text.toWellFormed())
    .replace(/[\s\x00-\x1f\x7f\u0080-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ')
    .trim();
  return blankSecrets(line);
}

function blankSecrets(text: string): string {
  // Shorter text cannot be a secret.
  if (text.length < 12) return text;
  const bytes = Buffer.from(text);
  const shown: Buffer[] = [];
  let at = 0;
  for (const { start, end } of findSecrets(bytes)) {
    if (end <= at) continue;
    if (start > at) shown.push(bytes.subarray(at, start));
    if (start >= at) shown.push(Buffer.from('[secret]'));
    at = end;
  }
  return at === 0 ? text : Buffer.concat([...shown, bytes.subarray(at)]).toString('utf8');
}
