const fields = ['data', 'event', 'id', 'retry'];

/**
 * Keeps what comes in the place of events: a page, or JSON that a server labels as a stream. `event` is called for each
 * event that is read.
 */
export function strayText(maxBytes: number): {
  tap(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array>;
  event(): void;
  /** The lines since the last event that are no part of one. */
  text(): string;
} {
  let kept: Buffer[] = [];
  let size = 0;
  const keep = (piece: Buffer): void => {
    if (size < maxBytes) kept.push(piece.subarray(0, maxBytes - size));
    size += piece.length;
  };
  let last = Buffer.alloc(0);
  let isCut = false;
  return {
    async *tap(body) {
      for await (const piece of body) {
        last = Buffer.from(piece);
        isCut = false;
        keep(last);
        yield piece;
      }
    },
    event() {
      // Of all events in one piece, the last one counts.
      if (isCut) return;
      isCut = true;
      const ends = ['\n\n', '\r\n\r\n', '\r\r'].map((end) => [last.lastIndexOf(end), end.length] as const);
      const [at, length] = ends.reduce((one, other) => (other[0] > one[0] ? other : one));
      kept = [];
      size = 0;
      keep(at === -1 ? last : last.subarray(at + length));
    },
    text: () =>
      Buffer.concat(kept)
        .toString('utf8')
        .split(/\r\n|\n|\r/)
        .filter((line) => !line.startsWith(':') && !isOfEvent(line))
        .join('\n')
        .trim(),
  };
}

/** The last line may be cut within the name of its field. */
function isOfEvent(line: string): boolean {
  return fields.some((field) => line.startsWith(`${field}:`) || field.startsWith(line));
}
