import { isUtf8 } from 'node:buffer';
import { type ReportRefusal, reportBounds } from './test-report.ts';

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
