/* Tests by behaviour whether a sandbox back end confines. */
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf, WritError } from '../../core/base/errors.ts';
import type { SandboxBackend, TracerProbe } from '../../core/interfaces/sandbox.ts';
import { findProgram } from '../../workspace/process/find-program.ts';
import { isProvenDead, ownIdentity, type ProcessIdentity } from '../../workspace/process/process-lock.ts';
import type { HostFacts } from './host-view.ts';
import { forgetPassed, hasPassed, keepPassed } from './kept-probe.ts';
import { profile } from './refused-calls.ts';

/** Set by the back end or by the shell itself. */
const ownVariables = new Set(['PATH', 'HOME', 'TMPDIR', 'PWD', 'OLDPWD', 'SHLVL', '_']);

type Probe = Awaited<ReturnType<SandboxBackend['probe']>>;

const answers = new Map<string, Promise<Probe>>();

const namespaces = ['net', 'pid', 'ipc', 'mnt', 'user'];
/** Protections that a passed probe proves. */
const enforced = ['filesystem', 'network', 'processes', 'privileges', 'environment', 'calls', 'keyrings'];

/** Lines of `/proc/self/status` for a confined process, and the protection that is missing without each. */
const heldOfProcess = {
  'CapEff:0000000000000000': 'privileges',
  'CapBnd:0000000000000000': 'privileges to come',
  'NoNewPrivs:1': 'programs that give privileges',
  'Seccomp:2': 'every system call',
};

/**
 * Tries what a sandbox must prevent and prints one `leak` line for each that succeeds, then `done`. Words: a host TCP
 * port, then host paths that must not be visible: looked at first, because `mount` leaves `/run/mount` behind.
 */
const attempts = `
port=$1; shift
leak() { printf 'leak %s\\n' "$1"; }
for f in "$@"; do [ -e "$f" ] && leak "visible $f"; done
for f in /etc/writ-probe /usr/writ-probe /writ-probe /workspace/.git/writ-probe /proc/sys/kernel/core_pattern; do
  { true >>"$f"; } 2>/dev/null && leak "write $f"
done
mount -o remount,rw,bind / 2>/dev/null && leak 'remount /'
mount -o remount,rw,bind /usr 2>/dev/null && leak 'remount /usr'
mount -t tmpfs none /mnt 2>/dev/null && leak 'mount'
unshare --user true 2>/dev/null && leak 'nested user namespace'
export -p
{ true >>/dev/writ-probe; } 2>/dev/null && leak 'write /dev'
for f in /dev/null /proc/self/fd/0; do chmod 666 "$f" 2>/dev/null && leak "mode of $f"; done
{ echo 0 >/proc/self/oom_score_adj; } 2>/dev/null && leak 'out-of-memory preference'
read -r score </proc/self/oom_score_adj; [ "$score" = ${profile.outOfMemoryScore} ] || leak 'no out-of-memory preference'
{ read -r key </proc/keys; } 2>/dev/null && leak 'names of keys'
while read -r name value; do case $name$value in
  CapEff:0000000000000000 | CapBnd:0000000000000000 | NoNewPrivs:1 | Seccomp:2) printf 'holds %s\\n' "$name$value" ;;
esac; done </proc/self/status
for n in ${namespaces.join(' ')}; do printf 'ns %s\\n' "$(readlink /proc/self/ns/$n)"; done
if [ -x /bin/bash ]; then bash -c "exec 3<>/dev/tcp/127.0.0.1/$port" 2>/dev/null && leak 'loopback'
else node -e "require('net').connect($port,'127.0.0.1').on('connect',()=>process.exit(0)).on('error',()=>process.exit(1))" && leak 'loopback'; fi
echo x >/workspace/written && echo x >"/reports/written" && echo x >"$HOME/written" && echo x >"$TMPDIR/written" && echo done
`;

/**
 * Builds a back end's `probe`. It runs once per process for the same name and host facts, and a passed one is kept for
 * an hour. `find` returns the back end, or the reason why there is none; `words` are those of an empty sandbox.
 */
