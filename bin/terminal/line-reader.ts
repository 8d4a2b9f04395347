import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

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
