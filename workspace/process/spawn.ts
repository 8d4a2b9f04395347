/* Starts processes, within limits. */
import { type ChildProcess, spawn } from 'node:child_process';
import { openSync, readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { Duplex, PassThrough, type Readable, type Writable } from 'node:stream';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import type { SandboxRequest, SandboxResult } from '../../core/interfaces/sandbox.ts';
import { BoundedCapture, whenQuiet } from './capture.ts';

export interface ExecOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly input?: Uint8Array | string;
  /** Most bytes of standard output; one more is `OUTPUT_TOO_LARGE`, because half an answer is a wrong answer. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
}

export interface ExecResult {
  /** 128 + n when signal n ended it. */
  readonly code: number;
  readonly stdout: Buffer;
  /** Head and tail, at most 64 KiB. */
  readonly stderr: Buffer;
}

export interface StartOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** A process that is talked to while it runs. */
export interface StartedProcess {
  /** `undefined` where it never started. */
  readonly pid: number | undefined;
  /** If the process has ended, written bytes are lost and `exited` gives the reason. */
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Settles when the process has ended and its output is read; rejects with SPAWN_FAILED where it never started. */
  readonly exited: Promise<{ readonly code: number; readonly stderr: Buffer }>;
  kill(): void;
}

const maxStderrBytes = 65_536;
/**
 * Programs start one another before a command runs, and a kill may meet one that has just ended: an end is an end when
 * the process has gone.
 */
const endAgainMs = 50;
const live = new Map<ChildProcess, (child: ChildProcess) => void>();
let exitHookInstalled = false;

/**
 * Runs one process to its end with bounded capture. Exit codes, signals, timeouts and aborts are returned. Only a
 * process that cannot be started throws (SPAWN_FAILED). No process of its group is left running.
 */
export async function spawnProcess(request: SpawnRequest): Promise<SpawnResult> {
  const started = systemClock.monotonic();
  const stdout = new BoundedCapture(request.maxOutputBytes);
  const stderr = new BoundedCapture(request.maxOutputBytes);
  const combined = new BoundedCapture(request.maxOutputBytes);
  let announced = request.announces !== true;
  const finish = (
    outcome: Partial<SandboxResult> & { timedOut: boolean; aborted: boolean },
  ): SpawnResult => ({
    ...outcome,
    announced,
    durationMs: systemClock.monotonic() - started,
    stdout: stdout.finish(),
    stderr: stderr.finish(),
    combined: combined.finish(),
  });
  if (request.signal?.aborted) return finish({ timedOut: false, aborted: true });

  const group = request.processGroup === true;
  const child = open(
    request.argv,
    request.cwd,
    request.env,
    group,
    request.stdin !== undefined || request.talk !== undefined,
    request.announces,
    request.passed,
  );
  const announcement = child.stdio[3];
  let ended: 'timeout' | 'abort' | undefined;
  let again: NodeJS.Timeout | undefined;
  const end = (why: 'timeout' | 'abort'): void => {
    const pid = child.pid;
    if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    ended ??= why;
    // What has not come to its command yet never does, whether or not the kill reaches it.
    if (!announced) announcement?.destroy();
    if (request.terminate === undefined) killChild(child, group);
    else request.terminate(pid);
    again ??= setInterval(end, endAgainMs, why);
  };
  const onAbort = (): void => end('abort');
  const timer = request.timeoutMs === undefined ? undefined : setTimeout(end, request.timeoutMs, 'timeout');
  request.signal?.addEventListener('abort', onAbort, { once: true });

  if (request.talk === undefined)
    child.stdout?.on('data', (chunk: Buffer) => {
      stdout.push(chunk);
      combined.push(chunk);
      request.heard?.(chunk);
    });
  else if (child.stdin && child.stdout) request.talk({ input: child.stdin, output: child.stdout });
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr.push(chunk);
    combined.push(chunk);
    request.heard?.(chunk);
  });
  if (request.announces !== true && child.pid !== undefined) request.onReady?.(child.pid);
  announcement?.on('error', () => {});
  announcement?.once('data', () => {
    announced = true;
    if (child.pid !== undefined) request.onReady?.(child.pid);
    if (announcement instanceof Duplex) announcement.end('\n');
  });
  feed(child.stdin, request.stdin);
  try {
    const { code, signal } = await closed(child, request.argv, group, () => combined.totalBytes);
    const timedOut = ended === 'timeout';
    const aborted = ended === 'abort';
    if (ended !== undefined) return finish({ signal: signal ?? 'SIGKILL', timedOut, aborted });
    if (signal !== null) return finish({ signal, timedOut, aborted });
    return finish({ exitCode: code ?? 1, timedOut, aborted });
  } finally {
    clearTimeout(timer);
    clearInterval(again);
    request.signal?.removeEventListener('abort', onAbort);
  }
}

