/* Reads the output of strace as a footprint. */
import { posix } from 'node:path';

/**
 * What a tree of processes did with files. Paths are absolute, without `.` and `..`, each once, in code point order.
 */
export interface Footprint {
  /** Looked up and not there, by a process that did not make the file itself later. */
  readonly missing: readonly string[];
  /** Opened for reading, or looked up and there; files that the processes made themselves are left out. */
  readonly read: readonly string[];
  /** Of those, opened by another program than git: `git describe --dirty` reads every file of a tree. */
  readonly opened: readonly string[];
  /** Directories that were listed. */
  readonly listed: readonly string[];
  /** Programs that were executed, as they were named. */
  readonly executed: readonly string[];
  /** Every path that a call named, whatever came of it, unless the processes made it themselves before. */
  readonly named: readonly string[];
  /** What has another name since: sources of moves, targets of links, new roots; `/` for `/proc/self/cwd`. */
  readonly aliased: readonly string[];
  /** Calls that could not be read. */
  readonly unread: number;
}

/** Calls that query a path, or open it. */
const lookups = new Set([
  ...['access', 'faccessat', 'faccessat2', 'stat', 'lstat', 'newfstatat', 'fstatat64', 'statx'],
  ...[
    'readlink',
    'readlinkat',
    'open',
    'openat',
    'openat2',
    'chdir',
    'execve',
    'execveat',
    'statfs',
    'utimensat',
  ],
]);
/** Calls that create their first path. */
const makers = new Set(['mkdir', 'mkdirat', 'mknod', 'mknodat', 'creat']);
/** Calls that create their last path. */
const movers = new Set(['rename', 'renameat', 'renameat2', 'link', 'linkat', 'symlink', 'symlinkat']);
const forks = new Set(['clone', 'clone3', 'fork', 'vfork']);
/** Ways around names: what a process holds open, and where it is. */
const throughProc = /^\/proc\/[^/]+\/(?:task\/[^/]+\/)?(?:cwd|root)(?:\/|$)|^\/(?:proc\/.+|dev)\/fd\/\d+\//;
/** Calls of the trace without a path. */
const isOfProcess = new Set([
  ...forks,
  'fchdir',
  'getdents64',
  'exit',
  'exit_group',
  'wait4',
  'waitid',
  'kill',
]);
const notThere = new Set(['ENOENT', 'ENOTDIR']);

const mostPaths = 200_000;

/**
 * Reads what `strace -f --seccomp-bpf -qq -y -e trace=%file,%process,fchdir,getdents64 -e signal=none` wrote. `cwd` is
 * where the first process began; paths below `alias` are the same below `cwd`. Lines that cannot be read are counted.
 * Memory grows with the number of paths, not of calls; `read` returns false once there are more than `maxPaths`.
 */
