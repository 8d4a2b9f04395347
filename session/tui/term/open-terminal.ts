import type { Clock } from '../../../core/base/clock.ts';
import type { EndSignal, Ground, LifeSignal } from './ground.ts';
import type { Key } from './key.ts';
import { openPainter } from './open-painter.ts';
import { openPlainPainter } from './open-plain-painter.ts';
import type { Painter, Size } from './painter.ts';
import { type KeyReader, type Patience, patienceOf, readKeys } from './read-keys.ts';
import { reflows } from './reflows.ts';
import type { Theme } from './theme.ts';

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
