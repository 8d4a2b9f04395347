/* The sandbox back end for bubblewrap. */
import { WritError } from '../../core/base/errors.ts';
import { type SandboxBackend, type SandboxRequest, workspaceInside } from '../../core/interfaces/sandbox.ts';
import { findProgram } from '../../workspace/process/find-program.ts';
import {
  currentHostFacts,
  type HostFacts,
  type HostView,
  homeInside,
  viewFor,
  viewOfHost,
} from './host-view.ts';
import { disprovable } from './kept-probe.ts';
import {
  coverOf,
  egressMounts,
  type Mount,
  mountNamespace,
  reportsInside,
  scratchScript,
  scratchWords,
  withheldMounts,
  withMounts,
} from './mounts.ts';
import { onceProbed, onceTraced } from './probe.ts';
import { coveredOfProc, memoryDirectories, profile } from './refused-calls.ts';
import { initWords, launcherText, runInView } from './run-in-view.ts';

/**
 * Namespaces and privileges. All of it always: as root, bubblewrap without `--unshare-user`, `--disable-userns` and
 * `--cap-drop ALL` is escapable by a remount. Needs bubblewrap 0.8.
 */
const isolation = [
  // Its mount namespace goes without saying, and a cgroup namespace is not to be had everywhere.
  ...profile.namespaces
    .filter((name) => name !== 'mount')
    .map((name) => (name === 'cgroup' ? '--unshare-cgroup-try' : `--unshare-${name}`)),
  '--disable-userns',
  '--new-session',
  '--die-with-parent',
  '--as-pid-1',
  '--cap-drop',
  'ALL',
  '--hostname',
  profile.hostname,
];
const missing = '`bwrap` is not installed';

/**
 * Bubblewrap binds the host's devices writable, so that root inside, who owns them, could change their mode: they are
 * made read-only before.
 */
const readOnlyDevices = `set -e
PATH=/usr/sbin:/usr/bin:/sbin:/bin mount -o bind,ro /dev /dev
${scratchScript}exec "$@"`;
/** An ordinary user mounts overlays as root of a namespace, and starts bubblewrap in a second one as himself. */
const overlaysOfUser = `set -e
uid=$1 gid=$2; shift 2
${scratchScript}exec /usr/bin/unshare --user --map-user="$uid" --map-group="$gid" -- "$@"`;

/** The bubblewrap back end (Linux). Its set-up words are computed once. */
export function bubblewrapSandbox(facts: HostFacts = currentHostFacts()): SandboxBackend {
  const program = findProgram('bwrap', facts.path);
  let prefix: Prefix | undefined;
  const backend: SandboxBackend = {
    name: 'bubblewrap',
    pathsInside: () => ({ workspace: workspaceInside, reports: reportsInside }),
    probe: onceProbed(
      'bubblewrap',
      facts,
      () => (program === undefined ? missing : backend),
      () => [...outerWords(program), ...openPrefix(profile.maxMemoryBytes).words, launcherText()],
    ),
    probeTracer: onceTraced('bubblewrap', facts, () => backend),
    async run(asked) {
      if (program === undefined) throw new WritError('SANDBOX_UNAVAILABLE', { message: missing });
      if (asked.network === 'host')
        throw new WritError('SANDBOX_UNSAFE', { message: 'a sandbox has no host network' });
      const memory = asked.maxMemoryBytes ?? profile.maxMemoryBytes;
      const common = openPrefix(memory);
      const { view, request } = await viewFor(common.view, asked);
      const { words } = view === common.view ? common : prefixOf(view, memory);
      return withMounts(request, !isRoot(), (mounts) => {
        const outer = outerWords(program, scratchWords(mounts));
        const all = [...outer, ...words, ...suffixOf(view, request, mounts)];
        return disprovable({ name: 'bubblewrap', facts }, runInView(all, view, request));
      });
    },
  };
  return backend;

  function openPrefix(memory: number): Prefix {
    if (prefix?.memory !== memory) prefix = prefixOf(prefix?.view ?? viewOfHost(facts), memory);
    return prefix;
  }
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function outerWords(program = '', scratches: readonly string[] = ['--']): readonly string[] {
  const start = [...mountNamespace(!isRoot()), '/bin/sh', '-c'];
  if (isRoot()) return [...start, readOnlyDevices, 'sh', ...scratches, program];
  if (scratches.length === 1) return [program];
  const ids = [String(process.getuid?.()), String(process.getgid?.())];
  return [...start, overlaysOfUser, 'sh', ...ids, ...scratches, program];
}

interface Prefix {
  readonly view: HostView;
  readonly memory: number;
  readonly words: readonly string[];
}

function prefixOf(view: HostView, memory: number): Prefix {
  const words = [...isolation];
  const inMemory = ({ path, bytes, mode }: ReturnType<typeof memoryDirectories>[number]): void => {
    words.push('--perms', mode, '--size', String(bytes), '--tmpfs', path);
  };
  const inDevices = (path: string): boolean => path.startsWith('/dev/');
  for (const path of view.system) words.push('--ro-bind', path, path);
  for (const { target, to } of view.links) words.push('--symlink', to, target);
  const directories = memoryDirectories(memory);
  for (const directory of directories) if (!inDevices(directory.path)) inMemory(directory);
  // On the root itself, which becomes read-only: every mount costs, at the start and at the end.
  for (const path of [...profile.emptyDirectories, homeInside]) words.push('--dir', path);
  for (const [path, to] of Object.entries(profile.links)) words.push('--symlink', to, path);
  for (const path of view.toolchains) words.push('--ro-bind', path, path);
  words.push('--dev', '/dev', '--proc', '/proc');
  for (const directory of directories) if (inDevices(directory.path)) inMemory(directory);
  for (const path of [...coveredOfProc(), ...view.covered]) words.push('--ro-bind', '/dev/null', path);
  words.push('--remount-ro', '/dev', '--remount-ro', '/proc');
  words.push('--perms', '0555', '--file', '4', profile.launcher);
  return { view, memory, words };
}

function suffixOf(view: HostView, request: SandboxRequest, all: readonly Mount[]): string[] {
  const words: string[] = [];
  const { link, mounts, emptied } = coverOf(view, request, all);
  for (const path of emptied) words.push('--perms', '0555', '--tmpfs', path);
  for (const { source, target, writable } of [...all, ...mounts, ...withheldMounts(view, request)])
    words.push(writable ? '--bind' : '--ro-bind', source, target);
  for (const { source, target } of egressMounts(request)) words.push('--ro-bind', source, target);
  // A linked working tree may lie in one of them.
  for (const path of emptied) words.push('--remount-ro', path);
  if (link !== undefined) words.push('--symlink', workspaceInside, link);
  words.push('--remount-ro', '/', '--chdir', workspaceInside, '--', profile.launcher, ...initWords(request));
  return words;
}
