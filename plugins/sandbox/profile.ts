import { existsSync } from 'node:fs';
import { totalmem } from 'node:os';

/**
 * What every sandbox is, as data: each back end renders it in its own words, and one list of probes holds all of them
 * to it. Beside it stand the host's part of the view (host-view.ts), the filter of calls (refused-calls.ts) and what
 * process 1 sets (init.ts).
 */
export const profile = {
  /** All of its own, always. */
  namespaces: ['user', 'mount', 'pid', 'ipc', 'uts', 'net', 'cgroup'],
  hostname: 'sandbox',
  /** Where a host keeps sockets, state and root's files: empty inside, on the read-only root. */
  emptyDirectories: ['/root', '/run', '/var'],
  links: { '/var/tmp': '/tmp' },
  /**
   * Shown read-only: to the kernel their owner is root in every namespace, who may change the mode of the host's own.
   */
  devices: ['/dev/null', '/dev/zero', '/dev/full', '/dev/random', '/dev/urandom', '/dev/tty'],
  /** Process 1 becomes what it is under this program, which sets what a shell cannot. */
  launcher: '/.launcher',
  /** As `ulimit` counts: files in blocks of 512 bytes (16 GiB). */
  limits: { core: 0, fileBlocks: 33_554_432, openFiles: 16_384, processes: 4096 },
  /**
   * The kernel's out-of-memory killer takes these processes first. Set from outside and, as /proc is read-only, for
   * good.
   */
  outOfMemoryScore: 1000,
  /** Of all processes together, where a request names no bound. */
  maxMemoryBytes: 4096 * 1024 * 1024,
} as const;

/** Writable memory file systems, each with its bound: what fills them is lost at the end and counts as memory. */
export function memoryDirectories(
  maxMemoryBytes: number,
): readonly { readonly path: string; readonly bytes: number; readonly mode: string }[] {
  const most = Math.min(maxMemoryBytes, Math.max(268_435_456, Math.floor(totalmem() / 4)));
  return [
    { path: '/home', bytes: most, mode: '0755' },
    { path: '/tmp', bytes: most, mode: '1777' },
    { path: '/dev/shm', bytes: Math.min(maxMemoryBytes, 268_435_456), mode: '1777' },
  ];
}

/**
 * What anybody may read in `/proc` although it tells of the person: names of keys. Without a way to ask for a key the
 * rest is empty.
 */
const kernelKeys = ['/proc/keys', '/proc/key-users'];
/** Kernel state that its owner, root, may read although it is not for a check. */
const kernelState = [
  '/proc/kcore',
  '/proc/kmsg',
  '/proc/kpagecgroup',
  '/proc/kpagecount',
  '/proc/kpageflags',
  '/proc/latency_stats',
  '/proc/pagetypeinfo',
  '/proc/sched_debug',
  '/proc/slabinfo',
  '/proc/timer_list',
  '/proc/vmallocinfo',
];

/** What of the read-only `/proc` is covered with `/dev/null`. More where the caller is root. */
export function coveredOfProc(): readonly string[] {
  const covered = process.getuid?.() === 0 ? [...kernelKeys, ...kernelState] : kernelKeys;
  return covered.filter((file) => existsSync(file));
}
