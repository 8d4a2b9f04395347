import { isUtf8 } from 'node:buffer';

/** A test that failed. */
export interface TestFailure {
  readonly name: string;
  /** First line of what the report says about it. */
  readonly message?: string;
  readonly durationMs?: number;
}

/** How long one test took. */
export interface TestTime {
  readonly name: string;
  readonly durationMs: number;
}

/** Something in a report that speaks against another part of it; `error` where it may hide a failure. */
export interface Contradiction {
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

/** What a test report says: tests that have no tests inside are counted, once each. */
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
  /** The `maxSlowest` that took longest, longest first. */
  readonly slowest: readonly TestTime[];
  /** Sum of the tests' own times, milliseconds; absent where the report gives none. */
  readonly durationMs?: number;
  /** Files that the runner lists as passed although no test ran in them; they count as nothing. */
  readonly emptyFiles: readonly string[];
  readonly contradictions: readonly Contradiction[];
  /** Names of tests, the first `maxNames`: what another report is compared with. */
  readonly names: ReadonlySet<string>;
}

/** Why a report counts for nothing. */
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

/** A refusal as a parser returns it. */
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

/** Takes the events of one stream, one JSON object each; what is returned refuses the stream. */
export interface EventReader {
  event(event: Readonly<Record<string, unknown>>): ReportRefusal | undefined;
  end(): ReportRefusal | undefined;
  toReport(): TestReport;
}
