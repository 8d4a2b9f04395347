/** One event, ready to be sent to everybody. */
export interface FrameParts {
  /** Any text; what could end a line becomes U+FFFD, so that no name can be mistaken for another one. */
  readonly type: string;
  readonly id: number;
  /** JSON text; what could end a line in it is escaped, which leaves its value as it is. */
  readonly data: string;
}

/** A comment: it keeps a connection in use and is no event. */
export const commentFrame: Uint8Array = Buffer.from(':\n\n');

/**
 * An event in the form of the WHATWG event stream, as bytes. Nothing in `type` or `data` can end its line: not for a
 * client that knows CR and LF only, as the standard says, and not for one that also splits at U+0085, U+2028 or a
 * control character.
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
