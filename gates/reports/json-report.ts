import { isJest, readJest } from './jest.ts';
import { fieldsOf } from './json-fields.ts';
import { isMocha, readMocha } from './mocha.ts';
import { isPytestJson, readPytestJson } from './pytest-json.ts';
import { eventReaderFor, readEvents } from './read-events.ts';
import { readReportJson } from './read-report-json.ts';
import { textRefusal } from './report-text.ts';
import { type ParsedReport, refuse } from './test-report.ts';

/**
 * Reads a runner's JSON, told by its members: jest and vitest, mocha, pytest-json-report, and the streams of `go test
 * -json` and Rust's test harness. Other JSON is `not-a-report`.
 */
export async function parseJsonReport(bytes: Uint8Array): Promise<ParsedReport> {
  const unreadable = textRefusal(bytes);
  if (unreadable) return { refusal: unreadable };
  const reader = eventReaderFor(bytes);
  if (reader) return readEvents(bytes, reader);
  const { value, refusal } = readReportJson(bytes);
  if (refusal) return { refusal };
  const document = fieldsOf(value);
  if (isJest(document)) return { report: readJest(document) };
  if (isMocha(document)) return { report: readMocha(document) };
  if (isPytestJson(document)) return { report: readPytestJson(document) };
  return refuse(
    'not-a-report',
    'expected the JSON of jest, vitest, mocha, pytest-json-report, `go test -json` or libtest',
  );
}
