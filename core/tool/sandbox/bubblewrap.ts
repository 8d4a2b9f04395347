import { closeSync } from 'node:fs';
import { WritError } from '../../base/errors.ts';
import type { SandboxBackend, SandboxRequest } from '../../contract/sandbox.ts';
import { findProgram } from '../find-program.ts';
import { environmentOf, sandboxEnvironment } from './environment.ts';
import { currentHostFacts, type HostFacts, type HostView, viewBeside, viewOfHost } from './host-view.ts';
import { initWords } from './init.ts';
import {
  egressMounts,
  emptyDirectories,
  homeInside,
  memoryDirectories,
  mountsOf,
  reportsInside,
  workspaceInside,
} from './mounts.ts';
import { onceProbed } from './probe.ts';
import { procMasks } from './proc-masks.ts';
import { runOuter } from './run-outer.ts';
import { openSyscallFilter } from './syscall-filter.ts';

/**
 * Namespaces and privileges. All of it always: as root, bubblewrap without `--unshare-user`, `--disable-userns` and
 * `--cap-drop ALL` is escapable by a remount. Needs bubblewrap 0.8.
 */
const isolation = [
  '--unshare-user',
  '--disable-userns',
  '--unshare-pid',
  '--unshare-ipc',
  '--unshare-uts',
  '--unshare-net',
  '--unshare-cgroup-try',
  '--new-session',
  '--die-with-parent',
  '--as-pid-1',
  '--cap-drop',
  'ALL',
  '--hostname',
  'sandbox',
]; // prettier-ignore
const missing = '`bwrap` is not installed';

/** What bubblewrap makes read-only by itself. It means to do so with /proc/sys, but as root its own test for write access fails there. */
const coveredByBubblewrap = ['/proc/sysrq-trigger', '/proc/irq', '/proc/bus'];

/** The bubblewrap back end (Linux). Its set-up words are computed once. */
export function bubblewrapSandbox(facts: HostFacts = currentHostFacts()): SandboxBackend {
  const program = findProgram('bwrap', facts.path);
  let prefix: { view: HostView; words: readonly string[] } | undefined;
  const backend: SandboxBackend = {
    name: 'bubblewrap',
    pathsInside: () => ({ workspace: workspaceInside, reports: reportsInside }),
    probe: onceProbed('bubblewrap', facts, () => (program === undefined ? missing : backend)),
    async run(request) {
      if (program === undefined) throw new WritError('SANDBOX_UNAVAILABLE', { message: missing });
      if (request.network === 'host')
        throw new WritError('SANDBOX_UNSAFE', { message: 'a sandbox has no host network' });
      prefix ??= prefixOf(viewOfHost(facts));
      const all = prefix;
      const view = viewBeside(all.view, request.workspace);
      const { words } = view === all.view ? all : prefixOf(view);
      const env = sandboxEnvironment(environmentOf(request), {
        path: view.searchPath.join(':'),
        home: homeInside,
        temporary: '/tmp',
      });
      const filter = openSyscallFilter();
      const filterWords = filter === undefined ? [] : ['--seccomp', '4'];
      try {
        const passed = filter === undefined ? [] : [filter];
        // The process has its own copy as soon as the call returns, long before the promise settles.
        return runOuter([program, ...words, ...filterWords, ...suffixOf(request)], env, request, passed);
      } finally {
        if (filter !== undefined) closeSync(filter);
      }
    },
  };
  return backend;
}

function prefixOf(view: HostView): { view: HostView; words: readonly string[] } {
  const words = [...isolation];
  for (const path of view.system) words.push('--ro-bind', path, path);
  for (const { target, to } of view.links) words.push('--symlink', to, target);
  for (const { path, bytes } of memoryDirectories()) words.push('--size', String(bytes), '--tmpfs', path);
  // On the root itself, which becomes read-only: every mount costs, at the start and at the end.
  for (const path of [...emptyDirectories, homeInside]) words.push('--dir', path);
  words.push('--symlink', '/tmp', '/var/tmp');
  for (const path of view.toolchains) words.push('--ro-bind', path, path);
  words.push('--dev', '/dev', '--proc', '/proc');
  const masks = procMasks();
  for (const path of masks.readOnly)
    if (!coveredByBubblewrap.includes(path)) words.push('--ro-bind', path, path);
  for (const path of masks.covered) words.push('--ro-bind', '/dev/null', path);
  return { view, words };
}

function suffixOf(request: SandboxRequest): string[] {
  const words: string[] = [];
  for (const { source, target, writable } of mountsOf(request))
    words.push(writable ? '--bind' : '--ro-bind', source, target);
  for (const { source, target } of egressMounts(request)) words.push('--ro-bind', source, target);
  words.push(
    '--remount-ro',
    '/',
    '--chdir',
    workspaceInside,
    '--',
    ...initWords(request.network, request.argv),
  );
  return words;
}