export function onceProbed(
  name: string,
  facts: HostFacts,
  find: () => SandboxBackend | string,
  words: () => readonly string[],
): SandboxBackend['probe'] {
  const key = JSON.stringify([name, facts.path, facts.home, facts.execPath]);
  return ({ anew = false } = {}) => {
    if (anew) forgetPassed({ name, facts });
    const known = answers.get(key);
    if (known !== undefined && !anew) return known;
    const answer = (async () => {
      const backend = find();
      if (typeof backend === 'string') return { ...fails(backend), absent: true as const };
      const form = { name, facts, words: [...words(), attempts, ...hostSecrets(facts.home)] };
      if (await hasPassed(form)) return { works: true, enforced };
      const probed = await probeBackend(backend, facts);
      if (probed.works) await keepPassed(form);
      return probed;
    })().catch((error: unknown) => fails(messageOf(error)));
    answers.set(key, answer);
    return answer;
  };
}

/**
 * Short, because a socket's path may have 107 bytes: of who made it, the pid and its namespace, which with host and
 * boot of this machine name a process.
 */
function scratchPrefix({ namespace, pid }: ProcessIdentity): string {
  return `writ-probe-${/\d+/.exec(namespace)?.[0] ?? '0'}-${pid}-`;
}

/** Removes files of earlier probes with a process that is proven dead. */
async function removeKilled(temporary: string, self: ProcessIdentity): Promise<void> {
  for (const name of await readdir(temporary).catch(() => [])) {
    const pid = Number(/^writ-probe-\d+-(\d{1,10})-[A-Za-z0-9]{6}$/.exec(name)?.[1]);
    const maker = { ...self, pid, started: '' };
    if (!name.startsWith(scratchPrefix(maker)) || !(await isProvenDead(maker))) continue;
    const found = join(temporary, name);
    const status = await lstat(found).catch(() => undefined);
    if (status?.isDirectory() && status.uid === process.getuid?.())
      await rm(found, { recursive: true, force: true }).catch(() => undefined);
  }
}

/**
 * Tests a back end by behaviour. It tries forbidden writes, remounts, a nested user namespace and a connection to a
 * listening loopback port. It also tries sockets in `/run` and the temporary directory, `~/.ssh`, devices, keys,
 * privileges and the system call filter. One leak, or one attempt that could not run, fails the probe.
 */
