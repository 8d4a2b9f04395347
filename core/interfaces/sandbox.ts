import type { Readable, Writable } from 'node:stream';

/** Where every sandbox shows the workspace. */
export const workspaceInside = '/workspace';

/** A directory made visible inside the sandbox. */
export interface SandboxBind {
  readonly source: string;
  /** Absolute path inside. */
  readonly target: string;
  readonly writable: boolean;
}

/** Standard input and output of a process that is talked with. */
export interface SandboxPipes {
  /** What is written before the process has started is kept for it; bytes for one that has gone are lost. */
  readonly input: Writable;
  readonly output: Readable;
}

/** An own network namespace with one way out: the egress proxy that listens on the socket in this host directory. */
export interface SandboxEgress {
  /** Holds the socket and nothing else; see workspace/egress/open-egress.ts. */
  readonly way: string;
}

/** One process to run. There is no shell unless `argv` names one. */
export interface SandboxRequest {
  readonly argv: readonly string[];
  /** Host directory that becomes the writable workspace and the working directory. */
  readonly workspace: string;
  /** Host directory that the process may write its reports to. */
  readonly reports: string;
  /** Further binds, e.g. shared dependencies (read-only). Targets may lie inside the workspace. */
  readonly binds: readonly SandboxBind[];
  /**
   * Host directories of programs that come first on PATH, at the same place inside, read-only, with what of an
   * installation stands beside them (`lib`, `share` …).
   */
  readonly tools?: readonly string[];
  /** Programs that no path leads to: `stub` of the host directory `stubs` stands where they were. */
  readonly withheld?: { readonly stubs: string; readonly stub: string; isWithheld(name: string): boolean };
  /** The child's whole environment; PATH, HOME and TMPDIR are added by the back end. */
  readonly env: Readonly<Record<string, string>>;
  /** `none`: an own network namespace with nothing in it. `host` is for the `none` back end, which has nothing else. */
  readonly network: 'none' | 'host' | SandboxEgress;
  /**
   * No process may look into another of its user or steer it: `ptrace` and the calls like it are refused to all of
   * them. `none`, where nothing that works by itself is let loose, cannot.
   */
  readonly untraced?: true;
  /**
   * New file, outside the sandbox, that a tracer writes the calls on files to (`readers/trace`). Absent: nobody traces.
   * A traced command may behave otherwise: it gives no verdict.
   */
  readonly traceTo?: string;
  readonly timeoutMs: number;
  /** Bytes kept of each output stream, half of them the first and half the last; the rest is counted and dropped. */
  readonly maxOutputBytes: number;
  /** Bytes that all its processes and memory file systems may hold together. Absent: 4 GiB. */
  readonly maxMemoryBytes?: number;
  readonly stdin?: Uint8Array;
  /**
   * Handed both pipes at once, instead of `stdin`: then of standard output nothing is captured, and whoever talks reads
   * it to its end.
   */
  readonly talk?: (pipes: SandboxPipes) => void;
  /**
   * Told of both streams as they come, in order of arrival, whatever of them is kept. A back end that cannot does not:
   * all of it stands in the result.
   */
  readonly heard?: (chunk: Uint8Array) => void;
  readonly signal?: AbortSignal;
}

/** Bounded capture of one stream. */
export interface CapturedOutput {
  readonly bytes: Buffer;
  readonly totalBytes: number;
  readonly truncated: boolean;
}

/** A limit of a sandbox, and what was found: bytes, or processes and threads. */
export interface ExceededLimit {
  readonly what: 'memory' | 'processes';
  readonly limit: number;
  readonly found: number;
}

export interface SandboxResult {
  /** Absent when a signal ended it. */
  readonly exitCode?: number;
  readonly signal?: string;
  readonly timedOut: boolean;
  readonly aborted: boolean;
  /** It was ended because it held more than it may: the machine's limit, no verdict on the command. */
  readonly exceeded?: ExceededLimit;
  readonly durationMs: number;
  readonly stdout: CapturedOutput;
  readonly stderr: CapturedOutput;
  /** Both streams in order of arrival, bounded likewise. */
  readonly combined: CapturedOutput;
}

/** An operating-system sandbox (slot `sandbox`). `run` resolves only when every descendant is gone. */
export interface SandboxBackend {
  readonly name: string;
  /** Present for one that holds nothing back: picked by its name alone; its checks have the network of this machine. */
  readonly unconfined?: true;
  /** Where the workspace and the reports directory appear inside. */
  pathsInside(request: Pick<SandboxRequest, 'workspace' | 'reports'>): { workspace: string; reports: string };
  /** Probed by behaviour (forbidden write, remount, connect, socket in /run, read of ~/.ssh), once per process. */
  probe(): Promise<{
    readonly works: boolean;
    readonly enforced: readonly string[];
    readonly reason?: string;
    /** It does not work because a program that it is made of is not installed. */
    readonly absent?: true;
  }>;
  run(request: SandboxRequest): Promise<SandboxResult>;
  /** Absent for one that cannot trace (`traceTo`). Probed by tracing a command, once per process. */
  probeTracer?(): Promise<TracerProbe>;
}

/** Whether commands can be traced here. */
export interface TracerProbe {
  readonly works: boolean;
  /** Why not, and what to do. */
  readonly reason?: string;
}
