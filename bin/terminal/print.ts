/* Prints to the terminal; escapes all text and applies colours. */
import type { Writable } from 'node:stream';
import { revealHidden } from '../../api/envelope.ts';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Text with a style; like every string, its text is escaped when printed. */
interface Styled {
  readonly style: Style;
  readonly text: string;
}

export type Part = string | Styled;

/** A piece of styled text, for Printer.line. */
export function styled(style: Style, text: string): Styled {
  return { style, text };
}

/**
 * The only way to write to the terminal. Strings are untrusted: every one is escaped; only styles add control
 * sequences.
 */
export interface Printer {
  readonly quiet: boolean;
  /** One line on stdout. */
  line(...parts: readonly Part[]): void;
  /** Several lines on stdout, split at line feeds, each escaped. */
  text(block: string): void;
  /** Rows with aligned columns on stdout. */
  table(rows: readonly (readonly Part[])[]): void;
  /** Bytes on stdout, unchanged. */
  raw(bytes: string | Uint8Array): void;
  /** Writes one line to stderr, except under `--quiet`. */
  note(...parts: readonly Part[]): void;
  /** One line on stderr, always. */
  complain(...parts: readonly Part[]): void;
  /** Resolves when stdout has accepted all output: true while a reader is connected. */
  taken(): Promise<boolean>;
}

/** A stream that survives its reader going away: all else is dropped from then on; any other fault is kept. */
export interface Sink {
  write(chunk: string | Uint8Array): void;
  /** Resolves when everything written has left the process or was dropped. */
  flush(): Promise<void>;
  /** Its reader has gone away, or it failed. */
  readonly closed: boolean;
  readonly failure: Error | undefined;
}

const codes: Readonly<Record<Style, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
};

/**
 * Returns true for write errors after the reader closed. A socket reports ECONNRESET if its reader left data unread.
 */
export function isReaderGone({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EPIPE' || code === 'ECONNRESET';
}

/** Wraps a stream; the first fault ends it. */
export function openSink(stream: Writable): Sink {
  let failure: Error | undefined;
  let closed = false;
  // One error listener serves all flushes; a listener for each call would accumulate.
  const waiting = new Set<() => void>();
  stream.on('error', (fault: NodeJS.ErrnoException) => {
    closed = true;
    if (!isReaderGone(fault)) failure ??= fault;
    for (const resolve of waiting) resolve();
    waiting.clear();
  });
  return {
    write(chunk) {
      if (!closed) stream.write(chunk);
    },
    flush: () =>
      new Promise((resolve) => {
        if (closed || stream.destroyed) return resolve();
        waiting.add(resolve);
        stream.write('', () => {
          waiting.delete(resolve);
          resolve();
        });
      }),
    get closed() {
      return closed;
    },
    get failure() {
      return failure;
    },
  };
}

/** NO_COLOR and `--no-color` win, then FORCE_COLOR, then whether the stream is a terminal that can. */
export function wantsColour(
  env: Readonly<Record<string, string | undefined>>,
  stream: { readonly isTTY?: boolean | undefined },
  refused: boolean,
): boolean {
  if (refused || (env.NO_COLOR ?? '') !== '') return false;
  const forced = env.FORCE_COLOR;
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  return stream.isTTY === true && env.TERM !== 'dumb';
}

/** A printer over two sinks; `colour` per sink. */
export function createPrinter(
  out: Sink,
  err: Sink,
  look: {
    readonly quiet: boolean;
    readonly colourOut: boolean;
    readonly colourErr: boolean;
    /** A runner of GitHub reads what is printed: it takes `##[command]` for a command anywhere in a line. */
    readonly isOnRunner?: boolean;
    /** Called before each line to clear a progress line. */
    readonly before: () => void;
  },
): Printer {
  const render = (parts: readonly Part[], colour: boolean): string => {
    let line = '';
    for (const part of parts) line += renderPart(part, colour);
    return line;
  };
  const put = (sink: Sink, line: string): void =>
    sink.write(`${look.isOnRunner ? line.replaceAll('##[', '## [') : line}\n`);
  return {
    quiet: look.quiet,
    line(...parts) {
      look.before();
      put(out, render(parts, look.colourOut));
    },
    text(block) {
      look.before();
      for (const line of block.replace(/\n$/, '').split('\n'))
        put(out, escapeTerminal(line.replace(/\r$/, '')));
    },
    table(rows) {
      look.before();
      const widths: number[] = [];
      for (const row of rows) {
        row.forEach((cell, column) => {
          widths[column] = Math.max(widths[column] ?? 0, renderPart(cell, false).length);
        });
      }
      for (const row of rows) {
        let line = '';
        row.forEach((cell, column) => {
          const gap =
            column === row.length - 1 ? 0 : (widths[column] ?? 0) - renderPart(cell, false).length + 2;
          line += renderPart(cell, look.colourOut) + ' '.repeat(gap);
        });
        put(out, line.trimEnd());
      }
    },
    raw(bytes) {
      look.before();
      out.write(bytes);
    },
    note(...parts) {
      if (look.quiet) return;
      look.before();
      put(err, render(parts, look.colourErr));
    },
    complain(...parts) {
      look.before();
      put(err, render(parts, look.colourErr));
    },
    async taken() {
      await out.flush();
      return !out.closed;
    },
  };
}

function renderPart(part: Part, colour: boolean): string {
  if (typeof part === 'string') return escapeTerminal(part);
  const text = escapeTerminal(part.text);
  const [on, off] = codes[part.style];
  return colour ? `\x1b[${on}m${text}\x1b[${off}m` : text;
}

const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\x1b': '\\e' };

/**
 * Untrusted text for one terminal line: what could move the cursor, recolour, reorder or hide text is shown as an
 * escape.
 */
export function escapeTerminal(text: string): string {
  return revealHidden(text, (found, code) => named[found] ?? `\\u{${code}}`);
}

/** East Asian wide and emoji: two columns. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
/** Marks on the character before: none. */
const joined = /\p{Mn}|\p{Me}/u;

/** Columns that printable text uses on a terminal. */
export function cellWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const char of text) width += widthOf(char);
  return width;
}

/** At most so many columns of the text; what is cut off ends in `…`. */
export function clipCells(text: string, most: number): string {
  if (cellWidth(text) <= most) return text;
  let [kept, width] = ['', 0];
  for (const char of text) {
    width += widthOf(char);
    if (width > most - 1) break;
    kept += char;
  }
  return most < 1 ? '' : `${kept}…`;
}

function widthOf(char: string): number {
  if (joined.test(char)) return 0;
  return wide.test(char) ? 2 : 1;
}