/**
 * Runs a trusted helper (git) and returns its whole output. Throws SPAWN_FAILED (detail `errno`), OUTPUT_TOO_LARGE, or
 * the signal's reason; an exit code is a value.
 */
export async function execFileBounded(argv: readonly string[], options: ExecOptions): Promise<ExecResult> {
  options.signal?.throwIfAborted();
  const child = open(argv, options.cwd, options.env, false, options.input !== undefined);
  const chunks: Buffer[] = [];
  const stderr = new BoundedCapture(maxStderrBytes);
  let bytes = 0;
  const onAbort = (): void => killChild(child, false);
  options.signal?.addEventListener('abort', onAbort, { once: true });
  child.stdout?.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > options.maxBytes) killChild(child, false);
    else chunks.push(chunk);
  });
  child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk));
  feed(child.stdin, options.input);
  try {
    const { code, signal } = await closed(child, argv, false, () => bytes);
    options.signal?.throwIfAborted();
    if (bytes > options.maxBytes) {
      throw new WritError('OUTPUT_TOO_LARGE', {
        message: `\`${argv[0]}\` printed more than ${options.maxBytes} bytes`,
        detail: { program: argv[0], maxBytes: options.maxBytes },
      });
    }
    return { code: toCode(code, signal), stdout: Buffer.concat(chunks), stderr: stderr.finish().bytes };
  } finally {
    options.signal?.removeEventListener('abort', onAbort);
  }
}

/**
 * Starts a process with open stdin and stdout (`git cat-file --batch`). It runs until `kill`, the signal, or the end
 * of writ.
 */
export function startProcess(argv: readonly string[], options: StartOptions): StartedProcess {
  options.signal?.throwIfAborted();
  const child = open(argv, options.cwd, options.env, false, true);
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null)
    throw new WritError('SPAWN_FAILED', { detail: { program: argv[0] } });
  const stderr = new BoundedCapture(maxStderrBytes);
  child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk));
  stdin.on('error', () => {});
  const kill = (): void => killChild(child, false);
  options.signal?.addEventListener('abort', kill, { once: true });
  const exited = closed(child, argv, false)
    .finally(() => options.signal?.removeEventListener('abort', kill))
    .then(({ code, signal }) => ({ code: toCode(code, signal), stderr: stderr.finish().bytes }));
  // A caller that only reads stdout sees the end of the stream; the rejection is not an unhandled one.
  exited.catch(() => {});
  // Node discards unread output when the process exits; a stream in between keeps it.
  return { pid: child.pid, stdin, stdout: stdout.pipe(new PassThrough()), exited, kill };
}

/**
 * Runs a program of the person's own, an editor, in our terminal until it ends. Answers its exit code; SPAWN_FAILED
 * where it never started.
 */
export async function runInTerminal(
  argv: readonly string[],
  { cwd, env }: Pick<StartOptions, 'cwd' | 'env'>,
): Promise<number> {
  const child = open(argv, cwd, env, false, 'inherit');
  const { code, signal } = await closed(child, argv, false);
  return toCode(code, signal);
}

function open(
  argv: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
  detached: boolean,
  input: boolean | 'inherit',
  announces = false,
  passed: readonly number[] = [],
): ChildProcess {
  const [program, ...args] = argv;
  if (program === undefined || argv.some((word) => word.includes('\0'))) {
    throw new WritError('SPAWN_FAILED', {
      message: 'expected a program name and arguments without NUL',
      detail: { program },
    });
  }
  let child: ChildProcess;
  try {
    child = spawn(program, args, {
      cwd,
      // Node passes this variable to every child, unless it is set explicitly.
      env: { NODE_V8_COVERAGE: undefined, ...env },
      detached,
      stdio:
        input === 'inherit'
          ? 'inherit'
          : [input ? 'pipe' : 'ignore', 'pipe', 'pipe', ...furtherDescriptors(announces, passed)],
      windowsHide: true,
    });
  } catch (cause) {
    throw spawnFault(argv, cause);
  }
  if (!exitHookInstalled) {
    exitHookInstalled = true;
    process.on('exit', () => {
      for (const [running, killer] of live) killer(running);
    });
  }
  live.set(child, (running) => killChild(running, detached));
  return child;
}

