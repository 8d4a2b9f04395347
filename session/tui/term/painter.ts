/* What a painter of a terminal does, and how often it draws. */
import type { Clock } from '../../../core/base/clock.ts';
import type { Line } from '../../screen/line.ts';

export interface Cursor {
  readonly row: number;
  readonly column: number;
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** Draws finished lines, which scroll away, and below them a small live region. Writes only what differs. */
export interface Painter {
  /**
   * Prints finished lines above the live region, in one frame with the next `live` of the same turn of the event loop,
   * so that a line never appears twice.
   */
  commit(lines: readonly Line[]): void;
  /**
   * Replaces the live region: at most `rows - 1` lines, cut at the top and at the right. Without a cursor it is
   * hidden.
   */
  live(lines: readonly Line[], cursor?: Cursor): void;
  /** Redraws the live region for a new size. Lines above it do not change. */
  resized(size: Size): void;
  /** Removes the live region and pauses output until `resume`. */
  pause(): void;
  /** Draws the live region below the current line, for a terminal of this size. */
  resume(size: Size): void;
  /** Removes the live region and ends all output. */
  close(): void;
}

/** What one kind of painter does; `W` is what it wants the live region to be. */
interface Surface<W> {
  /** No live region, the cursor at its start. */
  readonly none: W;
  toWanted(lines: readonly Line[], cursor?: Cursor): W;
  draw(finished: readonly Line[], wanted: W): void;
  /** Redraws what is shown, if output is open, and returns what is wanted now. */
  resized(size: Size, wanted: W, isOpen: boolean): W;
  /** Forgets what is shown. */
  restart(size: Size): void;
}

/** A painter over a surface: it collects finished lines for one frame, and draws only while output is open. */
export function openPainterOn<W>(surface: Surface<W>): Painter {
  let finished: Line[] = [];
  let wanted = surface.toWanted([]);
  let state: 'open' | 'paused' | 'closed' = 'open';
  const draw = (now = wanted): void => {
    if (state !== 'open') return;
    const lines = finished;
    finished = [];
    surface.draw(lines, now);
  };
  return {
    commit: (lines) => {
      if (lines.length === 0 || state === 'closed') return;
      finished.push(...lines);
      queueMicrotask(() => {
        if (finished.length > 0) draw();
      });
    },
    live: (lines, cursor) => {
      wanted = surface.toWanted(lines, cursor);
      draw();
    },
    resized: (size) => {
      wanted = surface.resized(size, wanted, state === 'open');
    },
    pause: () => {
      if (state !== 'open') return;
      draw(surface.none);
      state = 'paused';
    },
    resume: (size) => {
      if (state === 'closed') return;
      surface.restart(size);
      state = 'open';
      draw();
    },
    close: () => {
      draw(surface.none);
      state = 'closed';
    },
  };
}

/** Calls what draws, not more often than a person sees. */
interface Frames {
  /**
   * Requests a draw. It runs in this turn of the event loop if the last draw was long enough ago, else when the
   * interval ends.
   */
  ask(): void;
  /** Draws at once: the answer to a key does not wait. */
  now(): void;
  stop(): void;
}

const usualMs = 33;

export function openFrames(clock: Clock, draw: () => void, leastMs = usualMs): Frames {
  const stopped = new AbortController();
  let asked = false;
  let last = Number.NEGATIVE_INFINITY;
  const now = (): void => {
    asked = false;
    if (stopped.signal.aborted) return;
    last = clock.monotonic();
    draw();
  };
  const due = (): void => {
    if (asked) now();
  };
  return {
    ask: () => {
      if (asked) return;
      asked = true;
      const wait = last + leastMs - clock.monotonic();
      if (wait <= 0) queueMicrotask(due);
      else clock.sleep(wait, stopped.signal).then(due, () => {});
    },
    now,
    stop: () => stopped.abort(),
  };
}

/* The keys of a terminal. */

export type Key =
  | { readonly type: 'text'; readonly text: string }
  /**
   * Pasted text. Line ends are `\n`, a tab is four spaces, other control characters are removed. A paste is never a
   * command by itself. `dropped` is the number of octets beyond the limit, if any.
   */
  | { readonly type: 'paste'; readonly text: string; readonly dropped?: number }
  | {
      readonly type: 'key';
      readonly name: KeyName;
      readonly ctrl: boolean;
      readonly alt: boolean;
      readonly shift: boolean;
    };

export type KeyName =
  | 'enter'
  | 'escape'
  | 'tab'
  | 'backspace'
  | 'delete'
  | 'up'
  | 'down'
  | 'left'
  | 'right'
  | 'home'
  | 'end'
  | 'page-up'
  | 'page-down'
  /** With `ctrl` or `alt`: the letter or character. Letters are lower case; `shift` marks an upper-case one. */
  | `char:${string}`;

export interface Modifiers {
  readonly ctrl: boolean;
  readonly alt: boolean;
  readonly shift: boolean;
}

const unmodified: Modifiers = { ctrl: false, alt: false, shift: false };

export function keyOf(name: KeyName, modifiers: Partial<Modifiers> = {}): Key {
  return { type: 'key', name, ...unmodified, ...modifiers };
}

export function charKey(char: string, modifiers: Partial<Modifiers>): Key {
  const small = char.toLowerCase();
  const letter = [...small].length === 1 ? small : char;
  return keyOf(`char:${letter}`, letter === char ? modifiers : { ...modifiers, shift: true });
}

export function controlKey(octet: number): Key | undefined {
  if (octet === 0x0d) return keyOf('enter');
  if (octet === 0x09) return keyOf('tab');
  if (octet === 0x08 || octet === 0x7f) return keyOf('backspace');
  if (octet === 0x1b) return keyOf('escape');
  if (octet === 0x00) return charKey(' ', { ctrl: true });
  // A small letter: Ctrl hides whether Shift was held.
  return octet < 0x20 ? charKey(String.fromCharCode(octet + 0x40).toLowerCase(), { ctrl: true }) : undefined;
}
