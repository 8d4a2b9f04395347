import { lineCutter } from '../../../tool/line-cutter.ts';

/** What a program may say: characters of one line, lines and octets in all. */
export interface LineBounds {
  readonly maxLineBytes: number;
  readonly maxLines: number;
  readonly maxBytes: number;
}

/** The lines of a stream, without their ends; what has no end is none. Throws `tooMuch` beyond a bound. */
export async function* boundedLines(
  chunks: AsyncIterable<Uint8Array>,
  { maxLineBytes, maxLines, maxBytes }: LineBounds,
  tooMuch: (found: string) => Error,
): AsyncGenerator<string, void, undefined> {
  const cut = lineCutter(maxLineBytes, () => tooMuch(`a line of more than ${maxLineBytes} octets`));
  let all = 0;
  let lines = 0;
  for await (const chunk of chunks) {
    all += chunk.length;
    if (all > maxBytes) throw tooMuch(`more than ${maxBytes} octets`);
    for (const line of cut(chunk)) {
      lines += 1;
      if (lines > maxLines) throw tooMuch(`more than ${maxLines} lines`);
      yield line.toString('utf8');
    }
  }
}