export function createFootprintReader(
  cwd: string,
  { maxPaths = mostPaths, alias }: { readonly maxPaths?: number; readonly alias?: string } = {},
): {
  readonly read: (line: string) => boolean;
  readonly footprint: () => Footprint;
} {
  const parse = createTraceReader();
  /** Working directories by process; threads share one. */
  const directories = new Map<number, { path: string }>();
  const seen = {
    missing: new Set<string>(),
    read: new Set<string>(),
    opened: new Set<string>(),
    listed: new Set<string>(),
    executed: new Set<string>(),
    named: new Set<string>(),
    aliased: new Set<string>(),
  };
  let unread = 0;
  let hasAlias = alias !== undefined;
  const made = new Set<string>();
  /** Processes that run git. */
  const ofGit = new Set<number>();

  const own = (path: string): string =>
    alias === undefined || !`${path}/`.startsWith(`${alias}/`) ? path : `${cwd}${path.slice(alias.length)}`;
  const resolve = (pid: number, given: PathArgument | undefined): string | undefined => {
    if (given === undefined) return undefined;
    const from = given.from ?? directories.get(pid)?.path ?? cwd;
    return own(posix.resolve(from.startsWith('/') ? from : cwd, given.path));
  };
  const move = (pid: number, path: string): void => {
    const known = directories.get(pid);
    if (known === undefined) directories.set(pid, { path });
    else known.path = path;
  };
  const name = (path: string): void => {
    if (!made.has(path)) seen.named.add(path);
    if (throughProc.test(path)) seen.aliased.add('/');
  };
  /** Every path that the call may mean: a new process may be heard of before the call that made it returns. */
  const nameAll = ({ pid, name: call, args, target }: TracedCall): void => {
    const texts = readPathArguments(args);
    const given = [texts[0], ...(movers.has(call) ? [texts.at(-1)] : [])];
    for (const one of given) {
      const isSure = one === undefined || one.from !== undefined || directories.has(pid);
      const from = isSure ? [] : [...directories.values()].map(({ path }) => path);
      for (const path of [resolve(pid, one), ...from.map((at) => own(posix.resolve(at, one?.path ?? '')))])
        if (path !== undefined) name(path);
    }
    if (target !== undefined) name(own(target));
    if (call !== 'chroot' && !movers.has(call)) return;
    const source = resolve(pid, texts[0]);
    const link = resolve(pid, texts.at(-1));
    const to = call.startsWith('symlink')
      ? own(posix.resolve(posix.dirname(link ?? cwd), texts[0]?.path ?? ''))
      : source;
    if (to === undefined || made.has(to)) return;
    name(to);
    // The first one is the sandbox's own.
    const isKnown = hasAlias && to === cwd && link?.endsWith(alias ?? '');
    if (isKnown) hasAlias = false;
    else seen.aliased.add(to);
  };

  const lookUp = (call: TracedCall): void => {
    const { name, error, result = -1, args, pid } = call;
    const [given] = readPathArguments(args);
    const path = resolve(pid, given);
    if (path === undefined) return;
    const executes = name === 'execve' || name === 'execveat';
    if (error !== undefined && notThere.has(error)) {
      if (!made.has(path)) seen.missing.add(path);
    } else if (result >= 0) {
      const opens = name.startsWith('open');
      if (opens && /O_(?:WRONLY|RDWR)/.test(args) && /O_(?:CREAT|TRUNC)/.test(args)) made.add(path);
      else if (executes) {
        seen.executed.add(path);
        if (posix.basename(path) === 'git') ofGit.add(pid);
        else ofGit.delete(pid);
      } else if (name === 'chdir') move(pid, path);
      else if (!made.has(path)) {
        seen.read.add(path);
        if (opens && !ofGit.has(pid)) seen.opened.add(path);
      }
      if (opens && args.includes('O_DIRECTORY')) seen.listed.add(path);
    }
  };

  const take = (call: TracedCall): void => {
    const { pid, name, args, result } = call;
    const at = readDescriptor(args);
    if (at !== undefined && args.startsWith('AT_FDCWD')) move(pid, at);
    if (!isOfProcess.has(name)) nameAll(call);
    if (forks.has(name) && result !== undefined && result > 0) {
      const parent = directories.get(pid) ?? { path: cwd };
      directories.set(pid, parent);
      const isShared = args.includes('CLONE_FS');
      if (isShared || !directories.has(result))
        directories.set(result, isShared ? parent : { path: parent.path });
      if (ofGit.has(pid)) ofGit.add(result);
    } else if (name === 'fchdir' || name === 'getdents64') {
      if (at === undefined || result === undefined || result < 0) return;
      if (name === 'fchdir') move(pid, at);
      else seen.listed.add(own(at));
    } else if (lookups.has(name)) lookUp(call);
    else if (result !== undefined && result >= 0 && (makers.has(name) || movers.has(name))) {
      const path = resolve(pid, readPathArguments(args).at(movers.has(name) ? -1 : 0));
      if (path !== undefined) made.add(path);
    }
  };

  return {
    read(line) {
      const call = parse(line);
      if (call === 'unread') unread += 1;
      else if (call !== undefined) take(call);
      const { missing, read, listed, executed } = seen;
      const found = missing.size + read.size + listed.size + executed.size + made.size + directories.size;
      return found <= maxPaths && seen.named.size <= 2 * maxPaths;
    },
    footprint: () => ({
      missing: sorted(seen.missing),
      read: sorted(seen.read),
      opened: sorted(seen.opened),
      listed: sorted(seen.listed),
      executed: sorted(seen.executed),
      named: sorted(seen.named),
      aliased: sorted(seen.aliased),
      unread,
    }),
  };
}

function sorted(paths: ReadonlySet<string>): readonly string[] {
  return [...paths].sort();
}

/** One system call of a trace, with its arguments as strace wrote them. */
interface TracedCall {
  readonly pid: number;
  readonly name: string;
  /** Between the parentheses. */
  readonly args: string;
  /** `undefined`: the call did not return. */
  readonly result: number | undefined;
  /** Name of the error: `ENOENT`. */
  readonly error?: string;
  /** What the descriptor leads to that it returned. */
  readonly target?: string;
}

/** A path that a call names, and the directory before it that it is relative to. */
interface PathArgument {
  readonly path: string;
  readonly from?: string;
}