function closed(
  child: ChildProcess,
  argv: readonly string[],
  group: boolean,
  progress?: () => number,
): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  return new Promise((resolve, reject) => {
    let drain: NodeJS.Timeout | undefined;
    child.once('error', (cause) => {
      if (child.pid !== undefined) return;
      live.delete(child);
      reject(spawnFault(argv, cause));
    });
    child.once('exit', () => {
      live.delete(child);
      if (group) killChild(child, true);
      // Without a measure of progress the reader sets the pace, and waiting is its business.
      if (progress === undefined) return;
      drain = whenQuiet(progress, () => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      });
    });
    child.once('close', (code, signal) => {
      clearInterval(drain);
      if (child.pid !== undefined) resolve({ code, signal });
    });
  });
}

function feed(stdin: Writable | null, input: Uint8Array | string | undefined): void {
  // A process may exit or close its input before it has read all of it. EPIPE adds no information to the exit code.
  stdin?.on('error', () => {});
  if (input !== undefined) stdin?.end(input);
}

function toCode(code: number | null, signal: NodeJS.Signals | null): number {
  return signal === null ? (code ?? 1) : 128 + constants.signals[signal];
}

function spawnFault(argv: readonly string[], cause: unknown): WritError {
  const errno = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
  return new WritError('SPAWN_FAILED', {
    message: `\`${argv[0]}\` could not be started: ${errno}`,
    detail: { program: argv[0], errno },
    cause,
  });
}

let inherited: readonly number[] | undefined;
let nothing: number | undefined;

/**
 * Returns the descriptors from 3: the announcement, then `passed`, then `ignore` for each descriptor that writ itself
 * inherited. A child must not get files of writ's parent process.
 */
function furtherDescriptors(announces: boolean, passed: readonly number[]): ('pipe' | 'ignore' | number)[] {
  inherited ??= inheritedDescriptors();
  const further: ('pipe' | 'ignore' | number)[] = announces ? ['pipe', ...passed] : [...passed];
  const taken = further.length;
  for (const descriptor of inherited) {
    nothing ??= openSync('/dev/null', 'r+');
    while (further.length < descriptor - 3) further.push('ignore');
    if (descriptor - 3 >= taken) further[descriptor - 3] = nothing;
  }
  return further;
}

interface Child {
  readonly pid?: number | undefined;
  kill(signal: 'SIGKILL'): boolean;
}

/** Kills a child immediately, or its whole process group. A child that has already ended is not an error. */
function killChild(child: Child, group: boolean): void {
  if (child.pid === undefined) return;
  try {
    if (group) process.kill(-child.pid, 'SIGKILL');
    else child.kill('SIGKILL');
  } catch {
    // Gone already.
  }
}

/**
 * One process to run to its end. There is no shell unless `argv` names one, and no variable of writ's environment is
 * inherited.
 */
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
  /**
   * Opens descriptor 3. The child writes one byte when the setup before the command is complete, and receives a line
   * as the answer.
   */
  readonly announces?: boolean;
  /**
   * Called when the byte has arrived, before the answer is sent. Without `announces`, called when the process has
   * started.
   */
  readonly onReady?: (pid: number) => void;
  /** Descriptors of ours that it gets as 4, 5, … (from 3 without `announces`); ours again when the call returns. */
  readonly passed?: readonly number[];
}

export interface SpawnResult extends SandboxResult {
  /** With `announces`: whether the byte came. Else true. */
  readonly announced: boolean;
}

const closeOnExec = 0o2000000;

/**
 * Returns descriptors above 2 that writ's parent process left open and that every child would inherit (Linux;
 * elsewhere none). writ's own descriptors are close-on-exec.
 */
function inheritedDescriptors(): number[] {
  let entries: string[];
  try {
    entries = readdirSync('/proc/self/fdinfo');
  } catch {
    return [];
  }
  return entries.map(Number).filter((descriptor) => descriptor > 2 && isInherited(descriptor));
}

function isInherited(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    return false;
  }
}
