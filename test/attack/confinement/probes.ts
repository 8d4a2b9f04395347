import { refusedCalls } from '../../../plugins/sandbox/refused-calls.ts';

/** What one list of probes gets to know of the world outside. */
export interface Outside {
  readonly pid: number;
  readonly port: number;
  readonly abstractSocket: string;
  readonly socket: string;
  readonly home: string;
}

/**
 * One attempt at something forbidden, in the name of what it would reach. Shell: it exits 0 exactly when it succeeded.
 * Python (calls that no shell can make): an expression that is true exactly when it succeeded.
 */
export interface Probe {
  readonly shell?: string;
  readonly python?: string;
}

const word = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Calls that must be refused, whatever the table of the filter says. */
export const dangerousCalls: Readonly<Record<string, readonly [x64: number, arm64: number]>> = {
  keyctl: [250, 219],
  add_key: [248, 217],
  request_key: [249, 218],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  open_by_handle_at: [304, 265],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  fsopen: [430, 430],
  open_tree: [428, 428],
  mount_setattr: [442, 442],
  setns: [308, 268],
  syslog: [103, 116],
  kexec_load: [246, 104],
  init_module: [175, 105],
  finit_module: [313, 273],
};

/**
 * Calls, by number, without arguments: an unconfined caller would be told of those first, or of a privilege that it
 * has.
 */
function callProbes(): Readonly<Record<string, Probe>> {
  const of = process.arch === 'arm64' ? 1 : 0;
  return Object.fromEntries(
    Object.entries({ ...refusedCalls, ...dangerousCalls }).map(([name, numbers]) => [
      `call ${name}`,
      { python: `call(${numbers[of]}) != EPERM` },
    ]),
  );
}

/** The one conformance list: every back end holds all of it, for root and for an ordinary user. */
export function probesOf(outside: Outside): Readonly<Record<string, Probe>> {
  const x64 = process.arch === 'x64';
  const number = (x: number, arm: number): number => (x64 ? x : arm);
  return {
    // File system.
    'write to the host': {
      shell: 'echo x >/etc/writ-probe || echo x >/usr/writ-probe || echo x >/writ-probe',
    },
    'write a hook': { shell: 'echo x >/workspace/.git/hooks/pre-commit' },
    'remount the root': { shell: 'mount -o remount,rw,bind / || mount -o remount,rw,bind /usr' },
    'remount /proc or /dev': { shell: 'mount -o remount,rw,bind /proc || mount -o remount,rw,bind /dev' },
    'write kernel settings': {
      shell: 'echo x >/proc/sys/kernel/domainname || true >>/proc/sys/kernel/core_pattern',
    },
    'read the keys of the person': { shell: `[ -e ${word(`${outside.home}/.ssh`)} ]` },
    'see anything in /run, /var or /root': {
      shell:
        'find /run /var /root -name .pyenv -prune -o -name .asdf -prune -o ! -type d ! -type l -print | grep -v -e /bin/ -e /shims/ -e /lib/ -e /libexec/ | grep -q .',
    },
    'read the shadow passwords': { shell: '[ -e /etc/shadow ] || [ -e /etc/ssh ]' },
    'read state of the kernel': {
      shell: '[ -e /sys/kernel ] || head -c 1 /proc/kcore /proc/kmsg /proc/kpagecount | grep -qa .',
    },
    'fill an unbounded file system of memory': {
      shell: `df -P -B1 2>/dev/null | awk '$6 == "/dev" || $6 == "/run" || $6 == "/var" { exit 0 } END { exit 1 }' && echo x >/dev/x`,
    },
    'write into /dev': { shell: 'echo x >/dev/writ-probe || mkdir /dev/writ-probe' },
    'make a device': { shell: 'mknod /workspace/disk b 8 0 || mknod /tmp/mem c 1 1' },
    'change the mode of a device of the host': {
      shell: 'chmod 666 /dev/null || chmod 666 /dev/zero || chmod 666 /dev/tty',
    },
    'change the mode of an inherited device': {
      shell: 'chmod 666 /proc/self/fd/0 || chmod 666 /proc/1/fd/0',
    },
    'date a device of the host': { shell: 'touch -m /dev/null' },
    // Descriptors.
    'use a descriptor of ours': { python: '[fd for fd in range(3, 1024) if held(fd)] != []' },
    // Network.
    'connect to the loopback of the host': {
      python: `connects(socket.AF_INET, ("127.0.0.1", ${outside.port}))`,
    },
    'connect to an abstract socket': {
      python: `connects(socket.AF_UNIX, "\\0" + ${JSON.stringify(outside.abstractSocket)})`,
    },
    'connect to a socket of the host': {
      python: `connects(socket.AF_UNIX, ${JSON.stringify(outside.socket)})`,
    },
    'reach another machine': { python: 'connects(socket.AF_INET, ("192.0.2.1", 80))' },
    'talk to the hypervisor (VSOCK)': { python: 'makes(40, 1)' },
    'make a raw or packet socket': { python: 'makes(17, 3) or makes(2, 3)' },
    'ask the kernel for ciphers (ALG)': { python: 'makes(38, 5)' },
    // Processes.
    'see a process of the host': { shell: `[ "$(ls /proc | grep -c '^[0-9]')" -gt 30 ]` },
    'signal a process of the host': { shell: `[ ${outside.pid} -gt 30 ] && kill -0 ${outside.pid}` },
    'trace a process of the host': {
      python: `${outside.pid} > 30 and libc.ptrace(16, ${outside.pid}, 0, 0) == 0`,
    },
    'read memory of a process of the host': {
      shell: `[ ${outside.pid} -gt 30 ] && { cat /proc/${outside.pid}/environ || cat /proc/${outside.pid}/cmdline; }`,
    },
    'signal process 1': { shell: 'kill -9 1; sleep 0.02; ! kill -0 1' },
    // Privileges.
    'have a capability': {
      shell: 'grep -E "^Cap(Inh|Prm|Eff|Bnd|Amb):" /proc/self/status | grep -qv 0000000000000000',
    },
    'gain privileges by a program': { shell: '! grep -q "^NoNewPrivs:.1$" /proc/self/status' },
    'make any call': { shell: '! grep -q "^Seccomp:.2$" /proc/self/status' },
    'be unfiltered in process 1': { shell: '! grep -q "^Seccomp:.2$" /proc/1/status' },
    'give up the out-of-memory preference': {
      shell:
        'echo 999 >/proc/self/oom_score_adj || echo -1000 >/proc/self/oom_score_adj || echo 0 >/proc/1/oom_score_adj',
    },
    'be without an out-of-memory preference': { shell: '[ "$(cat /proc/self/oom_score_adj)" != 1000 ]' },
    'dump core': { shell: '[ "$(ulimit -c)" != 0 ]' },
    'open more files than the limit': {
      shell: '[ "$(ulimit -Hn)" = unlimited ] || [ "$(ulimit -Hn)" -gt 16384 ]',
    },
    // Namespaces.
    'make a user namespace': { shell: 'unshare --user true || unshare --map-root-user true' },
    'make a mount, net, pid, ipc, uts or cgroup namespace': {
      shell:
        'unshare --mount true || unshare --net true || unshare --pid --fork true || unshare --ipc true || unshare --uts true || unshare --cgroup true',
    },
    'clone into a user namespace': {
      python: `call(${number(56, 220)}, 0x10000000 | 17, 0, 0, 0, 0) != EPERM`,
    },
    'clone by the call that cannot be judged': { python: 'call(435, 0, 0) != ENOSYS' },
    'unshare time': { python: `call(${number(272, 97)}, 0x80) != EPERM` },
    'enter another namespace': { shell: 'nsenter --target 1 --mount --net true' },
    'change the root': { shell: 'chroot /usr true' },
    // Keys.
    'read names of keys': { shell: 'grep -q . /proc/keys || grep -q . /proc/key-users' },
    'find the session keyring of the person': {
      python: `call(${number(250, 219)}, 0, -3, 0) != EPERM or call(${number(250, 219)}, 10, -3, 0, 0, 0) != EPERM`,
    },
    // Terminal.
    'open the terminal of the person': { shell: 'true </dev/tty' },
    'type into a terminal': {
      python: `call(${number(16, 29)}, 0, 0x5412, 0) != EPERM or call(${number(16, 29)}, 0, 0x541c, 0) != EPERM`,
    },
    // Content of a file without a write.
    'exchange the blocks of two files': {
      python: `any(call(${number(16, 29)}, 0, request, 0) != EPERM for request in (0xc028660f, 0x6611, 0xc0c0586d, 0x40285881, 0x40585883, 0xc020f509))`,
    },
    // Memory without a process.
    'hold shared memory of any size': { python: `call(${number(29, 194)}, 0, 1 << 30, 0o1600) != ENOSPC` },
    'hold semaphores of any number': { python: `call(${number(64, 190)}, 0, 32000, 0o1600) != ENOSPC` },
    ...(x64
      ? {
          'call by the table of x32': { python: `call(0x40000000 + 39) != ENOSYS` },
          'call by the table of i386': { python: 'i386_getpid() > 0' },
        }
      : {}),
    ...callProbes(),
  };
}

