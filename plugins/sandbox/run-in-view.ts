/* Runs a command in a sandbox under the system call filter. */
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { endianness, tmpdir } from 'node:os';
import path from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import type { SandboxRequest, SandboxResult } from '../../core/interfaces/sandbox.ts';
import { openWayScript } from '../../workspace/egress/open-egress.ts';
import { type HostView, homeInside } from './host-view.ts';
import { environmentOf, sandboxEnvironment } from './mounts.ts';
import { tracerWords } from './probe.ts';
import {
  type ArgumentRule,
  absentCalls,
  argumentRules,
  type CallNumbers,
  memoryDirectories,
  profile,
  refusedCalls,
  tracingCalls,
} from './refused-calls.ts';
import { spawnWatched } from './spawn-watched.ts';
import { childrenOf, processesIn } from './watch-limits.ts';

/** Architectures with known call numbers. */
type KnownArchitecture = 'x64' | 'arm64';

const auditArchitecture = { x64: 0xc000003e, arm64: 0xc00000b7 };
const x32Bit = 0x40000000;
const [loadWord, jumpIfEqual, jumpIfAbove, jumpIfAtLeast, jumpIfAnyBit, give] = [
  0x20, 0x15, 0x25, 0x35, 0x45, 0x06,
];
/** Offsets of the call number, the architecture and the arguments in struct seccomp_data. */
const [callAt, architectureAt, argumentsAt] = [0, 4, 16];
const allow = 0x7fff0000;
const refuseWith = (errno: number): number => 0x00050000 + errno;
const [eperm, enosys] = [1, 38];

type Instruction = readonly [code: number, k: number, ifTrue?: number, ifFalse?: number];

/** Whether calls can be filtered on this architecture. */
function isKnownArchitecture(architecture: string): architecture is KnownArchitecture {
  return (architecture === 'x64' || architecture === 'arm64') && endianness() === 'LE';
}

/**
 * A classic BPF program (seccomp(2)) that refuses what `refused-calls.ts` lists, its tracing calls where it
 * `isUntraced`, and every call of another architecture's table with ENOSYS. `undefined` where the call numbers are not
 * known to us.
 */
export function syscallFilter(architecture: string, isUntraced = false): Buffer | undefined {
  if (!isKnownArchitecture(architecture)) return undefined;
  const numberOf = ([x64, arm64]: CallNumbers): number => (architecture === 'x64' ? x64 : arm64);
  const refuseCall = (call: CallNumbers, errno: number): readonly Instruction[] => [
    [jumpIfEqual, numberOf(call), 0, 1],
    [give, refuseWith(errno)],
  ];
  const program: Instruction[] = [
    [loadWord, architectureAt],
    [jumpIfEqual, auditArchitecture[architecture], 1, 0],
    [give, refuseWith(enosys)],
    [loadWord, callAt],
    [jumpIfAtLeast, x32Bit, 0, 1],
    [give, refuseWith(enosys)],
    ...Object.values(isUntraced ? { ...refusedCalls, ...tracingCalls } : refusedCalls).flatMap((call) =>
      refuseCall(call, eperm),
    ),
    ...Object.values(absentCalls).flatMap((call) => refuseCall(call, enosys)),
    ...Object.values(argumentRules).flatMap((rule) => {
      const judged = judgeArgument(rule);
      // Past the whole judgement: only its own call loads something else.
      return [[jumpIfEqual, numberOf(rule.call), 0, judged.length] as const, ...judged];
    }),
    [give, allow],
  ];
  return encode(program);
}

/** Loads the argument and ends the program either way. */
function judgeArgument({ argument, must, wide, errno }: ArgumentRule): readonly Instruction[] {
  const low = argumentsAt + 8 * argument;
  const refuse: Instruction = [give, refuseWith(errno)];
  const upper: readonly Instruction[] = wide ? [[loadWord, low + 4], [jumpIfEqual, 0, 1, 0], refuse] : [];
  return [...upper, [loadWord, low], ...testWord(must), refuse, [give, allow]];
}

/** Goes on at the next instruction (refused) or skips it (allowed). */
function testWord(must: ArgumentRule['must']): readonly Instruction[] {
  if ('noneOf' in must) return [[jumpIfAnyBit, must.noneOf, 0, 1]];
  if ('atMost' in must) return [[jumpIfAbove, must.atMost, 0, 1]];
  const values = 'not' in must ? must.not : must.oneOf;
  return values.map((value, index): Instruction => {
    const left = values.length - 1 - index;
    if ('oneOf' in must) return [jumpIfEqual, value, left + 1, 0];
    return [jumpIfEqual, value, left, left === 0 ? 1 : 0];
  });
}

function encode(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, k, ifTrue = 0, ifFalse = 0]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(k, index * 8 + 4);
  }
  return bytes;
}

