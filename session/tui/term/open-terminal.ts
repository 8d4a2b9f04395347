import type { Clock } from '../../../core/base/clock.ts';
import type { Line } from '../../screen/line.ts';
import { encodeLine } from './encode-line.ts';
import type { EndSignal, Ground, LifeSignal } from './ground.ts';
import type { Key } from './key.ts';
import { openPainter, type PainterOptions } from './open-painter.ts';
import type { Painter, Size } from './painter.ts';
import { type KeyReader, type Patience, patienceOf, readKeys } from './read-keys.ts';
import { reflows } from './reflows.ts';
import { columnsOf, cutRow, type Row, sameCell, toRow } from './row.ts';
import type { Theme } from './theme.ts';
import { wrapLine } from './wrap-line.ts';

/** Why a terminal is not ours any more. */
type Ending = EndSignal | 'end-of-input';

export interface Told {
  /** What a person did, in order. */
  keys(keys: readonly Key[]): void;
  /** Whether a letter may answer a question; absent: never. */
  isAsking?(): boolean;
  /** The live region was drawn anew, cut to the new size; whoever has laid it out may do so again. */
  resized(size: Size): void;
  /** The terminal is as it was found; nothing comes from it any more. The process goes on. */
  ended(why: Ending): void;
}

export interface TerminalOptions {
  readonly ground: Ground;
  readonly clock: Clock;
  readonly theme: Theme;
  readonly told: Told;
  readonly patience?: Patience;
  /** Lines are appended, and nothing is drawn anew but what is typed. */
  readonly isPlain?: boolean;
}

/** A terminal that is ours: keys come one by one, and its last rows are drawn. */
export interface Terminal {
  readonly painter: Painter;
  size(): Size;
  /** Ctrl+Z: the terminal is as it was found while the job is stopped, and ours again when it goes on. */
  suspend(): void;
  /**
   * Hands the terminal to somebody else, an editor, until what `use` answers has settled. Whatever is drawn meanwhile
   * stands there afterwards. Rejects as `use` does.
   */
  lend<T>(use: () => Promise<T>): Promise<T>;
  /** Takes the live region away and leaves the terminal as it was found. Any number of times. */
  close(): void;
}

type State = 'ours' | 'lent' | 'stopped' | 'closed';

/** Pasted text comes between marks. */
const enter = '\x1b[?2004h';
/** All that a frame may have left, wherever it was cut off. */
const leave = '\x1b[?2026l\x1b[m\x1b[?7h\x1b[?25h\x1b[?2004l';
/** Terminals that say nothing of themselves, or that they know no sequences: those would stand there as signs. */
const knowsNone = ({ TERM = '' }: Ground['env']): boolean => TERM === 'dumb' || TERM === '';
/** A job that nobody can go on with is not stopped by the system: then it goes on at once. */
const notStoppedMs = 200;
/** What continues a job is told within that time after a timer of it. */
const toldWithinMs = 50;

/**
 * Takes the terminal of a process. However the process ends, but by SIGKILL, the terminal is left as it was found.
 * Ask `whyNoTerminal` first.
 */
export function openTerminal({
  ground,
  clock,
  theme,
  told,
  patience = patienceOf(ground.env),
  isPlain = false,
}: TerminalOptions): Terminal {
  let state: State = 'closed';
  const is = (one: State): boolean => state === one;
  let keys: KeyReader | undefined;
  let stopReading = (): void => {};
  const own = { write: (text: string) => ground.write(text), size: ground.size(), theme };
  const isMute = isPlain && knowsNone(ground.env);
  const painter = isPlain ? openPlainPainter(own) : openPainter({ ...own, reflows: reflows(ground.env) });

  const take = (): void => {
    state = 'ours';
    ground.raw(true);
    if (!isMute) ground.write(enter);
    const reader = readKeys(clock, told.keys, patience, () => told.isAsking?.() === true);
    keys = reader;
    stopReading = ground.onBytes((bytes) => reader.feed(bytes));
  };
  const give = (to: State): void => {
    state = to;
    keys?.stop();
    stopReading();
    if (!isMute) ground.write(leave);
    ground.raw(false);
  };
  const close = (): void => {
    if (is('closed')) return;
    painter.close();
    // While somebody else has it, it is as it was found already.
    if (is('ours')) give('closed');
    state = 'closed';
    for (const stop of subscribed) stop();
  };
  const end = (why: Ending): void => {
    // Whoever has the terminal is who was interrupted.
    if (is('closed') || (is('lent') && why === 'SIGINT')) return;
    close();
    told.ended(why);
  };
  const suspend = (): void => {
    if (!is('ours')) return;
    painter.pause();
    give('stopped');
    // Without this one the signal would come back here in place of stopping the process.
    unlisten();
    ground.stop();
    void clock
      .sleep(notStoppedMs)
      .then(() => clock.sleep(toldWithinMs))
      .then(() => {
        if (is('stopped')) goOn();
      });
  };
  const goOn = (): void => {
    if (is('lent') || is('closed')) return;
    if (is('stopped')) unlisten = on('SIGTSTP', suspend);
    // By SIGSTOP a job is stopped unasked, and a shell sets the terminal and writes as it likes.
    keys?.stop();
    stopReading();
    takeBack();
  };
  const takeBack = (): void => {
    take();
    painter.resume(ground.size());
    told.resized(ground.size());
  };
  const on = (name: LifeSignal, act: () => void): (() => void) => ground.onSignal(name, act);

  take();
  let unlisten = on('SIGTSTP', suspend);
  const subscribed: readonly (() => void)[] = [
    on('SIGCONT', goOn),
    on('SIGINT', () => end('SIGINT')),
    on('SIGTERM', () => end('SIGTERM')),
    on('SIGHUP', () => end('SIGHUP')),
    ground.onEnd(() => end('end-of-input')),
    ground.onLast(close),
    ground.onResize(() => {
      if (!is('ours')) return;
      painter.resized(ground.size());
      told.resized(ground.size());
    }),
    () => unlisten(),
  ];
  return {
    painter,
    size: () => ground.size(),
    suspend,
    lend: async (use) => {
      if (!is('ours')) return use();
      painter.pause();
      give('lent');
      // What stops an editor stops all of its job: whoever stayed would wait for it, and nobody could type `fg`.
      unlisten();
      try {
        return await use();
      } finally {
        if (is('lent')) {
          unlisten = on('SIGTSTP', suspend);
          takeBack();
        }
      }
    },
    close,
  };
}