/** A path has at most 4,096 octets, each at most four characters here; rename has two, each with its directory. */
const maxLineLength = 80_000;
const start = /^(\d{1,10}) +(?:<\.\.\. (\w+) resumed>|(\w+)\()/;
const end =
  /^ +=\s+(-?\d+|0x[0-9a-f]+|\?)(?:<((?:[^>\\]|\\.)*)>(?:\(deleted\))?)?(?: (E[A-Z0-9]+)[^)]*\)?)?$/;
/** Lines that are no calls: ends of processes, and signals. */
const notCalls = /^(?:\d{1,10} +)?(?:\+\+\+|---)|^$/;
const unfinished = ' <unfinished ...>';
/**
 * A text, the target of a descriptor, a parenthesis, or any other text. An unterminated one matches none of these, so
 * that tokens are read in linear time.
 */
const token =
  /"((?:[^"\\]|\\.)*)"|((?:AT_FDCWD|\b\d+)<(?:[^>\\]|\\.)*>)|[()]|(?:AT_FDCWD|\d+)(?!<)|[^"()A\d]+|A(?!T_FDCWD)/y;

/**
 * Reads lines of `strace -f`. If another process interrupts a call, it is on two lines, which are joined by process.
 * Signals and exits are omitted; `unread` is a line that is too long or has another form.
 */
function createTraceReader(): (line: string) => TracedCall | 'unread' | undefined {
  const begun = new Map<string, string>();
  return (line) => {
    if (line.length > maxLineLength) return 'unread';
    const [head = '', pid = '', resumed, called] = start.exec(line) ?? [];
    const name = resumed ?? called;
    if (name === undefined) return notCalls.test(line) ? undefined : 'unread';
    const rest = line.slice(head.length);
    const key = `${pid} ${name}`;
    if (resumed === undefined && rest.endsWith(unfinished)) {
      begun.set(key, rest.slice(0, -unfinished.length));
      return undefined;
    }
    const whole = resumed === undefined ? rest : (begun.get(key) ?? '') + rest;
    if (resumed !== undefined) begun.delete(key);
    const closing = closingParenthesis(whole);
    const ended = closing === undefined ? null : end.exec(whole.slice(closing + 1));
    if (ended === null) return 'unread';
    const [, value = '?', target, error] = ended;
    return {
      pid: Number(pid),
      name,
      args: whole.slice(0, closing),
      result: value === '?' ? undefined : Number(value),
      ...(error === undefined ? {} : { error }),
      ...(target === undefined ? {} : { target: unescapePath(target) }),
    };
  };
}

/** Texts of arguments in their order, each with the directory that it is relative to. */
function readPathArguments(args: string): readonly PathArgument[] {
  const found: PathArgument[] = [];
  let from: string | undefined;
  for (const [whole, text, descriptor] of tokensOf(args))
    if (descriptor !== undefined) from = unescapePath(descriptor.slice(descriptor.indexOf('<') + 1, -1));
    else if (text !== undefined) {
      found.push({ path: unescapePath(text), ...(from === undefined ? {} : { from }) });
      from = undefined;
    } else if (whole !== ', ') from = undefined;
  return found;
}

/** What the descriptor leads to that arguments begin with. */
function readDescriptor(args: string): string | undefined {
  const [first] = tokensOf(args);
  const descriptor = first?.[2];
  return descriptor && unescapePath(descriptor.slice(descriptor.indexOf('<') + 1, -1));
}

function* tokensOf(text: string): Generator<RegExpExecArray> {
  const reader = new RegExp(token);
  for (let found = reader.exec(text); found !== null; found = reader.exec(text)) yield found;
}

/** Where the parenthesis is that closes the arguments. */
function closingParenthesis(text: string): number | undefined {
  let depth = 0;
  for (const { 0: part, index } of tokensOf(text))
    if (part === '(') depth += 1;
    else if (part === ')') {
      if (depth === 0) return index;
      depth -= 1;
    }
  return undefined;
}

const simple: Readonly<Record<string, number>> = { n: 10, t: 9, r: 13, v: 11, f: 12, a: 7, b: 8, e: 27 };

/** strace writes octets that are not printable ASCII as C does: `\303\251`, `\n`, `\"`. */
function unescapePath(text: string): string {
  if (!text.includes('\\')) return text;
  const octets: number[] = [];
  for (const [, octal, char, plain] of text.matchAll(/\\([0-7]{1,3})|\\(.)|([^\\]+)/gs)) {
    if (octal !== undefined) octets.push(Number.parseInt(octal, 8) & 0xff);
    else if (char !== undefined) octets.push(simple[char] ?? char.charCodeAt(0));
    else octets.push(...Buffer.from(plain ?? ''));
  }
  return Buffer.from(octets).toString('utf8');
}
