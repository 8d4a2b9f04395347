import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import type { SandboxBackend } from '../../../core/interfaces/sandbox.ts';
import { bubblewrapSandbox } from '../../../plugins/sandbox/bubblewrap.ts';
import { currentHostFacts } from '../../../plugins/sandbox/host-view.ts';
import { probeBackend } from '../../../plugins/sandbox/probe.ts';
import { initWords, openLauncher, runOuter } from '../../../plugins/sandbox/run-in-view.ts';
import { unshareSandbox } from '../../../plugins/sandbox/unshare.ts';
import { findProgram } from '../../../workspace/process/find-program.ts';
import { ownIdentity } from '../../../workspace/process/process-lock.ts';
import { spawnProcess } from '../../../workspace/process/spawn.ts';
import { long } from '../../rooms/long.ts';
import { openScene } from './sandbox-scene.ts';

t.setTimeout(400_000);
const bwrap = findProgram('bwrap', '');
const isRoot = process.getuid?.() === 0;
const sound = `
  --unshare-user --disable-userns --unshare-pid --unshare-ipc --unshare-net --new-session --die-with-parent
  --as-pid-1 --cap-drop ALL --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64
  --symlink usr/sbin /sbin --dev /dev --proc /proc --ro-bind /dev/null /proc/keys --remount-ro /dev --remount-ro /proc
  --tmpfs /tmp --dir /home/check --dir /etc --perms 0555 --file 4 /.launcher`
  .split(/\s+/)
  .filter((word) => word !== '');
const devicesReadOnly = ['unshare', '--mount', 'sh', '-c', 'mount -o bind,ro /dev /dev && exec "$@"', 'sh'];

interface Weakness {
  readonly rootIsWritable?: true;
  readonly devicesAreWritable?: true;
  readonly isUnfiltered?: true;
}

/** A bubblewrap whose words are ours to weaken. */
function backendOf(
  words: readonly string[],
  inWorkspace: readonly string[],
  weakness: Weakness = {},
): SandboxBackend {
  return {
    name: 'weak',
    pathsInside: () => ({ workspace: '/workspace', reports: '/reports' }),
    probe: () => Promise.reject(new Error('not asked')),
    async run(request) {
      const descriptor = openLauncher();
      const argv = [
        ...(isRoot && !weakness.devicesAreWritable ? devicesReadOnly : []),
        bwrap ?? '',
        ...words,
        ...['--bind', request.workspace, '/workspace', '--bind', request.reports, '/reports'],
        ...inWorkspace.map((word) => word.replace('WORKSPACE', request.workspace)),
        ...['--tmpfs', '/home/check', ...(weakness.rootIsWritable ? [] : ['--remount-ro', '/']), '--'],
        ...(weakness.isUnfiltered ? [] : ['/.launcher']),
        ...initWords(request),
      ];
      const env = { PATH: '/usr/sbin:/usr/bin:/bin', HOME: '/home/check', TMPDIR: '/tmp' };
      try {
        return runOuter(argv, env, request, [descriptor]);
      } finally {
        closeSync(descriptor);
      }
    },
  };
}
const gitReadOnly = ['--ro-bind', 'WORKSPACE/.git', '/workspace/.git'];
const without = (...words: string[]): string[] => sound.filter((word) => !words.includes(word));
/** Without these words where they stand in this order. */
function withoutRun(...words: string[]): string[] {
  const at = sound.findIndex((_, index) => words.every((word, offset) => sound[index + offset] === word));
  if (at === -1) throw new Error(words.join(' '));
  return sound.toSpliced(at, words.length);
}