/**
 * A painter for a screen reader, and for whatever reads a terminal as a text: it appends lines, and writes nothing anew
 * but the line that is typed, which is the last of the live region. On that line it goes back by Backspace and by the
 * return of the carriage; no sequence moves the cursor.
 */
export function openPlainPainter({ write, theme, ...options }: Omit<PainterOptions, 'reflows'>): Painter {
  let { size } = options;
  const finished: Line[] = [];
  let wanted: { readonly row: Row; readonly column: number } = { row: [], column: 0 };
  let shown: { readonly row: Row; readonly column: number } = wanted;
  let state: 'open' | 'paused' | 'closed' = 'open';

  const draw = (): void => {
    if (state !== 'open') return;
    const lines = finished.splice(0);
    const said = lines.flatMap((line) => wrapLine(line, size.columns)).map((line) => encodeLine(line, theme));
    const before = lines.length === 0 ? shown : { row: [], column: 0 };
    const told =
      lines.length === 0 ? '' : typedAnew(shown, before) + said.map((line) => `${line}\r\n`).join('');
    const text = told + typedAnew(before, wanted);
    shown = wanted;
    if (text !== '') write(text);
  };
  const leave = (): void => {
    const last = wanted;
    wanted = { row: [], column: 0 };
    draw();
    wanted = last;
  };
  return {
    commit(lines) {
      if (lines.length === 0 || state === 'closed') return;
      finished.push(...lines);
      queueMicrotask(() => {
        if (finished.length > 0) draw();
      });
    },
    live(lines, cursor) {
      // A row that is full would be broken by the terminal, and nothing leads back over that.
      const row = cutRow(toRow(lines.at(-1) ?? [], theme), size.columns - 1);
      wanted = { row, column: Math.min(cursor?.column ?? columnsOf(row), size.columns - 1) };
      draw();
    },
    resized(to: Size) {
      size = to;
      if (state !== 'open' || shown.row.length === 0) return;
      // Nobody knows how the terminal broke what was typed: it is written on a line of its own.
      write('\r\n');
      shown = { row: [], column: 0 };
      wanted = {
        row: cutRow(wanted.row, size.columns - 1),
        column: Math.min(wanted.column, size.columns - 1),
      };
      draw();
    },
    pause() {
      if (state !== 'open') return;
      leave();
      state = 'paused';
    },
    resume(to) {
      if (state === 'closed') return;
      size = to;
      shown = { row: [], column: 0 };
      state = 'open';
      draw();
    },
    close() {
      if (state === 'open') leave();
      state = 'closed';
    },
  };
}

/** Makes one typed line another, the cursor where it belongs: what is added at the end is all that is written. */
function typedAnew(
  from: { readonly row: Row; readonly column: number },
  to: { readonly row: Row; readonly column: number },
): string {
  let same = 0;
  while (same < to.row.length && same < from.row.length && sameCell(from.row[same], to.row[same])) same += 1;
  const isLoose = [...from.row, ...to.row].some(({ loose }) => loose);
  const isSame = same === to.row.length && same === from.row.length;
  if (isSame && from.column === to.column) return '';
  // Of what terminals draw in as many columns as they like nobody goes back step by step.
  const start = isLoose ? 0 : columnsOf(to.row, same);
  const first = isLoose ? 0 : same;
  const [width, before] = [columnsOf(to.row), columnsOf(from.row)];
  const there = isLoose ? '\r' : step(from, start);
  const rest = to.row
    .slice(first)
    .map(({ text }) => text)
    .join('');
  const over = Math.max(0, before - width) + (isLoose ? before : 0);
  const written = there + rest + ' '.repeat(over) + '\b'.repeat(over);
  const blanks = Math.max(0, to.column - width);
  if (isLoose && to.column < width) return `${written}\r${cells(to.row, to.column)}`;
  return written + ' '.repeat(blanks) + '\b'.repeat(Math.max(0, width - to.column));
}

/** From the cursor of a row to a column of it: back, or on over what stands there. */
function step({ row, column }: { readonly row: Row; readonly column: number }, to: number): string {
  if (to <= column) return to === 0 && column > 0 ? '\r' : '\b'.repeat(column - to);
  return cells(row, to).slice(cells(row, column).length);
}

/** The text of a row up to a column. */
function cells(row: Row, to: number): string {
  let [used, text] = [0, ''];
  for (const cell of row) {
    if (used >= to) break;
    used += cell.width;
    text += cell.text;
  }
  return text;
}
