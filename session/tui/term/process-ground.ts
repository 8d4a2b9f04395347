/* The process and its terminal, and what kind of terminal it is. */
import type { Size } from './painter.ts';

export type EndSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';
export type LifeSignal = EndSignal | 'SIGTSTP' | 'SIGCONT';

/** The process and its terminal. Each `on…` returns a function that unsubscribes. */
export interface Ground {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isTerminal: { readonly input: boolean; readonly output: boolean };
  /** Keys one by one and unseen, or lines as the system reads them; the latter also where it was so before. */
  raw(on: boolean): void;
  /** Synchronous. Lost if the reader is gone; then `onEnd` is called. */
  write(text: string): void;
  size(): Size;
  onBytes(listener: (bytes: Uint8Array) => void): () => void;
  onEnd(listener: () => void): () => void;
  onResize(listener: () => void): () => void;
  onSignal(name: LifeSignal, listener: () => void): () => void;
  /** Called when the process ends or has an uncaught fault: the last moment to restore the terminal. */
  onLast(listener: () => void): () => void;
  /** Suspends the job of this process, as Ctrl+Z does elsewhere. Does nothing if the system has no job control. */
  stop(): void;
}

export function processGround(): Ground {
  const { stdin, stdout } = process;
  const hasJobs = process.platform !== 'win32';
  return {
    env: process.env,
    isTerminal: { input: stdin.isTTY === true, output: stdout.isTTY === true },
    raw: (on) => {
      try {
        // Another program may have changed the mode, and Node skips a mode that it believes to be set.
        stdin.setRawMode(!on);
        stdin.setRawMode(on);
      } catch {
        // The terminal is gone; `onEnd` is called.
      }
    },
    write: (text) => {
      if (stdout.writable) stdout.write(text);
    },
    size: () => {
      refreshSize(stdout);
      return { columns: stdout.columns || 80, rows: stdout.rows || 24 };
    },
    onBytes: (listener) => {
      stdin.on('data', listener);
      stdin.resume();
      return () => {
        stdin.off('data', listener);
        stdin.pause();
      };
    },
    onEnd: (listener) => {
      stdin.on('end', listener).on('close', listener).on('error', listener);
      stdout.on('error', listener);
      return () => {
        stdin.off('end', listener).off('close', listener);
        // Errors of a terminal that is gone are ignored.
        stdin.off('error', listener).on('error', ignore);
        stdout.off('error', listener).on('error', ignore);
      };
    },
    onResize: (listener) => {
      stdout.on('resize', listener);
      return () => stdout.off('resize', listener);
    },
    onSignal: (name, listener) => {
      if (!hasJobs && (name === 'SIGTSTP' || name === 'SIGCONT')) return ignore;
      process.on(name, listener);
      return () => process.off(name, listener);
    },
    onLast: (listener) => {
      process.on('exit', listener).on('uncaughtExceptionMonitor', listener);
      return () => process.off('exit', listener).off('uncaughtExceptionMonitor', listener);
    },
    stop: () => {
      if (hasJobs) process.kill(0, 'SIGTSTP');
    },
  };
}

function ignore(): void {}

/** Node reads the size on SIGWINCH, which a stopped process does not get. */
function refreshSize(stdout: NodeJS.WriteStream): void {
  if ('_refreshSize' in stdout && typeof stdout._refreshSize === 'function') stdout._refreshSize();
}

/** Why no screen can be drawn here; undefined if it can. Plain output (`isPlain`) needs only a terminal. */
export function whyNoTerminal(
  { env, isTerminal }: Pick<Ground, 'env' | 'isTerminal'>,
  isPlain = false,
): string | undefined {
  if (!isTerminal.input) return 'standard input is no terminal';
  if (!isTerminal.output) return 'standard output is no terminal';
  if (isPlain) return undefined;
  const term = env.TERM ?? '';
  if (term === 'dumb') return 'the terminal cannot move its cursor (TERM is `dumb`): `--plain` appends lines';
  return term === '' && env.WT_SESSION === undefined
    ? 'the terminal does not say what it is (TERM is empty): `--plain` appends lines'
    : undefined;
}

/** Whether the terminal wraps rows again when it becomes narrower. The Linux console, xterm and `screen` cut them. */
export function reflows(env: Readonly<Record<string, string | undefined>>): boolean {
  const term = env.TERM ?? '';
  if (env.TMUX !== undefined && env.TMUX !== '') return true;
  return term !== 'linux' && !/^screen\b/.test(term) && (env.XTERM_VERSION ?? '') === '';
}
