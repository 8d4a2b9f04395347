import { readFileSync, statSync } from 'node:fs';
import { WritError } from '../../base/errors.ts';
import type { SandboxBackend, SandboxRequest } from '../../contract/sandbox.ts';
import { findProgram } from '../find-program.ts';
import { isInside } from '../inside.ts';
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

/**
 * Builds the root as root of a new user namespace, then enters a second one as the caller's own uid without privilege: the
 * mounts belong to the first and cannot be changed from the second. Words: uid, gid; links (target, text); files to make;
 * submounts to make read-only (each list ended by `--`); fstab before and after the change of root; then the command.
 */
const setUpScript = `set -eu
inside=$PATH; PATH=/usr/sbin:/usr/bin:/sbin:/bin; export PATH
uid=$1 gid=$2; shift 2
umask 022
ip link set lo up 2>/dev/null || ifconfig lo up 2>/dev/null || true
mount -t tmpfs -o mode=755,nosuid,nodev,size=16m writ-root /tmp
cd /tmp
mkdir .host dev dev/pts dev/shm etc proc
ln -s /proc/self/fd dev/fd; ln -s /proc/self/fd/0 dev/stdin; ln -s /proc/self/fd/1 dev/stdout
ln -s /proc/self/fd/2 dev/stderr; ln -s pts/ptmx dev/ptmx
while [ "$1" != -- ]; do mkdir -p ".\${1%/*}/"; ln -s "$2" ".$1"; shift 2; done; shift
while [ "$1" != -- ]; do mkdir -p ".\${1%/*}/"; true >".$1"; shift; done; shift
before=$1 after=$2; shift 2
printf %s "$before" >.before; printf %s "$after" >.after
mount -a -T /tmp/.before
pivot_root . .host
cd /
mount -t proc -o nosuid,nodev,noexec proc /proc
mount -a -T /.after
while [ "$1" != -- ]; do mount -o remount,bind,ro,nosuid,nodev "$1"; shift; done; shift
echo 1 >/proc/sys/user/max_user_namespaces
mount --bind /proc/sys /proc/sys
mount -o remount,bind,ro,nosuid,nodev,noexec /proc/sys
umount -l /.host
rmdir /.host
rm /.before /.after
mkdir ${homeInside}
ln -s /tmp /var/tmp
mount -o remount,bind,ro,nosuid,nodev /
rm -rf /run/mount
cd ${workspaceInside}
export PATH="$inside"
exec /usr/bin/unshare --user --map-user="$uid" --map-group="$gid" --keep-caps \\
  /usr/bin/setpriv --pdeathsig KILL --no-new-privs --bounding-set=-all --inh-caps=-all --ambient-caps=-all -- "$@"
`;
const namespaces = [
  '--user',
  '--map-root-user',
  '--mount',
  '--pid',
  '--ipc',
  '--uts',
  '--net',
  '--cgroup',
  '--fork',
  '--kill-child',
];
const devices = ['/dev/null', '/dev/zero', '/dev/full', '/dev/random', '/dev/urandom', '/dev/tty'];

/**
 * The util-linux back end (Linux, for hosts without bubblewrap): the same view and the same promises, about ten times the
 * cost per command. Without `ip` or `ifconfig` on the host even the private loopback is down.
 */
export function unshareSandbox(facts: HostFacts = currentHostFacts()): SandboxBackend {
  const missing = ['unshare', 'setpriv', 'mount', 'pivot_root'].find(
    (name) => findProgram(name, '') === undefined,
  );
  let cached: { view: HostView; plan: Plan } | undefined;
  const backend: SandboxBackend = {
    name: 'unshare',
    pathsInside: () => ({ workspace: workspaceInside, reports: reportsInside }),
    probe: onceProbed('unshare', facts, () =>
      missing === undefined ? backend : `\`${missing}\` is not installed`,
    ),
    async run(request) {
      if (missing !== undefined)
        throw new WritError('SANDBOX_UNAVAILABLE', { message: `\`${missing}\` is not installed` });
      if (request.network === 'host')
        throw new WritError('SANDBOX_UNSAFE', { message: 'a sandbox has no host network' });
      cached ??= planned(viewOfHost(facts));
      const view = viewBeside(cached.view, request.workspace);
      const { plan } = view === cached.view ? cached : planned(view);
      const env = sandboxEnvironment(environmentOf(request), {
        path: view.searchPath.join(':'),
        home: homeInside,
        temporary: '/tmp',
      });
      return runOuter(outerArgv(plan, request), env, request);
    },
  };
  return backend;
}

