/* Opens the output streams and the prompt of the terminal. */
import { fstatSync, statSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { WriteStream } from 'node:tty';
import { isReaderGone, openSink, type Printer, type Sink } from './print.ts';

/** Writes to stdout or stderr, with the properties of its terminal. */
interface Output extends Sink {
  readonly isTTY: boolean;
  readonly columns: number | undefined;
}

/** Capacity of an empty pipe in bytes; a larger write may block until the reader reads. */
const pipeBytes = 64 * 1024;

/**
 * Opens a sink on a file descriptor of this process. Writes synchronously if that cannot block: to a file, to
 * `/dev/null`, and the first 64 KiB to a pipe. `stream` is called only for all other output, because it loads Node's
 * stream modules, which costs a tenth of Node's start.
 */
export function openOutput(descriptor: number, stream: () => WriteStream): Output {
  let room = roomAtOnce(descriptor);
  let closed = false;
  let failure: Error | undefined;
  let streamed: Sink | undefined;
  const isTerminal = room === 0 && stream().isTTY === true;
  return {
    isTTY: isTerminal,
    get columns() {
      return isTerminal ? stream().columns : undefined;
    },
    write(chunk) {
      if (closed) return;
      let rest = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      try {
        while (streamed === undefined && rest.length > 0 && rest.length <= room) {
          const written = writeSync(descriptor, rest);
          room -= written;
          rest = rest.subarray(written);
        }
      } catch (fault) {
        const found = fault as NodeJS.ErrnoException;
        if (found.code !== 'EAGAIN') {
          closed = true;
          if (!isReaderGone(found)) failure = found;
          return;
        }
      }
      if (rest.length === 0) return;
      streamed ??= openSink(stream());
      streamed.write(rest);
    },
    flush: async () => streamed?.flush(),
    get closed() {
      return closed || streamed?.closed === true;
    },
    get failure() {
      return failure ?? streamed?.failure;
    },
  };
}

/** How many bytes are written without waiting for anybody; none where only Node's stream knows. */
function roomAtOnce(descriptor: number): number {
  try {
    const stats = fstatSync(descriptor);
    if (stats.isFIFO() || stats.isSocket()) return pipeBytes;
    if (stats.isFile()) return Number.POSITIVE_INFINITY;
    return stats.isCharacterDevice() && stats.rdev === statSync('/dev/null').rdev
      ? Number.POSITIVE_INFINITY
      : 0;
  } catch {
    return 0;
  }
}

/** Lines that a person types, one question at a time. */
export interface LineReader extends Disposable {
  /** The next line without its end; `undefined` where there is none any more. Rejects with the signal's reason. */
  next(): Promise<string | undefined>;
}

const maxLine = 8000;

/** Reads lines of a stream until it is disposed or the signal aborts. */
export function openLines(stdin: Readable, signal: AbortSignal): LineReader {
  const reader = createInterface({ input: stdin, terminal: false });
  const lines = reader[Symbol.asyncIterator]();
  const close = (): void => reader.close();
  signal.addEventListener('abort', close, { once: true });
  return {
    async next() {
      signal.throwIfAborted();
      const { value, done } = await lines.next();
      signal.throwIfAborted();
      return done === true ? undefined : String(value).slice(0, maxLine);
    },
    [Symbol.dispose]() {
      signal.removeEventListener('abort', close);
      reader.close();
    },
  };
}

/** Asks a person once; only `yes` and `y` are yes. */
export async function askYes(
  {
    print,
    stdin,
    signal,
  }: { readonly print: Printer; readonly stdin: Readable; readonly signal: AbortSignal },
  question: string,
): Promise<boolean> {
  using lines = openLines(stdin, signal);
  print.complain(`${question} yes or no`);
  return /^y(?:es)?$/i.test((await lines.next())?.trim() ?? '');
}
