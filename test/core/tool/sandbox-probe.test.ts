import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import type { SandboxBackend } from '../../../core/contract/sandbox.ts';
import { ownIdentity } from '../../../core/store/process-identity.ts';
import { findProgram } from '../../../core/tool/find-program.ts';
import { bubblewrapSandbox } from '../../../core/tool/sandbox/bubblewrap.ts';
import { currentHostFacts } from '../../../core/tool/sandbox/host-view.ts';
import { probeBackend } from '../../../core/tool/sandbox/probe.ts';
import { unshareSandbox } from '../../../core/tool/sandbox/unshare.ts';
import { spawnProcess } from '../../../core/tool/spawn.ts';
import { openScene } from './sandbox-scene.ts';

t.setTimeout(120_000);
const bwrap = findProgram('bwrap', '');
const sound = [
  ...[
    '--unshare-user',
    '--disable-userns',
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-net',
    '--new-session',
  ],
  ...['--die-with-parent', '--cap-drop', 'ALL', '--ro-bind', '/usr', '/usr', '--symlink', 'usr/bin', '/bin'],
  ...[
    '--symlink',
    'usr/lib',
    '/lib',
    '--symlink',
    'usr/lib64',
    '/lib64',
    '--symlink',
    'usr/sbin',
    '/sbin',
    '--dev',
    '/dev',
  ],
  ...[
    '--proc',
    '/proc',
    '--ro-bind',
    '/proc/sys',
    '/proc/sys',
    '--tmpfs',
    '/tmp',
    '--dir',
    '/home/check',
    '--dir',
    '/etc',
  ],
];

/** A bubblewrap whose words are ours to weaken. */
function backendOf(
  words: readonly string[],
  inWorkspace: readonly string[],
  rootIsReadOnly = true,
): SandboxBackend {
  return {
    name: 'weak',
    pathsInside: () => ({ workspace: '/workspace', reports: '/reports' }),
    probe: () => Promise.reject(new Error('not asked')),
    run: (request) =>
      spawnProcess({
        argv: [
          ...[
            bwrap ?? '',
            ...words,
            '--bind',
            request.workspace,
            '/workspace',
            '--bind',
            request.reports,
            '/reports',
          ],
          ...inWorkspace.map((word) => word.replace('WORKSPACE', request.workspace)),
          ...[
            '--tmpfs',
            '/home/check',
            ...(rootIsReadOnly ? ['--remount-ro', '/'] : []),
            '--',
            ...request.argv,
          ],
        ],
        cwd: '/',
        env: { PATH: '/usr/bin:/bin', HOME: '/home/check', TMPDIR: '/tmp' },
        timeoutMs: request.timeoutMs,
        maxOutputBytes: request.maxOutputBytes,
      }),
  };
}
const gitReadOnly = ['--ro-bind', 'WORKSPACE/.git', '/workspace/.git'];
const without = (...words: string[]): string[] => sound.filter((word) => !words.includes(word));

t.test(
  'each weakness makes a back end unfit, and is named',
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
      'the host processes': [/shared pid/, backendOf(without('--unshare-pid'), gitReadOnly)],
      'the host ipc': [/shared ipc/, backendOf(without('--unshare-ipc'), gitReadOnly)],
      'nested user namespaces': [
        /nested user namespace/,
        backendOf(without('--disable-userns'), gitReadOnly),
      ],
      'a writable .git': [/workspace\/\.git/, backendOf(sound, [])],
      'a writable root': [/write \/etc/, backendOf(sound, gitReadOnly, false)],
      'the home directory': [/visible .*\.ssh/, backendOf([...sound, '--ro-bind', home, home], gitReadOnly)],
      'the temporary directory': [
        /visible .*secret/,
        backendOf([...sound, '--ro-bind', '/tmp', '/tmp'], gitReadOnly),
      ],
      'a variable of ours': [
        /variable WRIT_PROBE_TEST/,
        backendOf([...sound, '--setenv', 'WRIT_PROBE_TEST', 'x'], gitReadOnly),
      ],
      '/sys': [/visible \/sys/, backendOf([...sound, '--ro-bind', '/sys', '/sys'], gitReadOnly)],
      ...(process.getuid?.() === 0
        ? {
            'the privilege to mount': [/remount \/,/, backendOf(privileged, gitReadOnly)] as [
              RegExp,
              SandboxBackend,
            ],
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
  'kernel settings open to root make a back end unfit',
  { skip: bwrap === undefined || process.getuid?.() !== 0 },
  async (t) => {
    const { facts } = openScene(t);
    const words = sound.slice(0, sound.indexOf('--ro-bind', sound.indexOf('/proc')));
    const rest = sound.slice(sound.indexOf('--tmpfs'));
    t.match(await probeBackend(backendOf([...words, ...rest], gitReadOnly), facts), {
      works: false,
      reason: /core_pattern/,
    });
  },
);

t.test('a back end in which nothing runs is unfit, however tight it is', async (t) => {
  const { facts } = openScene(t);
  const dead: SandboxBackend = {
    ...backendOf([], []),
    run: () => spawnProcess({ argv: ['false'], cwd: '/', env: { PATH: '/bin:/usr/bin' }, maxOutputBytes: 1 }),
  };
  t.match(await probeBackend(dead, facts), { works: false });
});

t.test(
  'a back end is probed once, and one that throws or is not installed is unfit, not a fault',
  async (t) => {
    for (const make of [bubblewrapSandbox, unshareSandbox]) {
      const backend = make();
      t.equal(backend.probe(), backend.probe(), backend.name);
      const { works, enforced, reason } = await backend.probe();
      t.strictSame(
        works ? ['filesystem', 'network', 'processes', 'privileges', 'environment'] : [],
        enforced.filter((what) => what !== 'keyrings'),
      );
      t.equal(make().probe(), backend.probe(), 'another instance shares the answer');
      t.equal(typeof reason, works ? 'undefined' : 'string');
    }
    const empty = t.testdir({ nowhere: {} });
    mkdirSync(path.join(empty, 'x'));
    t.equal(findProgram('writ-no-such', `relative:${empty}:${empty}/x`), undefined);
    t.equal(currentHostFacts().path, process.env.PATH);
  },
);

t.test('what a killed probe left is removed by the next one; what may be a living one’s stays', async (t) => {
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
