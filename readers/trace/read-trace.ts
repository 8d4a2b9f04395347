import { posix } from 'node:path';
import type { Footprint } from './footprint.ts';
import { createTraceReader, readPathArgument, type TracedCall } from './trace-line.ts';

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

/**
 * Reads what `strace -f --seccomp-bpf -qq -y -e trace=%file,%process,fchdir,getdents64 -e signal=none` wrote. `cwd` is
 * where the first process began. Lines that cannot be read are left out. Memory grows with the number of paths, not of
 * calls.
 */
export function createFootprintReader(cwd: string): {
  readonly read: (line: string) => void;
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

  const resolve = ({ pid, args }: Pick<TracedCall, 'pid' | 'args'>): string | undefined => {
    const given = readPathArgument(args);
    if (given === undefined) return undefined;
    const from = given.from ?? directories.get(pid) ?? cwd;
    return posix.resolve(from.startsWith('/') ? from : cwd, given.path);
  };

  const lookUp = (call: TracedCall): void => {
    const path = resolve(call);
    if (path === undefined) return;
    const { name, error, result = -1, args } = call;
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

  return {
    read(line) {
      const call = parse(line);
      if (call === undefined) return;
      const { pid, name, args, result } = call;
      const at = /^AT_FDCWD<((?:[^>\\]|\\.)*)>/.exec(args)?.[1];
      if (at !== undefined) directories.set(pid, readPathArgument(`AT_FDCWD<${at}>`)?.from ?? cwd);
      if (forks.has(name) && result !== undefined && result > 0)
        directories.set(result, directories.get(pid) ?? cwd);
      else if (name === 'fchdir' || name === 'getdents64') {
        const path = readPathArgument(args)?.from;
        if (path === undefined || result === undefined || result < 0) return;
        if (name === 'fchdir') directories.set(pid, path);
        else seen.listed.add(path);
      } else if (lookups.has(name)) lookUp(call);
      else if (result === 0 && makers.has(name)) {
        const path = resolve(call);
        if (path !== undefined) made.add(path);
      } else if (result === 0 && movers.has(name)) {
        const last = lastPath(args);
        const path = last === undefined ? undefined : resolve({ pid, args: last });
        if (path !== undefined) made.add(path);
      }
    },
    footprint: () => ({
      missing: sorted(seen.missing),
      read: sorted(seen.read),
      listed: sorted(seen.listed),
      executed: sorted(seen.executed),
    }),
  };
}

/** The last string of arguments with the directory that it is relative to. */
function lastPath(args: string): string | undefined {
  const all = args.match(/(?:(?:AT_FDCWD|-?\d+)<(?:[^>\\]|\\.)*>, )?"(?:[^"\\]|\\.)*"/g);
  return all?.at(-1);
}

function sorted(paths: ReadonlySet<string>): readonly string[] {
  return [...paths].sort();
}
