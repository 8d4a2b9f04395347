/** Position in a stream: counts from its beginning. */
export interface StreamPosition {
  readonly slices: number;
  readonly events: number;
  readonly bytes: number;
}

/** Some events, one after the other, in one buffer that all subscribers share. */
interface EventSlice {
  readonly bytes: Uint8Array;
  readonly events: number;
  /** Where the stream is behind it. */
  readonly end: StreamPosition;
}

/** What was published and is not yet with everybody. */
export interface EventLog {
  /** Behind the last slice. */
  readonly end: StreamPosition;
  /** Of the last event in a slice; 0 before the first. */
  readonly lastSeq: number;
  /** Events that are in no slice yet. */
  readonly openEvents: number;
  readonly openBytes: number;
  /** Octets of the slices that are held. */
  readonly heldBytes: number;
  append(seq: number, frame: Uint8Array): void;
  /** Makes the open events a slice. */
  seal(): void;
  /** The slice that follows `position`; undefined at the end. */
  after(position: StreamPosition): EventSlice | undefined;
  /** Lets go of the slices before number `slices`. */
  trim(slices: number): void;
}

/** Creates an empty log. It holds each event once, however many subscribers still need it. */
export function createEventLog(): EventLog {
  let slices: EventSlice[] = [];
  let dropped = 0;
  let frames: Uint8Array[] = [];
  let openBytes = 0;
  let openSeq = 0;
  let lastSeq = 0;
  let end: StreamPosition = { slices: 0, events: 0, bytes: 0 };
  return {
    get end() {
      return end;
    },
    get lastSeq() {
      return lastSeq;
    },
    get openEvents() {
      return frames.length;
    },
    get openBytes() {
      return openBytes;
    },
    get heldBytes() {
      return end.bytes - (slices[0] === undefined ? end.bytes : startOf(slices[0]));
    },
    append: (seq, frame) => {
      frames.push(frame);
      openBytes += frame.length;
      openSeq = seq;
    },
    seal: () => {
      if (frames.length === 0) return;
      const [only] = frames;
      const bytes = frames.length === 1 && only !== undefined ? only : Buffer.concat(frames, openBytes);
      end = {
        slices: end.slices + 1,
        events: end.events + frames.length,
        bytes: end.bytes + openBytes,
      };
      slices.push({ bytes, events: frames.length, end });
      lastSeq = openSeq;
      frames = [];
      openBytes = 0;
    },
    after: (position) => slices[position.slices - dropped],
    trim: (before) => {
      if (before <= dropped) return;
      slices = slices.slice(before - dropped);
      dropped = before;
    },
  };
}

function startOf({ bytes, end }: EventSlice): number {
  return end.bytes - bytes.length;
}

/** One event, ready to be sent to everybody. */
interface FrameParts {
  /** Any text; what could end a line becomes U+FFFD, so that no name can be mistaken for another one. */
  readonly type: string;
  readonly id: number;
  /** JSON text; what could end a line in it is escaped, which leaves its value as it is. */
  readonly data: string;
}

/** A comment, not an event. It keeps a connection alive. */
export const commentFrame: Uint8Array = Buffer.from(':\n\n');

/**
 * Formats an event for the WHATWG event stream, as bytes. No character in `type` or `data` can end its line. That
 * also holds for a client that splits at U+0085, U+2028 or a control character, not only at the standard's CR and LF.
 */
export function toFrame({ type, id, data }: FrameParts): Buffer {
  return Buffer.from(
    `event: ${type.replace(lineEnders, '\uFFFD')}\nid: ${id}\ndata: ${data.replace(jsonLineEnders, escaped)}\n\n`,
  );
}

const lineEnders = /[\u0000-\u001F\u007F-\u009F\u2028\u2029]/g;
/** JSON has CR and LF only between its tokens, and the others only within strings. */
const jsonLineEnders = /[\r\n\u0085\u2028\u2029]/g;

function escaped(char: string): string {
  return char === '\r' || char === '\n' ? ' ' : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