long(
  'each weakness makes a backend unfit and is named',
  { skip: bwrap === undefined && 'bubblewrap is not installed' },
  async (t) => {
    const { facts, home } = openScene(t);
    t.match(
      await probeBackend(backendOf(sound, gitReadOnly), facts),
      { works: true },
      'sound, or nothing below means anything',
    );
    const privileged = without('--disable-userns').flatMap((word) =>
      word === 'ALL' ? ['ALL', '--cap-add', 'CAP_SYS_ADMIN'] : [word],
    );
    process.env.WRIT_PROBE_TEST = 'x';
    t.teardown(() => delete process.env.WRIT_PROBE_TEST);
    const weak: Record<string, [RegExp, SandboxBackend]> = {
      'the host network': [/loopback/, backendOf(without('--unshare-net'), gitReadOnly)],
      'the host processes': [/shared pid/, backendOf(without('--unshare-pid', '--as-pid-1'), gitReadOnly)],
      'the host ipc': [/shared ipc/, backendOf(without('--unshare-ipc'), gitReadOnly)],
      'nested user namespaces': [
        /nested user namespace/,
        backendOf(without('--disable-userns'), gitReadOnly, { isUnfiltered: true }),
      ],
      'a writable .git': [/workspace\/\.git/, backendOf(sound, [])],
      'a writable root': [/write \/etc/, backendOf(sound, gitReadOnly, { rootIsWritable: true })],
      'the home directory': [/visible .*\.ssh/, backendOf([...sound, '--ro-bind', home, home], gitReadOnly)],
      'the temporary directory': [
        /visible .*secret/,
        backendOf([...sound, '--ro-bind', '/tmp', '/tmp'], gitReadOnly),
      ],
      'a variable of ours': [
        /variable WRIT_PROBE_TEST/,
        backendOf([...sound, '--setenv', 'WRIT_PROBE_TEST', 'x'], gitReadOnly),
      ],
      'calls of the kernel': [/every system call/, backendOf(sound, gitReadOnly, { isUnfiltered: true })],
      'a writable /dev': [/write \/dev/, backendOf(withoutRun('--remount-ro', '/dev'), gitReadOnly)],
      'a writable /proc': [
        /out-of-memory preference/,
        backendOf(withoutRun('--remount-ro', '/proc'), gitReadOnly),
      ],
      'the names of keys': [
        /names of keys/,
        backendOf(withoutRun('--ro-bind', '/dev/null', '/proc/keys'), gitReadOnly),
      ],
      '/sys': [/visible \/sys/, backendOf([...sound, '--ro-bind', '/sys', '/sys'], gitReadOnly)],
      ...(isRoot
        ? {
            'devices of the host': [
              /mode of \/dev\/null/,
              backendOf(sound, gitReadOnly, { devicesAreWritable: true }),
            ] as [RegExp, SandboxBackend],
            privileges: [/privileges,/, backendOf(privileged, gitReadOnly)] as [RegExp, SandboxBackend],
            'the privilege to mount': [
              /remount \/,/,
              backendOf(privileged, gitReadOnly, { isUnfiltered: true }),
            ] as [RegExp, SandboxBackend],
          }
        : {}),
    };
    for (const [what, [leak, backend]] of Object.entries(weak)) {
      const { works, enforced, reason } = await probeBackend(backend, facts);
      t.equal(works, false, what);
      t.strictSame(enforced, []);
      t.match(reason, leak, what);
    }
  },
);

t.test(
  'kernel settings that root can write make a backend unfit',
  { skip: bwrap === undefined || !isRoot },
  async (t) => {
    const { facts } = openScene(t);
    t.match(await probeBackend(backendOf(withoutRun('--remount-ro', '/proc'), gitReadOnly), facts), {
      works: false,
      reason: /core_pattern/,
    });
  },
);

t.test('a backend in which nothing runs is unfit', async (t) => {
  const { facts } = openScene(t);
  const dead: SandboxBackend = {
    ...backendOf([], []),
    run: () => spawnProcess({ argv: ['false'], cwd: '/', env: { PATH: '/bin:/usr/bin' }, maxOutputBytes: 1 }),
  };
  t.match(await probeBackend(dead, facts), { works: false });
});

t.test('probes a backend once and reports one that cannot run as unfit', async (t) => {
  for (const make of [bubblewrapSandbox, unshareSandbox]) {
    const backend = make();
    t.equal(backend.probe(), backend.probe(), backend.name);
    const { works, enforced, reason } = await backend.probe();
    t.strictSame(
      works ? ['filesystem', 'network', 'processes', 'privileges', 'environment', 'calls', 'keyrings'] : [],
      enforced,
    );
    t.equal(make().probe(), backend.probe(), 'another instance shares the answer');
    t.equal(typeof reason, works ? 'undefined' : 'string');
  }
  const empty = t.testdir({ nowhere: {} });
  mkdirSync(path.join(empty, 'x'));
  t.equal(findProgram('writ-no-such', `relative:${empty}:${empty}/x`), undefined);
  t.equal(currentHostFacts().path, process.env.PATH);
});

t.test('a probe removes files of a dead probe and keeps those of a living one', async (t) => {
  const temporary = realpathSync(tmpdir());
  const { pid: dead } = spawnSync('true');
  const here = /\d+/.exec((await ownIdentity()).namespace)?.[0] ?? '0';
  const put = (namespace: string, pid: number): string => {
    const directory = path.join(temporary, `writ-probe-${namespace}-${pid}-abcDEF`);
    mkdirSync(path.join(directory, 'workspace'), { recursive: true });
    return directory;
  };
  const left = put(here, dead);
  const kept = [put(here, process.pid), put('1', dead)];
  t.teardown(() => {
    for (const directory of kept) rmSync(directory, { recursive: true });
  });
  await probeBackend(bubblewrapSandbox(), currentHostFacts());
  t.notOk(existsSync(left));
  t.same(
    kept.map((directory) => existsSync(directory)),
    [true, true],
    'a living pid, and a pid of another namespace',
  );
});

t.test(
  'in a container that refuses namespaces, the reason names the page about containers',
  { skip: bwrap === undefined && 'needs bubblewrap' },
  (t) => {
    const container = [
      '--dev-bind',
      '/',
      '/',
      '--tmpfs',
      '/run',
      '--ro-bind',
      '/dev/null',
      '/run/.containerenv',
    ];
    const program = fileURLToPath(new URL('../../../bin/writ.js', import.meta.url));
    const { stdout, stderr } = spawnSync(
      bwrap ?? '',
      [
        ...container,
        '--unshare-user',
        '--unshare-pid',
        '--proc',
        '/proc',
        '--',
        process.execPath,
        program,
        'doctor',
      ],
      { encoding: 'utf8' },
    );
    t.match(stdout, /missing +sandbox-bubblewrap .*writ help container/, stderr);
    t.match(stdout, /missing +sandbox-unshare .*writ help container/, stderr);
    t.end();
  },
);
