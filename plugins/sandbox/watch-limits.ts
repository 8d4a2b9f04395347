/* Watches what processes use of memory and processes. */
import { readdirSync, readFileSync, readlinkSync, statfsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { systemClock } from '../../core/base/clock.ts';
import type { ExceededLimit } from '../../core/interfaces/sandbox.ts';

/** What is watched, and what it may hold together. */
export interface Watched {
  readonly memoryBytes: number;
  /** Processes and threads. */
  readonly tasks: number;
  /** The directories of its processes in a `/proc`, as they are now. */
  readonly processes: () => readonly string[];
  /** Its memory file systems. */
  readonly directories: readonly string[];
  /** `/proc/<pid>/net` of a network namespace that is all its own. */
  readonly net?: string;
}

const everyMs = 50;
/**
 * The pause after a measurement is proportional to its duration, so that measurements use at most a twentieth of the
 * time.
 */
const pauseFactor = 20;

/**
 * Watches processes and reports once which limit they exceed. While the whole machine uses less than the limit, a
 * measurement reads only two small files. The report ends the watch. The watch does not keep the event loop alive.
 */
export function watchLimits(watched: Watched, onExceeded: (exceeded: ExceededLimit) => void): () => void {
  let ended = false;
  let timer: NodeJS.Timeout;
  const look = async (): Promise<void> => {
    const started = systemClock.monotonic();
    const exceeded = await judge(watched);
    if (ended) return;
    if (exceeded !== undefined) onExceeded(exceeded);
    else again(Math.max(everyMs, pauseFactor * (systemClock.monotonic() - started)));
  };
  const again = (ms: number): void => {
    timer = setTimeout(look, ms);
    timer.unref();
  };
  again(everyMs);
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}

async function judge(watched: Watched): Promise<ExceededLimit | undefined> {
  const { memoryBytes, tasks, directories, net } = watched;
  const machine = machineUse();
  const mayHold = machine === undefined || machine.memoryBytes > memoryBytes;
  const mayBeMany = machine === undefined || machine.tasks > tasks;
  if (!mayHold && !mayBeMany) return undefined;
  const processes = watched.processes();
  if (mayBeMany) {
    // If there are more processes than the limit, their list suffices: reading each one is slow, and more may start
    // meanwhile.
    const found = processes.length > tasks ? processes.length : threadsOf(processes);
    if (found > tasks) return { what: 'processes', limit: tasks, found };
  }
  if (!mayHold) return undefined;
  const waiting = net === undefined ? 0 : socketBytes(net);
  if (waiting + heldAtMost(processes, directories) <= memoryBytes) return undefined;
  const found = waiting + (await heldBytes(processes, directories));
  return found > memoryBytes ? { what: 'memory', limit: memoryBytes, found } : undefined;
}

function threadsOf(processes: readonly string[]): number {
  let threads = 0;
  for (const process of processes) {
    // The link count of a directory is its subdirectories, one per thread, plus two.
    threads += (statSync(`${process}/task`, { throwIfNoEntry: false })?.nlink ?? 2) - 2;
  }
  return threads;
}

/** Memory of an inode of a memory file system, which an empty file costs too. */
const inodeBytes = 1024;
/** The mappings of a process are read under a lock that it holds itself. */
const readMs = 500;

/**
 * Bytes that the processes (their directories in a `/proc`) and memory file systems hold, each shared page counted for
 * everybody: never less than `heldBytes`, and quickly known.
 */
function heldAtMost(processes: readonly string[], directories: readonly string[]): number {
  let bytes = inFiles(processes, directories);
  for (const process of processes) bytes += ownBytes(process);
  return bytes;
}

/**
 * As `heldAtMost`, but counts each page once. Shared mapped memory may also be in a counted file, so the larger of
 * the two counts is used. This underestimates by at most half.
 */
async function heldBytes(processes: readonly string[], directories: readonly string[]): Promise<number> {
  let own = 0;
  let shared = 0;
  for (const process of processes) {
    const mapped = await mappedBytes(process);
    own += mapped?.own ?? ownBytes(process);
    shared += mapped?.shared ?? 0;
  }
  return own + Math.max(shared, inFiles(processes, directories));
}

function ownBytes(process: string): number {
  try {
    const status = readFileSync(`${process}/status`, 'latin1');
    return kibibytes(status, 'RssAnon') + kibibytes(status, 'RssShmem') + kibibytes(status, 'VmSwap');
  } catch {
    return 0; // Ended while we looked.
  }
}

/** The process's share of its mapped memory, without disk files. `undefined` if the kernel does not report it. */
async function mappedBytes(process: string): Promise<{ own: number; shared: number } | undefined> {
  try {
    const text = await readFile(`${process}/smaps_rollup`, {
      encoding: 'latin1',
      signal: AbortSignal.timeout(readMs),
    });
    const shared = kibibytes(text, 'Pss_Shmem');
    return { own: kibibytes(text, 'Pss_Anon') + kibibytes(text, 'SwapPss'), shared };
  } catch {
    return undefined;
  }
}

/** Memory file systems of the sandbox, and files without a name that its processes hold open. */
function inFiles(processes: readonly string[], directories: readonly string[]): number {
  let bytes = 0;
  for (const directory of directories) {
    try {
      const { blocks, bfree, bsize, files, ffree } = statfsSync(directory);
      bytes += (blocks - bfree) * bsize + (files - ffree) * inodeBytes;
    } catch {
      // The sandbox is ending.
    }
  }
  const seen = new Set<number>();
  for (const process of processes) {
    for (const file of openMemoryFiles(process)) {
      if (seen.has(file.ino)) continue;
      seen.add(file.ino);
      bytes += file.blocks * 512;
    }
  }
  return bytes;
}

function openMemoryFiles(process: string): { ino: number; blocks: number }[] {
  const found: { ino: number; blocks: number }[] = [];
  try {
    for (const descriptor of readdirSync(`${process}/fd`)) {
      const link = `${process}/fd/${descriptor}`;
      // No file of the sandbox has such a path, because its root is read-only. So following the link accesses no
      // other file system.
      if (readlinkSync(link).startsWith('/memfd:')) found.push(statSync(link));
    }
  } catch {
    // Ended while we looked.
  }
  return found;
}

function kibibytes(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0) * 1024;
}

