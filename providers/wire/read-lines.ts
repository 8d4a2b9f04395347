import { WritError } from '../../core/base/errors.ts';

/**
 * Lines of text, however its octets are cut, the last one with or without its end. INPUT_TOO_LARGE for a longer line.
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8');
  let parts: string[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    const [first = '', ...rest] = decoder.decode(chunk, { stream: true }).split('\n');
    parts.push(first);
    size += first.length;
    for (const next of rest) {
      yield parts.join('');
      parts = [next];
      size = next.length;
    }
    if (size > maxBytes)
      throw new WritError('INPUT_TOO_LARGE', {
        message: `expected lines of at most ${maxBytes} characters, found a longer one`,
        detail: { maxBytes },
      });
  }
  const last = parts.join('') + decoder.decode();
  if (last !== '') yield last;
}