/** Runs a request by words that set a view up first, with the environment that goes with the view. */
export async function runInView(
  words: readonly string[],
  view: HostView,
  request: SandboxRequest,
): Promise<SandboxResult> {
  const env = sandboxEnvironment(
    { ...view.variables, ...environmentOf(request) },
    {
      path: view.searchPath.join(':'),
      home: homeInside,
      temporary: '/tmp',
    },
  );
  const launcher = openLauncher(request.untraced);
  try {
    // The process has its own copy as soon as the call returns, long before the promise settles.
    return runOuter(words, env, request, [launcher]);
  } finally {
    closeSync(launcher);
  }
}

const held = new Map<boolean, number>();

/**
 * A descriptor from which the launcher for this machine can be read once; the caller closes it. SANDBOX_UNAVAILABLE
 * where calls cannot be filtered on this architecture: without that a sandbox is none.
 */
export function openLauncher(isUntraced = false): number {
  let descriptor = held.get(isUntraced);
  if (descriptor === undefined) {
    const program = launcher(process.arch, isUntraced);
    if (program === undefined) {
      throw new WritError('SANDBOX_UNAVAILABLE', {
        message: `system calls of \`${process.arch}\` cannot be filtered: expected x64 or arm64`,
        detail: { architecture: process.arch },
      });
    }
    const directory = mkdtempSync(path.join(realpathSync(tmpdir()), 'writ-launcher-'));
    try {
      writeFileSync(path.join(directory, 'launcher'), program, { mode: 0o600 });
      descriptor = openSync(path.join(directory, 'launcher'), 'r');
      held.set(isUntraced, descriptor);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }
  // Opened again: a shared file position would be at the end after the first reader.
  return openSync(`/proc/self/fd/${descriptor}`, 'r');
}

/**
 * What the launcher does, in machine code, because no shell can: gives up new privileges for good, leaves the person's
 * session keyring for an empty one, closes what descriptors it was left, installs the filter that follows the code, and
 * becomes the command. Keyring and descriptors may be refused: the calls are closed by the filter, and who made the
 * descriptors knows of them.
 */
const code: Readonly<Record<KnownArchitecture, string>> = {
  x64: `
    b89d000000        mov eax, 157 (prctl)
    bf26000000        mov edi, 38 (PR_SET_NO_NEW_PRIVS)
    be01000000        mov esi, 1
    31d2              xor edx, edx
    4531d2            xor r10d, r10d
    4531c0            xor r8d, r8d
    0f05              syscall
    85c0              test eax, eax
    7552              jnz fail
    b8fa000000        mov eax, 250 (keyctl)
    bf01000000        mov edi, 1 (KEYCTL_JOIN_SESSION_KEYRING)
    31f6              xor esi, esi (a new one without a name)
    0f05              syscall
    b8b4010000        mov eax, 436 (close_range)
    bf04000000        mov edi, 4 (the announcement is 3)
    83ceff            or esi, -1
    31d2              xor edx, edx
    0f05              syscall
    b89d000000        mov eax, 157 (prctl)
    bf16000000        mov edi, 22 (PR_SET_SECCOMP)
    be02000000        mov esi, 2 (SECCOMP_MODE_FILTER)
    488d152e000000    lea rdx, [rip + program]
    0f05              syscall
    85c0              test eax, eax
    7517              jnz fail
    488b0c24          mov rcx, [rsp] (argc)
    488d742410        lea rsi, [rsp + 16] (argv from the second word)
    488d14ce          lea rdx, [rsi + rcx * 8] (the environment)
    488b3e            mov rdi, [rsi]
    b83b000000        mov eax, 59 (execve)
    0f05              syscall
    b83c000000  fail: mov eax, 60 (exit)
    bf7e000000        mov edi, 126
    0f05              syscall
    0f1f440000        nop`,
  arm64: `
    c00480d2        mov x0, 38 (PR_SET_NO_NEW_PRIVS)
    210080d2        mov x1, 1
    020080d2        mov x2, 0
    030080d2        mov x3, 0
    040080d2        mov x4, 0
    e81480d2        mov x8, 167 (prctl)
    010000d4        svc 0
    c00200b5        cbnz x0, fail
    200080d2        mov x0, 1 (KEYCTL_JOIN_SESSION_KEYRING)
    010080d2        mov x1, 0 (a new one without a name)
    681b80d2        mov x8, 219 (keyctl)
    010000d4        svc 0
    800080d2        mov x0, 4 (the announcement is 3)
    01008012        mov w1, -1
    020080d2        mov x2, 0
    883680d2        mov x8, 436 (close_range)
    010000d4        svc 0
    c00280d2        mov x0, 22 (PR_SET_SECCOMP)
    410080d2        mov x1, 2 (SECCOMP_MODE_FILTER)
    a2010010        adr x2, program
    e81480d2        mov x8, 167 (prctl)
    010000d4        svc 0
    e00000b5        cbnz x0, fail
    e30340f9        ldr x3, [sp] (argc)
    e1430091        add x1, sp, 16 (argv from the second word)
    220c038b        add x2, x1, x3, lsl 3 (the environment)
    200040f9        ldr x0, [x1]
    a81b80d2        mov x8, 221 (execve)
    010000d4        svc 0
    c00f80d2  fail: mov x0, 126
    a80b80d2        mov x8, 93 (exit)
    010000d4        svc 0`,
};
const machine = { x64: 62, arm64: 183 };
/** Where the file is loaded, whole. */
const base = 0x400000;
const [fileHeader, programHeader, pointer] = [64, 56, 8];
const [headers, programLength] = [fileHeader + 2 * programHeader, 2 * pointer];

/** Both launchers as text, for a digest: another filter is another sandbox. */
export function launcherText(): string {
  return [false, true].map((isUntraced) => launcher(process.arch, isUntraced)?.toString('hex')).join();
}

/**
 * Builds an ELF program of about 1200 bytes: `launcher /bin/sh …` executes that program under the filter of this
 * architecture. On failure it ends with exit code 126. `undefined` without a filter for the architecture.
 */
export function launcher(architecture: string, isUntraced = false): Buffer | undefined {
  const filter = syscallFilter(architecture, isUntraced);
  if (filter === undefined || !isKnownArchitecture(architecture)) return undefined;
  const text = instructions(code[architecture]);
  const filterAt = headers + text.length + programLength;
  const size = filterAt + filter.length;

  const file = Buffer.alloc(size);
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  file.writeUInt16LE(2, 16); // ET_EXEC
  file.writeUInt16LE(machine[architecture], 18);
  file.writeUInt32LE(1, 20);
  file.writeBigUInt64LE(BigInt(base + headers), 24); // where it starts
  file.writeBigUInt64LE(BigInt(fileHeader), 32);
  for (const [at, value] of [fileHeader, programHeader, 2].entries()) file.writeUInt16LE(value, 52 + 2 * at);

  const load = file.subarray(fileHeader);
  load.writeUInt32LE(1, 0); // PT_LOAD
  load.writeUInt32LE(5, 4); // read, execute
  for (const [at, value] of [base, base, size, size, 0x10000].entries())
    load.writeBigUInt64LE(BigInt(value), 16 + 8 * at);
  const stack = load.subarray(programHeader);
  stack.writeUInt32LE(0x6474e551, 0); // PT_GNU_STACK
  stack.writeUInt32LE(6, 4); // read, write

  file.set(text, headers);
  // struct sock_fprog
  file.writeUInt16LE(filter.length / 8, headers + text.length);
  file.writeBigUInt64LE(BigInt(base + filterAt), headers + text.length + pointer);
  file.set(filter, filterAt);
  return file;
}

function instructions(listing: string): Buffer {
  const words = listing.split('\n').map((line) => line.trim().split(' ', 1)[0] ?? '');
  return Buffer.from(words.join(''), 'hex');
}

/**
 * Runs the program that sets up a sandbox, and then the command in it. The command's outcome is the return value. If
 * the sandbox never reached its command, it throws SANDBOX_FAILED, so that a broken host does not count as a failed
 * check.
 */
export async function runOuter(
  argv: readonly string[],
  env: Record<string, string>,
  request: SandboxRequest,
  passed: readonly number[] = [],
): Promise<SandboxResult> {
  const { traceTo } = request;
  const isTraced = traceTo !== undefined;
  const outer = {
    argv: isTraced ? [...tracerWords(traceTo), ...argv] : argv,
    cwd: '/',
    env,
    maxOutputBytes: request.maxOutputBytes,
    timeoutMs: request.timeoutMs,
    processGroup: true,
    terminate: (started: number) => endNamespace(started, isTraced),
    announces: true,
    passed,
    ...(request.stdin === undefined ? {} : { stdin: request.stdin }),
    ...(request.talk === undefined ? {} : { talk: request.talk }),
    ...(request.heard === undefined ? {} : { heard: request.heard }),
    ...(request.signal === undefined ? {} : { signal: request.signal }),
  };
  const { announced, ...result } = await spawnWatched(request, outer, (started) => {
    const first = firstOf(started, isTraced);
    if (first === undefined) return undefined;
    preferForKilling(first);
    // The sandbox's own /proc lists exactly its pid namespace, even processes that lost their parent.
    const proc = `/proc/${first}/root/proc`;
    return {
      first,
      processes: () => processesIn(proc).map((pid) => `${proc}/${pid}`),
      net: `/proc/${first}/net`,
      directories: memoryDirectories(0).map(({ path }) => `/proc/${first}/root${path}`),
    };
  });
  if (!announced && !result.timedOut && !result.aborted) {
    const said = result.stderr.bytes.toString('utf8').trim().slice(0, 500);
    throw new WritError('SANDBOX_FAILED', {
      message: `the sandbox could not be set up: ${said}${refusalOfHost()}`,
      detail: { exitCode: result.exitCode, said },
      hints: ['`writ doctor` tries every sandbox of this machine'],
    });
  }
  return result;
}

/** Where a host says that it gives ordinary users no namespaces, and what changes that. */
const refusals: readonly (readonly [file: string, says: RegExp, words: string])[] = [
  [
    '/proc/sys/kernel/apparmor_restrict_unprivileged_userns',
    /^1/,
    'AppArmor refuses user namespaces: `sysctl kernel.apparmor_restrict_unprivileged_userns=0` or a profile for `bwrap` allows them',
  ],
  [
    '/proc/sys/kernel/unprivileged_userns_clone',
    /^0/,
    '`sysctl kernel.unprivileged_userns_clone=1` allows user namespaces',
  ],
  [
    '/proc/sys/user/max_user_namespaces',
    /^0/,
    '`sysctl user.max_user_namespaces` is 0: no user namespace can be made',
  ],
  ['/.dockerenv', /^/, '`writ help container`: how to start a container'],
  ['/run/.containerenv', /^/, '`writ help container`: how to start a container'],
];

function refusalOfHost(): string {
  const found = refusals.find(([file, says]) => existsSync(file) && says.test(readFileSync(file, 'utf8')));
  return found === undefined ? '' : ` (${found[2]})`;
}

/** Before the command: process 1 waits for our answer. Its read-only /proc leaves it no way to undo this. */
function preferForKilling(first: number): void {
  try {
    writeFileSync(`/proc/${first}/oom_score_adj`, String(profile.outOfMemoryScore));
  } catch {
    // The probe reports a kernel without it.
  }
}

/**
 * The first process of a sandbox's pid namespace: the child of the set-up program. With a tracer, the set-up program
 * is the tracer's child.
 */
function firstOf(started: number, isTraced: boolean): number | undefined {
  const [child] = childrenOf(started);
  return isTraced && child !== undefined ? firstOf(child, false) : child;
}

/**
 * Ends a sandbox from outside by killing the first process of its pid namespace: its parent waits for it, so what was
 * started exits only after the kernel has ended every process inside. Without such a process what was started itself is
 * killed.
 */
function endNamespace(started: number, isTraced = false): void {
  try {
    process.kill(firstOf(started, isTraced) ?? started, 'SIGKILL');
  } catch {
    // Gone already.
  }
}

const { core, fileBlocks, openFiles, processes } = profile.limits;

/**
 * Process 1 of a sandbox. It reports successful set-up on descriptor 3 and waits for an answer, sets limits, runs the
 * command and reaps orphans. When it exits, the kernel ends all other processes in the namespace before its exit is
 * reported.
 *
 * Limited here: core files, file size, open files, processes. RLIMIT_NPROC counts per sandbox for an ordinary user on
 * Linux 5.14 or newer. It never binds root, so root's processes are counted from outside, like memory. Not limited:
 * CPU share, disk space of the workspace.
 */
const initScript = [
  // The parent may have been killed before the parent-death signal was set. A dead parent sends no answer.
  'echo >&3 && read -r answer <&3 || exit 1',
  'exec 3>&-',
  `ulimit -c ${core}`,
  `ulimit -f ${fileBlocks}`,
  // Where the host allows fewer, those hold.
  `{ ulimit -Sn 4096 && ulimit -Hn ${openFiles}; } 2>/dev/null`,
  // dash and busybox name it -p, bash -u; in bash -p is the (unchangeable) pipe size.
  `{ ulimit -u ${processes} || ulimit -p ${processes}; } 2>/dev/null`,
  '"$@"',
  // Not the last command, so that no shell replaces itself by it: process 1 must stay a reaper.
  'exit $?',
].join('\n');

/**
 * The device that we gave it is the host's own, and root may change the mode of what is open; this one is read-only.
 */
const ownInput = 'exec </dev/null\n';

/**
 * The words that start process 1: `last` of the set-up, then with a way out that is opened, because without it the
 * set-up has failed.
 */
export function initWords(
  { network, argv, stdin, talk }: Pick<SandboxRequest, 'network' | 'argv' | 'stdin' | 'talk'>,
  last = '',
): readonly string[] {
  const way = typeof network === 'object' ? openWayScript : '';
  const script = last + way + (stdin === undefined && talk === undefined ? ownInput : '') + initScript;
  return ['/bin/sh', '-c', script, 'sh', ...argv];
}
