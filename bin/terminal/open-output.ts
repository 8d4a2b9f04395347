import { fstatSync, statSync, writeSync } from 'node:fs';
import type { WriteStream } from 'node:tty';
import { isReaderGone, openSink, type Sink } from './print.ts';

/** Writes to stdout or stderr, with the properties of its terminal. */
export interface Output extends Sink {
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
