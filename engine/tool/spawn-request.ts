import type { SandboxRequest, SandboxResult } from '../../core/contract/sandbox.ts';

/** One process to run to its end. No shell unless `argv` names one; nothing of our environment is inherited. */
export interface SpawnRequest {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin?: Uint8Array;
  readonly talk?: SandboxRequest['talk'];
  readonly heard?: SandboxRequest['heard'];
  /** Absent: no deadline. */
  readonly timeoutMs?: number;
  /** Bytes kept of each stream; see BoundedCapture. */
  readonly maxOutputBytes: number;
  readonly signal?: AbortSignal;
  /** Own session and process group, which is ended as a whole when the leader exits. */
  readonly processGroup?: boolean;
  /** How a deadline or abort ends the process; default: SIGKILL to it, or to its group. */
  readonly terminate?: (pid: number) => void;
  /** Opens descriptor 3: its first byte says that what comes before the command is done; a line answers it. */
  readonly announces?: boolean;
  /** Told when the byte came, before it is answered; without `announces`, when the process has started. */
  readonly onReady?: (pid: number) => void;
  /** Descriptors of ours that it gets as 4, 5, … (from 3 without `announces`); ours again when the call returns. */
  readonly passed?: readonly number[];
}

export interface SpawnResult extends SandboxResult {
  /** With `announces`: whether the byte came. Else true. */
  readonly announced: boolean;
}
