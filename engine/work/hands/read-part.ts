import type { HandAnswer, HandUse } from '../../../core/interfaces/worker.ts';

const maxAnswerBytes = 256 * 1024;
const maxLines = 2000;

/** The lines of a file that a model wants to read, with their numbers; a binary file fails. */
export function readPart(
  bytes: Buffer,
  { fromLine, lines }: Pick<Extract<HandUse, { readonly kind: 'read' }>, 'fromLine' | 'lines'>,
  mask: (text: string) => string,
): HandAnswer {
  if (bytes.includes(0)) return { outcome: 'failed', text: `failed: binary, ${bytes.length} bytes` };
  const range = {
    from: Math.max(1, fromLine ?? 1),
    lines: Math.max(1, Math.min(lines ?? maxLines, maxLines)),
    maxBytes: maxAnswerBytes,
  };
  // The whole text is masked: a secret may span several lines.
  const text = bytes.length === 0 ? '' : numberedLines(mask(bytes.toString('utf8')), range);
  return { outcome: 'done', text };
}

/** A range of lines, and the maximum number of bytes in an answer. */
export interface LineRange {
  /** From 1. */
  readonly from: number;
  readonly lines: number;
  readonly maxBytes: number;
}

/**
 * Returns numbered lines of a text, and a line on how to continue if there are more. The first line is always
 * included, truncated if it alone is too long.
 */
export function numberedLines(text: string, { from, lines, maxBytes }: LineRange): string {
  const all = text.split('\n');
  // What ends with a line break has no further line.
  if (all.length > 1 && all.at(-1) === '') all.pop();
  const shown: string[] = [];
  let left = maxBytes;
  let cut = '';
  for (const line of all.slice(from - 1, from - 1 + lines)) {
    const bytes = Buffer.byteLength(line) + 1;
    if (bytes > left && shown.length > 0) break;
    const number = from + shown.length;
    if (bytes > left)
      cut = `\n[line ${number} is cut: ${maxBytes} of ${bytes} bytes; take parts of it with a command]`;
    shown.push(`${number}\t${bytes > left ? Buffer.from(line).subarray(0, left).toString('utf8') : line}`);
    left -= bytes;
  }
  if (shown.length === 0) return `[there is no line ${from}: the file has ${all.length}]`;
  const last = from - 1 + shown.length;
  const more =
    last < all.length ? `\n[lines ${from} to ${last} of ${all.length}: go on from line ${last + 1}]` : '';
  return shown.join('\n') + cut + more;
}