/** Runs the Python probes: words are name, expression, …; prints as the shell loop does. */
export const pythonRunner = `
import ctypes, errno, mmap, os, signal, socket, sys
from errno import EPERM, ENOSYS, ENOSPC
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(number, *words):
    ctypes.set_errno(0)
    six = list(words) + [0] * (6 - len(words))
    done = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(one) for one in six])
    return 0 if done != -1 else ctypes.get_errno()
def held(fd):
    try:
        os.fstat(fd)
        return True
    except OSError:
        return False
def connects(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as one:
        one.settimeout(0.5)
        try:
            one.connect(address)
            return True
        except OSError:
            return False
def makes(family, kind):
    try:
        socket.socket(family, kind, 0).close()
        return True
    except OSError:
        return False
def i386_getpid():
    # mov eax, 20; int 0x80; ret: in a child, which a kernel without that table ends by a signal.
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(bytes.fromhex('b814000000cd80c3'))
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        start = ctypes.addressof(ctypes.c_char.from_buffer(page))
        os.write(writer, str(ctypes.CFUNCTYPE(ctypes.c_int)(start)()).encode())
        os._exit(0)
    os.close(writer)
    said = os.read(reader, 100)
    os.waitpid(child, 0)
    return int(said or b'-1')
words = sys.argv[1:]
for name, expression in zip(words[::2], words[1::2]):
    try:
        if eval(expression):
            print(name)
    except Exception as fault:
        print('broken', name, repr(fault))
    print('tried', name, flush=True)
`;

/** Runs the shell probes likewise. */
export const shellRunner =
  'while [ $# -gt 0 ]; do sh -c "$2" >/dev/null 2>&1 </dev/null && echo "$1"; echo "tried $1"; shift 2; done';
