import type { HandAnswer } from '../../core/interfaces/worker.ts';

/** A use of a tool as the attempt's record holds it: what was asked and what came of it, never what was read. */
export interface UsedTool {
  readonly tool: string;
  readonly action: string;
  readonly path?: string;
  readonly command?: string;
  /** Query or address. */
  readonly query?: string;
  /** `unknown`: its process was killed before its end. */
  readonly outcome: HandAnswer['outcome'] | 'unknown';
  /** Rule that denied it. */
  readonly refusal?: string;
  readonly exitCode?: number;
  readonly durationMs: number;
  /** RFC 3339. */
  readonly startedAt: string;
  /** Of what was asked for, without what may not be kept. */
  readonly argumentsDigest: string;
  /** Of what was handed on, likewise; absent where a program of the worker's own did it. */
  readonly resultDigest?: string;
}

/** What it holds of what was asked. */
export type KeptArguments = Pick<
  UsedTool,
  'tool' | 'action' | 'path' | 'command' | 'query' | 'argumentsDigest'
>;
