/** Descriptors of the small process. */
export const orders = 3;
export const answers = 4;

/** One program to run; its standard input is a part of the frame, or empty without one. */
export interface Order {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly maxBuffer: number;
}

/** What came of it; its streams are the parts of the frame. */
export interface Answer {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Where it could not be started, or said too much. */
  readonly code?: string;
}
