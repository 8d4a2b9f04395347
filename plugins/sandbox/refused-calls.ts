/* The system calls that every sandbox refuses, as data. */
import { existsSync } from 'node:fs';
import { totalmem } from 'node:os';

/** A call's number in the table of each architecture that we know. */
export type CallNumbers = readonly [x64: number, arm64: number];

const both = (number: number): CallNumbers => [number, number];

/**
 * Calls that no namespace confines, and ways to privilege that are closed although the privilege is gone already:
 * EPERM. `ptrace` is not among them: it ends at the sandbox's own processes, and leak checkers need it. Where those are
 * not all alike it is refused as well (`tracingCalls`).
 */
export const refusedCalls: Readonly<Record<string, CallNumbers>> = {
  // The person's keys (Kerberos tickets, disk keys) hang on the session and the user, whatever is mounted.
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  // Kernel log: addresses, devices and other people's programs.
  syslog: [103, 116],
  // Interfaces in which a fault of the kernel is worth most.
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: both(425),
  io_uring_enter: both(426),
  io_uring_register: both(427),
  // Files by number, whatever is mounted.
  open_by_handle_at: [304, 265],
  // Mounts and namespaces.
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  open_tree: both(428),
  move_mount: both(429),
  fsopen: both(430),
  fsconfig: both(431),
  fsmount: both(432),
  fspick: both(433),
  mount_setattr: both(442),
  open_tree_attr: both(467),
  setns: [308, 268],
  // The kernel itself.
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
};

/**
 * Calls that inspect another process of the same user, control it or copy its descriptors. On request they fail with
 * EPERM.
 */
export const tracingCalls: Readonly<Record<string, CallNumbers>> = {
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  pidfd_getfd: both(438),
};

/**
 * Calls with arguments in memory that a filter cannot read. They fail with ENOSYS, so that the C library uses the
 * older call.
 */
export const absentCalls: Readonly<Record<string, CallNumbers>> = { clone3: both(435) };

/** What an argument (its low 32 bits) must be: none of these bits; none of these values; one of these; at most this. */
type ArgumentTest =
  | { readonly noneOf: number }
  | { readonly not: readonly number[] }
  | { readonly oneOf: readonly number[] }
  | { readonly atMost: number };

/** A call that is refused by one of its arguments. */
export interface ArgumentRule {
  readonly call: CallNumbers;
  readonly argument: number;
  readonly must: ArgumentTest;
  /** The argument has 64 bits, and the upper half must be 0. */
  readonly wide?: true;
  readonly errno: number;
}

const [eperm, enospc, eafnosupport] = [1, 28, 97];
/**
 * NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. In `clone` the bit of NEWTIME belongs to the
 * signal at the end.
 */
const namespaceFlags = 0x7e020080;
/** UNIX, INET, INET6, NETLINK. */
const families = [1, 2, 10, 16];

/** TIOCSTI and TIOCLINUX type into the terminal of the person. */
const terminalRequests = [0x5412, 0x541c];
/**
 * EXT4_IOC_MOVE_EXT and SWAP_BOOT, XFS_IOC_SWAPEXT, EXCHANGE_RANGE and COMMIT_RANGE, F2FS_IOC_MOVE_RANGE: they change
 * what a file holds without a write, and some leave its change time, by which a workspace is used again (0028).
 */
const blockRequests = [0xc028660f, 0x6611, 0xc0c0586d, 0x40285881, 0x40585883, 0xc020f509];

/** Allowed arguments of calls. */
export const argumentRules: Readonly<Record<string, ArgumentRule>> = {
  unshare: { call: [272, 97], argument: 0, must: { noneOf: namespaceFlags }, errno: eperm },
  clone: { call: [56, 220], argument: 0, must: { noneOf: namespaceFlags & ~0x80 }, errno: eperm },
  ioctl: {
    call: [16, 29],
    argument: 1,
    must: { not: [...terminalRequests, ...blockRequests] },
    errno: eperm,
  },
  // VSOCK connects a virtual machine to its host and belongs to no network namespace. Other families are kernel code
  // that tests do not use.
  socket: { call: [41, 198], argument: 0, must: { oneOf: families }, errno: eafnosupport },
  socketpair: { call: [53, 199], argument: 0, must: { oneOf: families }, errno: eafnosupport },
  // Memory and semaphores that belong to no process: few enough (4096, 32000) to be bounded by the size of each.
  shmget: { call: [29, 194], argument: 1, must: { atMost: 262_144 }, wide: true, errno: enospc },
  semget: { call: [64, 190], argument: 1, must: { atMost: 256 }, errno: enospc },
};

/**
 * The profile of every sandbox, as data. Each back end renders it, and one list of probes checks all of them. The
 * rest is in the host's part of the view (host-view.ts), the filter of calls (refused-calls.ts) and the settings of
 * process 1 (run-in-view.ts).
 */
export const profile = {
  /** Always private to the sandbox. */
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
   * The kernel's out-of-memory killer selects these processes first. Set from outside; because /proc is read-only, it
   * is permanent.
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
 * Names of keys: every process may read them in `/proc`, but they reveal data of the user. Because the key calls are
 * refused, key contents are inaccessible.
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