export async function probeBackend(backend: SandboxBackend, facts: HostFacts): Promise<Probe> {
  const temporary = await realpath(tmpdir());
  const self = await ownIdentity();
  await removeKilled(temporary, self);
  const scratch = await mkdtemp(join(temporary, scratchPrefix(self)));
  const servers: Server[] = [];
  let connected = 0;
  const listen = (where: { port: number; host: string } | { path: string }): Promise<Server> =>
    new Promise((resolve, reject) => {
      const server = createServer((socket) => {
        connected += 1;
        socket.destroy();
      });
      servers.push(server);
      server.once('error', reject).listen(where, () => resolve(server));
    });
  try {
    const workspace = join(scratch, 'workspace');
    const reports = join(scratch, 'reports');
    await mkdir(join(workspace, '.git'), { recursive: true });
    await mkdir(reports);
    const secret = join(scratch, 'secret');
    await writeFile(secret, 'x', { mode: 0o600 });
    const address = (await listen({ port: 0, host: '127.0.0.1' })).address();
    const socket = join(scratch, 's');
    await listen({ path: socket });
    if (address === null || typeof address === 'string') return fails('no loopback port to try');
    const result = await backend.run({
      argv: [
        '/bin/sh',
        '-c',
        attempts,
        'sh',
        String(address.port),
        secret,
        socket,
        ...hostSecrets(facts.home),
      ],
      workspace,
      reports,
      binds: [],
      env: {},
      network: 'none',
      timeoutMs: 20_000,
      maxOutputBytes: 65_536,
    });
    const lines = result.stdout.bytes.toString('utf8').split('\n');
    const leaks = lines.filter((line) => line.startsWith('leak ')).map((line) => line.slice(5));
    for (const [held, leak] of Object.entries(heldOfProcess)) {
      if (!lines.includes(`holds ${held}`)) leaks.push(leak);
    }
    for (const name of namespaces) {
      if (!lines.some((line) => line.startsWith(`ns ${name}:`))) leaks.push(`unknown ${name} namespace`);
      else if (lines.includes(`ns ${readlinkSync(`/proc/self/ns/${name}`)}`))
        leaks.push(`shared ${name} namespace`);
    }
    for (const line of lines) {
      const name = /^(?:export|declare -x) (\w+)/.exec(line)?.[1];
      if (name !== undefined && name in process.env && !ownVariables.has(name))
        leaks.push(`variable ${name}`);
    }
    if (connected > 0) leaks.push('loopback');
    if (leaks.length > 0) return fails(`it lets through: ${[...new Set(leaks)].join(', ')}`);
    const written = await readFile(join(workspace, 'written'), 'utf8').catch(() => '');
    if (!lines.includes('done') || result.exitCode !== 0 || written !== 'x\n') {
      return fails(
        `a command does not run in it: ${result.stderr.bytes.toString('utf8').trim().slice(0, 300)}`,
      );
    }
    return { works: true, enforced };
  } finally {
    for (const server of servers) server.close();
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Existing host paths that must be invisible: sockets and directories in `/run`, and files in the home directory. */
function hostSecrets(home: string): string[] {
  const entries = (directory: string, wanted: (name: string) => boolean): string[] => {
    try {
      return readdirSync(directory)
        .filter(wanted)
        .slice(0, 8)
        .map((name) => join(directory, name));
    } catch {
      return [];
    }
  };
  return [
    join(home, '.ssh'),
    ...entries(home, (name) =>
      /^\.(?:netrc|npmrc|git-credentials|aws|gnupg|docker|kube|bashrc|profile)$/.test(name),
    ),
    ...entries('/run', () => true),
    '/etc/shadow',
    '/etc/ssh',
    '/sys/kernel',
  ].filter((file) => existsSync(file));
}

function fails(reason: string): Probe {
  return { works: false, enforced: [], reason };
}

const missing = '`strace` is not installed: install the package `strace`';

/** Words that trace what follows: the calls on files and processes, into a file that no process inside can reach. */
export function tracerWords(file: string): readonly string[] {
  const program = findProgram('strace', process.env.PATH ?? '');
  if (program === undefined) throw new WritError('TRACER_UNAVAILABLE', { message: missing });
  const calls = 'trace=%file,%process,fchdir,getdents64';
  return [program, '-f', '--seccomp-bpf', '-qq', '-y', '-e', calls, '-e', 'signal=none', '-o', file, '--'];
}

const tracerAnswers = new Map<string, Promise<TracerProbe>>();

/** Builds a back end's `probeTracer`. It runs once per process for the same name and host facts. */
export function onceTraced(
  name: string,
  facts: HostFacts,
  backend: () => SandboxBackend,
): () => Promise<TracerProbe> {
  const key = JSON.stringify([name, facts.path, facts.home, facts.execPath]);
  return () => {
    const answer =
      tracerAnswers.get(key) ??
      probeTracer(backend()).catch((fault: unknown) => ({ works: false, reason: messageOf(fault) }));
    tracerAnswers.set(key, answer);
    return answer;
  };
}

/** Traces a command that looks up a missing file, and checks that the trace reports it. */
async function probeTracer(backend: SandboxBackend): Promise<TracerProbe> {
  const scratch = await mkdtemp(join(await realpath(tmpdir()), 'writ-tracer-'));
  try {
    const [workspace, reports, traceTo] = ['workspace', 'reports', 'trace'].map((one) => join(scratch, one));
    if (workspace === undefined || reports === undefined || traceTo === undefined) return { works: false };
    await mkdir(join(workspace, '.git'), { recursive: true });
    await mkdir(reports);
    const { exitCode, stderr } = await backend.run({
      argv: ['/bin/sh', '-c', '[ -e looked-for ] || exit 3'],
      workspace,
      reports,
      binds: [],
      env: {},
      network: 'none',
      timeoutMs: 20_000,
      maxOutputBytes: 65_536,
      traceTo,
    });
    const said = stderr.bytes.toString('utf8').trim().slice(0, 300);
    if (exitCode !== 3)
      return { works: false, reason: `\`strace\` does not work in sandbox \`${backend.name}\`: ${said}` };
    const trace = await readFile(traceTo, 'latin1');
    if (/looked-for".{0,200} = -1 ENOENT/.test(trace)) return { works: true };
    return { works: false, reason: '`strace` does not report what a command looks for' };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
