/* The life of a terminal: raw mode, suspend, lending to an editor, signals, restoring. */
import type { Clock } from '../../../core/base/clock.ts';
import { openPainter, openPlainPainter } from './open-painter.ts';
import type { Key, Painter, Size } from './painter.ts';
import { type EndSignal, type Ground, type LifeSignal, reflows } from './process-ground.ts';
import { type KeyReader, patienceOf, readKeys } from './read-keys.ts';
import type { Theme } from './row.ts';

/** Why a terminal is not ours any more. */
type Ending = EndSignal | 'end-of-input';

interface Told {
  keys(keys: readonly Key[]): void;
  isAsking?(): boolean;
  /** The live region was redrawn, cut to the new size. */
  resized(size: Size): void;
  ended(why: Ending): void;
}

interface TerminalOptions {
  readonly ground: Ground;
  readonly clock: Clock;
  readonly theme: Theme;
  readonly told: Told;
  readonly isPlain?: boolean;
}

interface Terminal {
  readonly painter: Painter;
  size(): Size;
  suspend(): void;
  /**
   * Lends the terminal to an editor until `use` settles. What is drawn meanwhile appears afterwards. Rejects as `use`
   * does.
   */
  lend<T>(use: () => Promise<T>): Promise<T>;
  /** Shows in the title what the session does, and its progress where the terminal has one (OSC 9;4). */
  title(text: string, isBusy: boolean): void;
  /** Calls a person who looks elsewhere: a bell, and a notification where the terminal has one (OSC 9, OSC 777). */
  call(text: string): void;
  /** Removes the live region and restores the terminal. Idempotent. */
  close(): void;
}

type State = 'ours' | 'lent' | 'stopped' | 'closed';

/** Pasted text comes between marks. */
const enter = '\x1b[?2004h';
/** All that a frame may have left, wherever it was cut off. */
const leave = '\x1b[?2026l\x1b[m\x1b[?7h\x1b[?25h\x1b[?2004l';
/** The title is put away first, and brought back at the end. */
const [keepTitle, bringBack, noProgress] = ['\x1b[22;0t', '\x1b[23;0t', '\x1b]9;4;0\x07'];
/** Text inside of a sequence: nothing in it may end the sequence or begin another. */
const inert = (text: string): string => text.replaceAll(/[\u0000-\u001f\u007f-\u009f;]/gu, ' ').slice(0, 200);
/** Terminals without escape sequences would print them as text. */
const knowsNone = ({ TERM = '' }: Ground['env']): boolean => TERM === 'dumb' || TERM === '';
/** The system does not stop an orphaned job: then it continues at once. */
const notStoppedMs = 200;
/** SIGCONT may arrive this long after a timer of the continued process. */
const toldWithinMs = 50;

/**
 * Opens the terminal of a process, and restores it however the process ends, except by SIGKILL. Check `whyNoTerminal`
 * first.
 */
export function openTerminal({ ground, clock, theme, told, isPlain = false }: TerminalOptions): Terminal {
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
    const reader = readKeys(clock, told.keys, patienceOf(ground.env), () => told.isAsking?.() === true);
    keys = reader;
    stopReading = ground.onBytes((bytes) => reader.feed(bytes));
  };
  let hasTitle = false;
  const say = (sequence: string): void => {
    if (is('ours') && !isPlain && !isMute) ground.write(sequence);
  };
  const dropTitle = (): void => {
    if (hasTitle) say(`${noProgress}${bringBack}`);
    hasTitle = false;
  };
  const give = (to: State): void => {
    dropTitle();
    state = to;
    keys?.stop();
    stopReading();
    if (!isMute) ground.write(leave);
    ground.raw(false);
  };
  const close = (): void => {
    if (is('closed')) return;
    painter.close();
    // A lent terminal is restored already.
    if (is('ours')) give('closed');
    state = 'closed';
    for (const stop of subscribed) stop();
  };
  const end = (why: Ending): void => {
    // SIGINT is for the program that has the terminal.
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
      // A stop signal stops the whole job with the editor; handling it here would leave a process that no `fg`
      // reaches.
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
    title(text, isBusy) {
      if (!hasTitle) say(keepTitle);
      hasTitle = true;
      say(`\x1b]2;${inert(text)}\x07\x1b]9;4;${isBusy ? '3' : '0'}\x07`);
    },
    call: (text) => say(`\x07\x1b]9;${inert(text)}\x07\x1b]777;notify;writ;${inert(text)}\x07`),
    close,
  };
}
