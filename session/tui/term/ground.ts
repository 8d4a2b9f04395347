import type { Size } from './painter.ts';

/** What ends or stops a program from outside. */
export type EndSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';
export type LifeSignal = EndSignal | 'SIGTSTP' | 'SIGCONT';

/** The process and its terminal, as `openTerminal` needs them. What subscribes answers how to stop that. */
export interface Ground {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isTerminal: { readonly input: boolean; readonly output: boolean };
  /** Keys one by one and unseen, or lines as the system reads them; the latter also where it was so before. */
  raw(on: boolean): void;
  /** Gone when it returns. Where nobody reads any more it is lost, and `onEnd` tells. */
  write(text: string): void;
  /** As it is now; 80 by 24 where the terminal does not say. */
  size(): Size;
  /** Reads as long as it is not stopped: somebody else may read then. */
  onBytes(told: (bytes: Uint8Array) => void): () => void;
  /** No key comes any more, or nobody reads what is written. */
  onEnd(told: () => void): () => void;
  onResize(told: () => void): () => void;
  onSignal(name: LifeSignal, told: () => void): () => void;
  /** The process ends, or has a fault that nobody caught: the last moment for what is to be left in order. */
  onLast(told: () => void): () => void;
  /** Stops the job that this process belongs to, as Ctrl+Z does elsewhere. Nothing where the system has none of it. */
  stop(): void;
}
