import { setImmediate } from 'node:timers/promises';
import { GoTestReader, isGoEvent } from './go-test.ts';
import { isLibtestEvent, LibtestReader } from './libtest.ts';
import { fieldsOf, readReportJson } from './read-report-json.ts';
import {
  type EventReader,
  type ParsedReport,
  type ReportRefusal,
  refuse,
  reportBounds,
} from './test-report.ts';

const linesPerTurn = 5000;
/** Lines before the first event that are looked at: compilers print there. */
const maxHeadLines = 200;

/**
 * The reader for a stream whose first JSON line is an event that is known; `undefined` for any other text. Reads the
 * head only.
 */
export function eventReaderFor(bytes: Uint8Array): EventReader | undefined {
  let lines = 0;
  for (const line of linesOf(bytes)) {
    lines += 1;
    if (lines > maxHeadLines || line.length > reportBounds.lineBytes) return undefined;
    if (!isObjectLine(line)) continue;
    const { value } = readReportJson(line);
    const event = fieldsOf(value);
    if (isGoEvent(event)) return new GoTestReader();
    return isLibtestEvent(event) ? new LibtestReader() : undefined;
  }
  return undefined;
}

/**
 * Reads a stream of JSON objects, one a line; other lines are what compilers and tests print. Refused: a line of more
 * than 4 MiB, a line that begins as an object and is none, and what the reader refuses.
 */
export async function readEvents(bytes: Uint8Array, reader: EventReader): Promise<ParsedReport> {
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
    const refused = reader.event(fieldsOf(value));
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
