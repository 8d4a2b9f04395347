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
  let parts: Uint8Array[] = [];
  let size = 0;
  let all = 0;
  let lines = 0;
  for await (const chunk of chunks) {
    all += chunk.length;
    if (all > maxBytes) throw tooMuch(`more than ${maxBytes} octets`);
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      parts.push(chunk.subarray(from, end));
      size += end - from;
      from = end + 1;
      if (size > maxLineBytes) break;
      lines += 1;
      if (lines > maxLines) throw tooMuch(`more than ${maxLines} lines`);
      const line = Buffer.concat(parts).toString('utf8');
      parts = [];
      size = 0;
      yield line;
    }
    parts.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > maxLineBytes) throw tooMuch(`a line of more than ${maxLineBytes} octets`);
  }
}