/**
 * Memory and tasks of the whole machine: an upper bound for any one sandbox. `undefined` if the kernel does not
 * report them.
 */
interface MachineUse {
  readonly memoryBytes: number;
  /** Processes and threads. */
  readonly tasks: number;
}

/** Two small files, whatever runs: what keeps the watch over a sandbox cheap while it holds little. */
function machineUse(): MachineUse | undefined {
  try {
    const memory = readFileSync('/proc/meminfo', 'latin1');
    const kibibytes = (name: string): number =>
      Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(memory)?.[1]);
    const used =
      kibibytes('MemTotal') - kibibytes('MemAvailable') + kibibytes('SwapTotal') - kibibytes('SwapFree');
    const tasks = Number(/ \d+\/(\d+) /.exec(readFileSync('/proc/loadavg', 'latin1'))?.[1]);
    return Number.isNaN(used + tasks) ? undefined : { memoryBytes: used * 1024, tasks };
  } catch {
    return undefined;
  }
}

/** Number of other sockets that are not counted: programs of a test suite use some hundreds between each other. */
const unasked = 512;
/**
 * Maximum buffered bytes per socket, if its owner requests the largest buffer: twice `wmem_max` (socket(7)). The
 * kernel does not report queued bytes of UNIX sockets.
 */
const defaultMost = 212_992;

/**
 * Bytes queued in the sockets of a network namespace, including closed sockets that a message still holds. `net` is
 * the directory of that name in `/proc`. TCP and UDP report their queues. Each other socket beyond the first 512
 * counts as full.
 */
function socketBytes(net: string): number {
  const counts = read(`${net}/sockstat`);
  const count = (pattern: RegExp): number => Number(pattern.exec(counts)?.[1] ?? 0);
  const counted = count(/^TCP: .* alloc (\d+) /m) + count(/^UDP: inuse (\d+)/m);
  const others = count(/^sockets: used (\d+)$/m) - counted;
  const each = 2 * (Number(read('/proc/sys/net/core/wmem_max')) || defaultMost);
  let bytes = Math.max(0, others - unasked) * each;
  // The queue tables have one line per socket. They are read only if such sockets exist.
  if (counted > 0) for (const kind of ['tcp', 'tcp6', 'udp', 'udp6']) bytes += queued(read(`${net}/${kind}`));
  return bytes;
}

function queued(table: string): number {
  let bytes = 0;
  for (const [, sent = '', received = ''] of table.matchAll(/ ([0-9A-F]{8}):([0-9A-F]{8}) /g))
    bytes += Number.parseInt(sent, 16) + Number.parseInt(received, 16);
  return bytes;
}

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return ''; // Ended while we looked, or a kernel without it.
  }
}

/** Child processes of `parent`, in no order; empty if it has ended. */
export function childrenOf(parent: number): readonly number[] {
  return listedChildren(parent) ?? childrenByParent().get(parent) ?? [];
}

/**
 * As the kernel lists them for each thread (proc_pid_children(5)); `undefined` where it was built without that list, or
 * `parent` is gone.
 */
function listedChildren(parent: number): readonly number[] | undefined {
  const tasks = `/proc/${parent}/task`;
  try {
    return readdirSync(tasks).flatMap((task) =>
      readFileSync(`${tasks}/${task}/children`, 'latin1').split(' ').filter(Boolean).map(Number),
    );
  } catch {
    return undefined;
  }
}

/** `first` and every process below it. What lost its parent is somebody else's child and not among them. */
export function processesFrom(first: number): readonly number[] {
  const children = childrenByParent();
  const found = [first];
  for (const parent of found) found.push(...(children.get(parent) ?? []));
  return found;
}

/** Names of the processes that a `/proc` shows; none where it is gone. */
export function processesIn(proc: string): readonly string[] {
  try {
    return readdirSync(proc).filter((entry) => /^\d+$/.test(entry));
  } catch {
    return [];
  }
}

function childrenByParent(): ReadonlyMap<number, readonly number[]> {
  const children = new Map<number, number[]>();
  for (const entry of processesIn('/proc')) {
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'latin1');
      // The name in parentheses may itself hold spaces and parentheses; fields count from its end.
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ', 2)[1]);
      const known = children.get(parent);
      if (known === undefined) children.set(parent, [Number(entry)]);
      else known.push(Number(entry));
    } catch {
      // Ended while we looked.
    }
  }
  return children;
}
