import { lineCutter } from '../../../workspace/process/capture.ts';

/** Output limits of a program: characters per line, number of lines, total bytes. */
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

/** Octets of a stream, in pieces of a wanted size. */
export interface Octets {
  /** Exactly so many; `undefined` where the stream ends before. */
  take(count: number): Promise<Buffer | undefined>;
  /** A line without its end (LF, or CR and LF); `undefined` where none ends in the stream, or within `most`. */
  line(most: number): Promise<string | undefined>;
}

export function octetsOf(chunks: AsyncIterable<Uint8Array>): Octets {
  const iterator = chunks[Symbol.asyncIterator]();
  let held: Buffer[] = [];
  let size = 0;
  const more = async (): Promise<boolean> => {
    const next = await iterator.next();
    if (next.done === true) return false;
    held.push(Buffer.from(next.value));
    size += next.value.length;
    return true;
  };
  const take = async (count: number): Promise<Buffer | undefined> => {
    while (size < count) if (!(await more())) return undefined;
    // Put together once, however many pieces it came in.
    const whole = held.length === 1 ? held[0] : Buffer.concat(held);
    const rest = whole?.subarray(count) ?? Buffer.alloc(0);
    held = [rest];
    size = rest.length;
    return whole?.subarray(0, count) ?? Buffer.alloc(0);
  };
  return {
    take,
    async line(most) {
      const found: number[] = [];
      while (found.length < most) {
        const octet = (await take(1))?.[0];
        if (octet === undefined) return undefined;
        if (octet === 0x0a) return Buffer.from(found).toString('latin1').replace(/\r$/, '');
        found.push(octet);
      }
      return undefined;
    },
  };
}
