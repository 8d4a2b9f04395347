import { WritError } from '../../core/base/errors.ts';

/** Most bytes of one record. */
export const maxRecordBytes = 32 * 1024 * 1024;
const maxDepth = 100;

/**
 * Cuts a stream of bytes into its JSON objects: one record (over several lines or not), a list of records, or one after
 * the other (NDJSON). Holds one record at a time. What stands between objects must be white space, or the brackets and
 * commas of one list. ADVISORIES_INVALID.
 */
export async function* splitJson(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const held: Uint8Array[] = [];
  let heldBytes = 0;
  let depth = 0;
  let isText = false;
  let isEscaped = false;
  let isFirst = true;
  let place: Place = 'start';
  for await (const chunk of chunks) {
    let from = depth > 0 ? 0 : -1;
    let at = 0;
    if (isFirst && chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf) at = 3;
    isFirst = false;
    for (; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (depth === 0) {
        if (byte === space || byte === feed || byte === carriage || byte === tab) continue;
        if (byte === open) {
          if (place === 'after-item' || place === 'closed') throw misplaced(place);
          depth = 1;
          from = at;
        } else place = step(place, byte);
      } else if (isText) {
        if (isEscaped) isEscaped = false;
        else if (byte === backslash) isEscaped = true;
        else if (byte === quote) isText = false;
      } else if (byte === quote) isText = true;
      else if (byte === open || byte === openList) {
        depth += 1;
        if (depth > maxDepth) throw invalid(`a record is nested deeper than ${maxDepth}`);
      } else if (byte === close || byte === closeList) {
        depth -= 1;
        if (depth > 0) continue;
        const record = Buffer.concat([...held, chunk.subarray(from, at + 1)]);
        if (record.length > maxRecordBytes) throw tooLarge();
        held.length = 0;
        heldBytes = 0;
        from = -1;
        place = place === 'start' || place === 'sequence' ? 'sequence' : 'after-item';
        yield record;
      }
    }
    if (from === -1) continue;
    heldBytes += chunk.length - from;
    if (heldBytes > maxRecordBytes) throw tooLarge();
    // The stream may use its buffer again.
    held.push(Uint8Array.prototype.slice.call(chunk, from));
  }
  if (depth > 0) throw invalid('the file ends inside a record: it is cut off');
  if (place === 'start') throw invalid('the file holds no record');
  if (place === 'list' || place === 'item' || place === 'after-item')
    throw invalid('the file ends inside a list: it is cut off');
}

type Place = 'start' | 'sequence' | 'list' | 'item' | 'after-item' | 'closed';

const [space, tab, feed, carriage] = [0x20, 0x09, 0x0a, 0x0d];
const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [open, close, openList, closeList] = [0x7b, 0x7d, 0x5b, 0x5d];

function step(place: Place, byte: number): Place {
  if (place === 'start' && byte === openList) return 'list';
  if (place === 'after-item' && byte === comma) return 'item';
  if ((place === 'after-item' || place === 'list') && byte === closeList) return 'closed';
  throw misplaced(place);
}

function misplaced(place: Place): WritError {
  return invalid(
    place === 'start'
      ? 'expected a zip archive or OSV records in JSON'
      : place === 'closed'
        ? 'something follows the list of records'
        : 'something that is no record stands between records',
  );
}

function tooLarge(): WritError {
  return invalid(`a record has more than ${maxRecordBytes} bytes`);
}

function invalid(message: string): WritError {
  return new WritError('ADVISORIES_INVALID', { message });
}