interface Plan {
  readonly links: readonly string[];
  readonly files: readonly string[];
  readonly submounts: readonly string[];
  readonly before: string;
  readonly after: string;
}

function planned(view: HostView): { view: HostView; plan: Plan } {
  const files: string[] = [...devices];
  const submounts: string[] = [];
  let before = '';
  let after = '';
  const mounted = mountPoints();
  for (const path of view.system) {
    // The programs that go on after the change of root have to be there before it.
    if (!path.startsWith('/etc/')) before += bindLine(path, `/tmp${path}`, false);
    else {
      after += bindLine(`/.host${path}`, path, false);
      if (statSync(path).isFile()) files.push(path);
    }
  }
  for (const device of devices) after += fstabLine(`/.host${device}`, device, 'none', 'bind');
  after += fstabLine('devpts', '/dev/pts', 'devpts', 'newinstance,ptmxmode=0666,mode=620,nosuid,noexec');
  after += fstabLine('writ-shm', '/dev/shm', 'tmpfs', 'mode=1777,nosuid,nodev,size=268435456');
  const small = emptyDirectories.map((path) => ({ path, bytes: 16_777_216 }));
  for (const { path, bytes } of [...memoryDirectories(), ...small]) {
    after += fstabLine(
      `writ${path.replaceAll('/', '-')}`,
      path,
      'tmpfs',
      `mode=755,nosuid,nodev,size=${bytes},X-mount.mkdir`,
    );
  }
  for (const path of view.toolchains) after += bindLine(`/.host${path}`, path, false);
  const masks = procMasks();
  for (const path of masks.readOnly) if (path !== '/proc/sys') after += bindLine(path, path, false);
  for (const path of masks.covered) after += fstabLine('/.host/dev/null', path, 'none', 'bind');
  for (const path of [...view.system, ...view.toolchains]) {
    submounts.push(...mounted.filter((point) => point !== path && isInside(path, point)));
  }
  return {
    view,
    plan: { links: view.links.flatMap(({ target, to }) => [target, to]), files, submounts, before, after },
  };
}

function outerArgv(plan: Plan, request: SandboxRequest): string[] {
  let after = plan.after;
  for (const { source, target, writable } of mountsOf(request)) {
    if (!statSync(source).isDirectory() && target !== `${workspaceInside}/.git`) {
      throw new WritError('SANDBOX_UNSAFE', {
        message: `the unshare back end binds directories only, not \`${target}\``,
      });
    }
    after += bindLine(`/.host${source}`, target, writable);
  }
  const egress = egressMounts(request);
  for (const { source, target } of egress) after += bindLine(`/.host${source}`, target, false);
  const files = [...plan.files, ...egress.filter(({ isFile }) => isFile).map(({ target }) => target)];
  return [
    '/usr/bin/setpriv',
    '--pdeathsig',
    'KILL',
    '--',
    '/usr/bin/unshare',
    ...namespaces,
    '--propagation',
    'private',
    '--',
    '/bin/sh',
    '-c',
    setUpScript,
    'sh',
    String(process.getuid?.() ?? 0),
    String(process.getgid?.() ?? 0),
    ...plan.links,
    '--',
    ...files,
    '--',
    plan.before,
    after,
    ...plan.submounts,
    '--',
    ...initWords(request.network, request.argv),
  ]; // prettier-ignore
}

/** `rbind`: a plain bind of a directory with locked mounts beneath it is refused in a user namespace. */
function bindLine(source: string, target: string, writable: boolean): string {
  return fstabLine(source, target, 'none', `rbind,${writable ? 'rw' : 'ro'},nosuid,nodev,X-mount.mkdir`);
}

function fstabLine(source: string, target: string, type: string, options: string): string {
  return `${fstabWord(source)} ${fstabWord(target)} ${type} ${options} 0 0\n`;
}

function fstabWord(path: string): string {
  const octal = (octet: number): string => `\\${octet.toString(8).padStart(3, '0')}`;
  return path.replace(/[^\w./+@%=:,-]/gu, (character) => Array.from(Buffer.from(character), octal).join(''));
}

function mountPoints(): string[] {
  const unescaped = (word: string): string =>
    word.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
  return readFileSync('/proc/self/mountinfo', 'latin1')
    .split('\n')
    .flatMap((line) => line.split(' ')[4] ?? [])
    .map(unescaped);
}
