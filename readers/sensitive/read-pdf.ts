import { isFault } from '../documents/archive/archive-fault.ts';
import { inflate } from '../documents/archive/inflate.ts';

/** What a PDF holds that can be read. */
export interface PdfContent {
  /** Its objects, its inflated streams, and the text that is shown by them, piece by piece joined. */
  readonly text: Buffer;
  /** All of it was read: nothing is encrypted, packed otherwise, or written in numbers of glyphs. */
  readonly isWhole: boolean;
}

const maxStreams = 20_000;
const streamHead = /stream\r?\n/g;
/** Strings that are shown one after the other: kerning cuts words. */
const shown = /\(((?:[^()\\]|\\[\s\S]){0,4096})\)/g;
const separator = Buffer.from('\n\0\n\n');

/** Reads what stands in a PDF in the open or deflated, at most `maxBytes` of it. */
export function readPdf(bytes: Buffer, maxBytes: number): PdfContent {
  const whole = bytes.toString('latin1');
  const parts: Buffer[] = [];
  let isWhole = !/\/Encrypt\b|\/Identity-[HV]\b|\/Type0\b/.test(whole);
  let left = maxBytes;
  let count = 0;
  let open = 0;
  streamHead.lastIndex = 0;
  for (let head = streamHead.exec(whole); head; head = streamHead.exec(whole)) {
    if (whole.startsWith('end', head.index - 3)) continue;
    const from = streamHead.lastIndex;
    const next = whole.indexOf('endstream', from);
    const end = next < 0 ? whole.length : next;
    const near = whole.slice(Math.max(0, head.index - 2048), head.index);
    const dictionary = near.slice(Math.max(0, near.lastIndexOf(' obj')));
    const content = ++count > maxStreams ? undefined : read(bytes.subarray(from, end), dictionary, left);
    parts.push(bytes.subarray(open, from), separator);
    if (content === undefined) isWhole = false;
    else {
      left -= content.length;
      parts.push(content, separator, textOf(content), separator);
      if (/\/Identity-[HV]\b|\/Type0\b/.test(content.toString('latin1'))) isWhole = false;
    }
    open = end;
    streamHead.lastIndex = end;
  }
  parts.push(bytes.subarray(open));
  return { text: Buffer.concat(parts), isWhole };
}

function read(stream: Buffer, dictionary: string, left: number): Buffer | undefined {
  if (!dictionary.includes('/Filter')) return stream.length <= left ? stream : undefined;
  if (
    !/\/Filter\s*\[?\s*\/FlateDecode\s*\]?\s*(?:\/|>>)/.test(dictionary) ||
    /\/Predictor\s+(?!1\b)\d/.test(dictionary)
  )
    return undefined;
  const content = inflate(stream, 'zlib', left);
  return isFault(content) ? undefined : content;
}

function textOf(content: Buffer): Buffer {
  const lines = content.toString('latin1').split(/\bT[dDm*]\b|\bET\b/);
  const text = lines.map((line) =>
    [...line.matchAll(shown)].map(([, piece = '']) => piece.replace(/\\([()\\])/g, '$1')).join(''),
  );
  return Buffer.from(text.join('\n'), 'latin1');
}
