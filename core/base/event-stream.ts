/* Parses server-sent events. */
import { WritError } from './errors.ts';

/** One event as it was sent. */
export interface StreamEvent {
  /** `message` if the stream names none. */
  readonly type: string;
  readonly id?: string;
  readonly data: string;
}

export interface ReadEventStreamOptions {
  /** Octets of one event: type, id and data. Default 4 MiB. */
  readonly maxEventBytes?: number;
}

/** Characters that are parsed at once. This bounds the events that wait for the reader. */
const pieceBytes = 64 * 1024;

/**
 * Parses a WHATWG event stream with `eventsource-parser`; chunk boundaries do not matter. Comments are skipped.
 * Invalid UTF-8 becomes U+FFFD. An event without its final blank line at the end of the stream is dropped. If an
 * event is too large, throws EVENT_TOO_LARGE and closes `chunks`.
 */
export async function* readEventStream(
  chunks: AsyncIterable<Uint8Array>,
  { maxEventBytes = 4 * 1024 * 1024 }: ReadEventStreamOptions = {},
): AsyncGenerator<StreamEvent, void, undefined> {
  const { createParser } = await import('eventsource-parser');
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let events: StreamEvent[] = [];
  let tooLarge = false;
  const parser = createParser({
    // Counted in UTF-16 units, of which a text has at most as many as octets.
    maxBufferSize: maxEventBytes,
    onEvent: ({ event: type = '', id, data }) => {
      const bytes = Buffer.byteLength(type) + Buffer.byteLength(id ?? '') + Buffer.byteLength(data);
      tooLarge ||= bytes > maxEventBytes;
      if (!tooLarge) events.push({ type: type || 'message', ...(id === undefined ? {} : { id }), data });
    },
    onError: ({ type }) => {
      tooLarge ||= type === 'max-buffer-size-exceeded';
    },
  });
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += pieceBytes) {
      const text = decoder.decode(chunk.subarray(at, at + pieceBytes), { stream: true });
      // The parser keeps even empty parts of a line.
      if (text !== '') parser.feed(text);
      const found = events;
      events = [];
      yield* found;
      if (tooLarge) {
        throw new WritError('EVENT_TOO_LARGE', {
          message: `expected events of at most ${maxEventBytes} octets, found a larger one`,
          detail: { maxEventBytes },
        });
      }
    }
  }
}
