/* The sandbox back end for `unshare`. */
import { readFileSync, statSync } from 'node:fs';
import { WritError } from '../../core/base/errors.ts';
import { type SandboxBackend, type SandboxRequest, workspaceInside } from '../../core/interfaces/sandbox.ts';
import { findProgram, isInside } from '../../workspace/process/find-program.ts';
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
 * Builds the root as root of a new user namespace, then enters a second one as the caller's own uid without privilege:
 * the mounts belong to the first and cannot be changed from the second. Words: uid, gid; scratches; links (target,
 * text); files to make; submounts to make read-only (each list ended by `--`); fstab before and after the change of
 * root; a path that leads to the workspace, or nothing; then the command.
 */
const setUpScript = `set -eu
inside=$PATH; PATH=/usr/sbin:/usr/bin:/sbin:/bin; export PATH
uid=$1 gid=$2; shift 2
${scratchScript}umask 022
hostname ${profile.hostname} 2>/dev/null || true
ip link set lo up 2>/dev/null || ifconfig lo up 2>/dev/null || true
mount -t tmpfs -o mode=755,nosuid,nodev,size=16m writ-root /tmp
cd /tmp
mkdir .host dev dev/pts etc proc${profile.emptyDirectories.map((path) => ` .${path}`).join('')}
ln -s /proc/self/fd dev/fd; ln -s /proc/self/fd/0 dev/stdin; ln -s /proc/self/fd/1 dev/stdout
ln -s /proc/self/fd/2 dev/stderr; ln -s pts/ptmx dev/ptmx
cat <&4 >.${profile.launcher}; chmod 555 .${profile.launcher}; exec 4<&-
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
[ -z "$1" ] || { mkdir -p "\${1%/*}/"; ln -s ${workspaceInside} "$1"; }; shift
echo 1 >/proc/sys/user/max_user_namespaces
umount -l /.host
rmdir /.host
mkdir -p ${homeInside}
mkfifo /.entered /.closed
{
  read -r entered </.entered; exec 5>/.closed
  rm -rf /.before /.after /.entered /.closed /run/mount
  mount -n -o remount,bind,ro,nosuid,nodev,noexec /proc; mount -n -o remount,bind,ro,nosuid,nodev /
  echo closed >&5
} &
cd ${workspaceInside}; unset OLDPWD
export PATH="$inside"
exec /usr/bin/unshare --user --map-user="$uid" --map-group="$gid" --keep-caps \\
  /usr/bin/setpriv --pdeathsig KILL --no-new-privs --bounding-set=-all --inh-caps=-all --ambient-caps=-all -- "$@"
`;
/**
 * The second namespace is entered through /proc, which only the first can make read-only. Process 1 requests that and
 * waits before it reports successful set-up.
 */
const closeScript = `exec 5<>/.closed && echo >/.entered && read -r said <&5 && [ "$said" = closed ] || exit 1
exec 5<&-
`;
const namespaces = [
  ...profile.namespaces.map((name) => `--${name}`),
  '--map-root-user',
  '--fork',
  '--kill-child',
];

/**
 * The util-linux back end (Linux, for hosts without bubblewrap): the same view and the same promises, about ten times
 * the cost per command. Without `ip` or `ifconfig` on the host even the private loopback is down.
 */
export function unshareSandbox(facts: HostFacts = currentHostFacts()): SandboxBackend {
  const missing = ['unshare', 'setpriv', 'mount', 'pivot_root'].find(
    (name) => findProgram(name, '') === undefined,
  );
  let cached: Planned | undefined;
  const backend: SandboxBackend = {
    name: 'unshare',
    pathsInside: () => ({ workspace: workspaceInside, reports: reportsInside }),
    probe: onceProbed(
      'unshare',
      facts,
      () => (missing === undefined ? backend : `\`${missing}\` is not installed`),
      () => {
        const plan = JSON.stringify(openPlan(profile.maxMemoryBytes));
        return [setUpScript, closeScript, ...namespaces, plan, launcherText()];
      },
    ),
    probeTracer: onceTraced('unshare', facts, () => backend),
    async run(asked) {
      if (missing !== undefined)
        throw new WritError('SANDBOX_UNAVAILABLE', { message: `\`${missing}\` is not installed` });
      if (asked.network === 'host')
        throw new WritError('SANDBOX_UNSAFE', { message: 'a sandbox has no host network' });
      const memory = asked.maxMemoryBytes ?? profile.maxMemoryBytes;
      const common = openPlan(memory);
      const { view, request } = await viewFor(common.view, asked);
      const { plan } = view === common.view ? common : planned(view, memory);
      return withMounts(request, true, (mounts) => {
        const all = outerArgv(plan, view, request, mounts);
        return disprovable({ name: 'unshare', facts }, runInView(all, view, request));
      });
    },
  };
  return backend;

  function openPlan(memory: number): Planned {
    if (cached?.memory !== memory) cached = planned(cached?.view ?? viewOfHost(facts), memory);
    return cached;
  }
}

interface Planned {
  readonly view: HostView;
  readonly memory: number;
  readonly plan: Plan;
}

interface Plan {
  readonly links: readonly string[];
  readonly files: readonly string[];
  readonly submounts: readonly string[];
  readonly before: string;
  readonly after: string;
}

function planned(view: HostView, memory: number): Planned {
  const files: string[] = [...profile.devices];
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
  for (const device of profile.devices) after += fstabLine(`/.host${device}`, device, 'none', 'bind,ro');
  after += fstabLine('devpts', '/dev/pts', 'devpts', 'newinstance,ptmxmode=0666,mode=620,nosuid,noexec');
  for (const { path, bytes, mode } of memoryDirectories(memory)) {
    const options = `mode=${mode},nosuid,nodev,size=${bytes},X-mount.mkdir`;
    after += fstabLine(`writ${path.replaceAll('/', '-')}`, path, 'tmpfs', options);
  }
  for (const path of view.toolchains) after += bindLine(`/.host${path}`, path, false);
  for (const path of [...coveredOfProc(), ...view.covered])
    after += fstabLine('/.host/dev/null', path, 'none', 'bind,ro,nosuid,nodev,noexec');
  for (const path of [...view.system, ...view.toolchains]) {
    submounts.push(...mounted.filter((point) => point !== path && isInside(path, point)));
  }
  return {
    view,
    memory,
    plan: {
      links: [
        ...view.links.flatMap(({ target, to }) => [target, to]),
        ...Object.entries(profile.links).flat(),
      ],
      files,
      submounts,
      before,
      after,
    },
  };
}

function outerArgv(plan: Plan, view: HostView, request: SandboxRequest, all: readonly Mount[]): string[] {
  let after = plan.after;
  const { link = '', mounts, emptied } = coverOf(view, request, all);
  for (const path of emptied)
    after += fstabLine('writ-hidden', path, 'tmpfs', 'mode=555,size=64k,nosuid,nodev');
  for (const { source, target, writable } of [...all, ...mounts]) {
    if (!statSync(source).isDirectory() && !target.endsWith('/.git')) {
      throw new WritError('SANDBOX_UNSAFE', {
        message: `the unshare back end binds directories only, not \`${target}\``,
      });
    }
    after += bindLine(`/.host${source}`, target, writable);
  }
  for (const { source, target } of withheldMounts(view, request))
    after += fstabLine(`/.host${source}`, target, 'none', 'bind,ro,nosuid,nodev');
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
    ...scratchWords(all),
    ...plan.links,
    '--',
    ...files,
    '--',
    plan.before,
    after,
    ...plan.submounts,
    ...emptied,
    '--',
    link,
    profile.launcher,
    ...initWords(request, closeScript),
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
