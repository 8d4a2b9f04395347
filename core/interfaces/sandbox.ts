import type { Readable, Writable } from 'node:stream';

/** Where every sandbox shows the workspace. */
export const workspaceInside = '/workspace';

/** A directory made visible inside the sandbox. */
export interface SandboxBind {
  readonly source: string;
  /** Absolute path inside. */
  readonly target: string;
  readonly writable: boolean;
  /**
   * The process may write here, and what it writes is discarded when it ends: the source never changes. Where the
   * kernel or the file system cannot do that, the directory is read-only.
   */
  readonly scratch?: true;
}

/** Standard input and output of a process that is talked with. */
export interface SandboxPipes {
  /** Data written before the process starts is kept for it; data for a process that has ended is lost. */
  readonly input: Writable;
  readonly output: Readable;
}

/** An own network namespace with one way out: the egress proxy that listens on the socket in this host directory. */
export interface SandboxEgress {
  /** Contains only the socket; see workspace/egress/open-egress.ts. */
  readonly way: string;
}

/** The repository whose candidate the workspace holds. Paths of the host, without links. */
export interface HiddenRepository {
  /** Its working tree. Inside, this path leads to the workspace, as links and environments with full paths need. */
  readonly root: string;
  /** Its git directory and its other working trees. */
  readonly others: readonly string[];
  /** Whether git ignores a path in the working tree: only such programs are shown, if PATH names them. */
  isIgnored(path: string): Promise<boolean>;
}

/** One process to run. There is no shell unless `argv` names one. */
export interface SandboxRequest {
  readonly argv: readonly string[];
  /** Host directory that becomes the writable workspace and the working directory. */
  readonly workspace: string;
  /** Host directory that the process may write its reports to. */
  readonly reports: string;
  /** Further binds, e.g. shared dependencies (read-only). Targets may be inside the workspace. */
  readonly binds: readonly SandboxBind[];
  /**
   * Host directories of programs that come first on PATH, at the same path inside, read-only. The adjacent
   * directories of the installation (`lib`, `share` …) are bound too.
   */
  readonly tools?: readonly string[];
  /** The user's repository, which no sandbox shows, even in a directory that it shows. */
  readonly repository?: HiddenRepository;
  /** Programs that are hidden in the sandbox: `stub` of the host directory `stubs` replaces them. */
  readonly withheld?: { readonly stubs: string; readonly stub: string; isWithheld(name: string): boolean };
  /** The child's whole environment; PATH, HOME and TMPDIR are added by the back end. */
  readonly env: Readonly<Record<string, string>>;
  /** `none`: a separate, empty network namespace. `host` is for the `none` back end, which supports no other value. */
  readonly network: 'none' | 'host' | SandboxEgress;
  /**
   * No process may inspect or control another process of its user: `ptrace` and similar calls are refused. The `none`
   * back end cannot enforce this and does not run autonomous programs.
   */
  readonly untraced?: true;
  /**
   * New file, outside the sandbox, to which a tracer writes the file calls (`readers/trace`). Absent: no tracer. A
   * traced command may behave differently: only one that ends as expected may decide a check.
   */
  readonly traceTo?: string;
  readonly timeoutMs: number;
  /** Bytes kept of each output stream, half of them the first and half the last; the rest is counted and dropped. */
  readonly maxOutputBytes: number;
  /** Bytes that all its processes and memory file systems may hold together. Absent: 4 GiB. */
  readonly maxMemoryBytes?: number;
  readonly stdin?: Uint8Array;
  /** Receives both pipes, in place of `stdin`. Standard output is not captured; the callback reads it to the end. */
  readonly talk?: (pipes: SandboxPipes) => void;
  /**
   * Receives both streams in order of arrival, including output that is not kept. A back end without streaming does
   * not call it; the result then holds all output.
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
  /**
   * Present for a back end without confinement. It is selected only by name, and its checks use the network of this
   * machine.
   */
  readonly unconfined?: true;
  /** Where the workspace and the reports directory appear inside. */
  pathsInside(request: Pick<SandboxRequest, 'workspace' | 'reports'>): { workspace: string; reports: string };
  /** Probed by behaviour (forbidden write, connect, socket in /run, read of ~/.ssh), once per process, or `anew`. */
  probe(options?: { readonly anew?: boolean }): Promise<{
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
