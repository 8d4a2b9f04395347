import type { HandAnswer } from '../../core/interfaces/worker.ts';

/** A tool call in the attempt's record: its arguments and outcome, never the content that it read. */
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
  /** Digest of the arguments, without content that must not be kept. */
  readonly argumentsDigest: string;
  /** Digest of the redacted result; absent if the worker's own program made the call. */
  readonly resultDigest?: string;
}

/** The recorded arguments of a call. */
export type KeptArguments = Pick<
  UsedTool,
  'tool' | 'action' | 'path' | 'command' | 'query' | 'argumentsDigest'
>;
