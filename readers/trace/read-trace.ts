import { posix } from 'node:path';
import {
  createTraceReader,
  type PathArgument,
  readDescriptor,
  readPathArguments,
  type TracedCall,
} from './trace-line.ts';

/**
 * What a tree of processes did with files. Paths are absolute, without `.` and `..`, each once, in code point order.
 */
export interface Footprint {
  /** Looked up and not there, by a process that did not make the file itself later. */
  readonly missing: readonly string[];
  /** Opened for reading, or looked up and there; files that the processes made themselves are left out. */
  readonly read: readonly string[];
  /** Directories whose entries were listed. */
  readonly listed: readonly string[];
  /** Programs that were executed, as they were named. */
  readonly executed: readonly string[];
}

/** Calls that ask for a path, or open it. */
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
/** Calls whose first path is made by the process. */
const makers = new Set(['mkdir', 'mkdirat', 'mknod', 'mknodat', 'creat']);
/** Calls whose last path is made by the process. */
const movers = new Set(['rename', 'renameat', 'renameat2', 'link', 'linkat', 'symlink', 'symlinkat']);
const forks = new Set(['clone', 'clone3', 'fork', 'vfork']);
const notThere = new Set(['ENOENT', 'ENOTDIR']);

const mostPaths = 200_000;

/**
 * Reads what `strace -f --seccomp-bpf -qq -y -e trace=%file,%process,fchdir,getdents64 -e signal=none` wrote. `cwd` is
 * where the first process began. Lines that cannot be read are left out. Memory grows with the number of paths, not of
 * calls; `read` returns false once there are more than `maxPaths`.
 */
export function createFootprintReader(
  cwd: string,
  maxPaths = mostPaths,
): {
  readonly read: (line: string) => boolean;
  readonly footprint: () => Footprint;
} {
  const parse = createTraceReader();
  const directories = new Map<number, string>();
  const seen = {
    missing: new Set<string>(),
    read: new Set<string>(),
    listed: new Set<string>(),
    executed: new Set<string>(),
  };
  const made = new Set<string>();

  const resolve = (pid: number, given: PathArgument | undefined): string | undefined => {
    if (given === undefined) return undefined;
    const from = given.from ?? directories.get(pid) ?? cwd;
    return posix.resolve(from.startsWith('/') ? from : cwd, given.path);
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
      else if (executes) seen.executed.add(path);
      else if (name === 'chdir') directories.set(call.pid, path);
      else if (!made.has(path)) seen.read.add(path);
      if (opens && args.includes('O_DIRECTORY')) seen.listed.add(path);
    }
  };

  const take = (call: TracedCall): void => {
    const { pid, name, args, result } = call;
    const at = readDescriptor(args);
    if (at !== undefined && args.startsWith('AT_FDCWD')) directories.set(pid, at);
    if (forks.has(name) && result !== undefined && result > 0)
      directories.set(result, directories.get(pid) ?? cwd);
    else if (name === 'fchdir' || name === 'getdents64') {
      if (at === undefined || result === undefined || result < 0) return;
      if (name === 'fchdir') directories.set(pid, at);
      else seen.listed.add(at);
    } else if (lookups.has(name)) lookUp(call);
    else if (result !== undefined && result >= 0 && (makers.has(name) || movers.has(name))) {
      const path = resolve(pid, readPathArguments(args).at(movers.has(name) ? -1 : 0));
      if (path !== undefined) made.add(path);
    }
  };

  return {
    read(line) {
      const call = parse(line);
      if (call !== undefined) take(call);
      const { missing, read, listed, executed } = seen;
      return (
        missing.size + read.size + listed.size + executed.size + made.size + directories.size <= maxPaths
      );
    },
    footprint: () => ({
      missing: sorted(seen.missing),
      read: sorted(seen.read),
      listed: sorted(seen.listed),
      executed: sorted(seen.executed),
    }),
  };
}

function sorted(paths: ReadonlySet<string>): readonly string[] {
  return [...paths].sort();
}
