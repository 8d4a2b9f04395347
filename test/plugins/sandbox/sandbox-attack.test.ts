import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import t, { type Test } from 'tap';
import type { SandboxBackend } from '../../../core/interfaces/sandbox.ts';
import { bubblewrapSandbox } from '../../../plugins/sandbox/bubblewrap.ts';
import { currentHostFacts } from '../../../plugins/sandbox/host-view.ts';
import { unshareSandbox } from '../../../plugins/sandbox/unshare.ts';
import { long } from '../../rooms/long.ts';
import { lookOn } from '../../waiting/look-on.ts';
import { until } from '../../waiting/until.ts';
import { endOf, openScene, outputOf, processesWith, uniqueSleep } from './sandbox-scene.ts';

/** A checkout below /tmp brings its Node along: the way to it is there, and nothing else. */
const wayToTools = /^\/tmp\/([^/]+)/.exec(realpathSync(process.execPath))?.[1] ?? '(none)';

/** Each tries something forbidden and exits 0 exactly when it succeeded. */
const forbidden: Readonly<Record<string, string>> = {
  'write to /etc': 'echo x >/etc/writ-attack',
  'change a file of /etc': 'echo x >>/etc/passwd',
  'write to /usr': 'echo x >/usr/bin/writ-attack',
  'write to the root directory': 'echo x >/writ-attack',
  'remount /usr for writing': 'mount -o remount,rw,bind /usr && echo x >/usr/writ-attack',
  'remount the root for writing': 'mount -o remount,rw / && echo x >/writ-attack',
  'mount something': 'mount -t tmpfs none /tmp',
  'unmount what hides': 'umount /proc/sys || umount /home || umount -l /workspace/.git',
  'make a user namespace': 'unshare --user true || unshare --user --map-root-user true',
  'make a user namespace and mount in it': 'unshare --user --map-root-user --mount mount -t tmpfs none /mnt',
  'enter another namespace': 'nsenter --target 1 --mount --net true',
  'change the root': 'chroot /usr true',
  'write kernel settings': 'echo x >/proc/sys/kernel/domainname',
  'take over core dumps': 'true >>/proc/sys/kernel/core_pattern',
  'pull the emergency brake of the kernel': 'true >>/proc/sysrq-trigger',
  'read kernel memory': '[ -s /proc/kcore ] && head -c 1 /proc/kcore | grep -q .',
  'read kernel settings of /sys': '[ -e /sys/kernel ]',
  'make a block device': 'mknod /workspace/disk b 8 0',
  'make a character device': 'mknod /tmp/mem c 1 1',
  'open the terminal of the person': 'true </dev/tty',
  'read the shadow passwords': '[ -e /etc/shadow ]',
  'see the ssh settings of the host': '[ -e /etc/ssh ]',
  'see anything in /run': 'ls -A /run | grep -v "^mount$" | grep -q .',
  'see anything in /var but var/tmp': 'ls -A /var | grep -v "^tmp$" | grep -q .',
  'see anything in the temporary directory': `ls -A /tmp /var/tmp/ | grep -v ":$" | grep -vx "${wayToTools}" | grep -q .`,
  'change devices through /proc':
    'find /proc/irq /proc/bus /proc/fs /proc/acpi -type f -writable | grep -q .',
  'write a hook': 'echo x >/workspace/.git/hooks/pre-commit',
  'replace .git': 'mv /workspace/.git /workspace/old || rm -rf /workspace/.git',
  'gain privileges': 'grep -E "^Cap(Inh|Prm|Eff|Bnd|Amb)" /proc/self/status | grep -qv 0000000000000000',
  'keep the door to privileges open': 'grep -q "^NoNewPrivs:.0" /proc/self/status',
  'dump core': '[ "$(ulimit -c)" != 0 ]',
  'hide from the out-of-memory killer': 'echo -1000 >/proc/self/oom_score_adj',
  'see the root of the host': 'ls -A / | grep -qxE ".*host|old.*|new.*|boot|sys|srv|mnt"',
  'signal process 1': 'kill -9 1; sleep 0.05; kill -9 1 && ! kill -0 1',
};

// Beside everything else of a busy machine.
t.setTimeout(240_000);

const candidates = [bubblewrapSandbox(), unshareSandbox()];
const working: SandboxBackend[] = [];
for (const backend of candidates) {
  const { works, reason } = await backend.probe();
  if (works) working.push(backend);
  else t.comment(`${backend.name} does not work here: ${reason}`);
}
t.ok(working.length > 0, 'at least one back end works here, or nothing below means anything');

for (const backend of working) {
  const named = (sentence: string): string => `${backend.name}: ${sentence}`;
  /** What no attack is about: the same code for every back end, shown with the first that works. */
  const testOnce = (name: string, body: (t: Test) => Promise<void>): void => {
    if (backend === working[0]) t.test(name, body);
    else long(name, body);
  };

  t.test(named('a command cannot'), async (t) => {
    const scene = openScene(t);
    const each =
      'while [ $# -gt 0 ]; do sh -c "$2" >/dev/null 2>&1 && echo "$1"; echo "tried $1"; shift 2; done';
    const attacks = await scene.run(backend, '', {
      argv: ['/bin/sh', '-c', each, 'sh', ...Object.entries(forbidden).flat()],
    });
    const said = outputOf(attacks).split('\n');
    for (const what of Object.keys(forbidden)) {
      t.ok(said.includes(`tried ${what}`), `tried: ${what}`);
      t.notOk(said.includes(what), what);
    }
    const result = await scene.run(
      backend,
      'echo x >/workspace/a && echo x >/reports/b && echo x >"$HOME/c" && echo x >"$TMPDIR/d" && : >/dev/null',
    );
    t.equal(
      result.exitCode,
      0,
      'the places that are its own can be written, so the refusals above mean something',
    );
    t.equal(readFileSync(path.join(scene.workspace, 'a'), 'utf8'), 'x\n');
    t.equal(readFileSync(path.join(scene.reports, 'b'), 'utf8'), 'x\n');
    t.notOk(existsSync(path.join(scene.workspace, '.git/hooks/pre-commit')));
  });

  t.test(named('nothing on the host can be connected to'), async (t) => {
    const scene = openScene(t);
    let connections = 0;
    const listen = (where: { port: number; host: string } | { path: string }): Promise<Server> =>
      new Promise((resolve, reject) => {
        const server = createServer((socket) => {
          connections += 1;
          socket.destroy();
        });
        t.teardown(() => server.close());
        server.once('error', reject).listen(where, () => resolve(server));
      });
    const tcp = (await listen({ port: 0, host: '127.0.0.1' })).address();
    const port = typeof tcp === 'object' && tcp !== null ? tcp.port : 0;
    const abstract = `\0writ-attack-${process.pid}-${backend.name}`;
    const socket = path.join(scene.root, 's');
    await listen({ path: abstract });
    await listen({ path: socket });
    const client = `
      const targets = [{ port: ${port}, host: '127.0.0.1' }, { path: ${JSON.stringify(abstract)} }, { path: ${JSON.stringify(socket)} }];
      for (const target of targets) require('node:net').connect(target).on('connect', () => console.log('connected', JSON.stringify(target)))
        .on('error', (error) => console.log(error.code));
      const udp = require('node:dgram').createSocket('udp4');
      udp.send('x', 53, '192.0.2.1', (error) => { console.log(error?.code ?? 'sent'); udp.close(); });`;
    const result = await scene.run(backend, 'node -e "$SCRIPT"', { env: { SCRIPT: client } });
    t.strictSame(outputOf(result).split('\n').sort(), [
      'ECONNREFUSED',
      'ECONNREFUSED',
      'ENETUNREACH',
      'ENOENT',
    ]);
    t.equal(connections, 0);
    const own = `require('node:net').createServer((s) => s.end('mine')).listen(0, '127.0.0.1', function () {
      require('node:net').connect(this.address().port, '127.0.0.1').on('data', (d) => { console.log(String(d)); process.exit(0); }); });`;
    t.equal(
      outputOf(await scene.run(backend, 'node -e "$SCRIPT"', { env: { SCRIPT: own } })),
      'mine',
      'its own loopback works',
    );
  });

  t.test(named('files of the person stay unread, through links as well'), async (t) => {
    const scene = openScene(t);
    const secret = path.join(scene.home, '.ssh/id_ed25519');
    writeFileSync(secret, 'PRIVATE');
    symlinkSync(secret, path.join(scene.workspace, 'key'));
    symlinkSync(scene.home, path.join(scene.workspace, 'home'));
    symlinkSync('/proc/1/root', path.join(scene.workspace, 'rooted'));
    const all = await scene.run(
      backend,
      `cat ${secret} key home/.ssh/* rooted${secret} /proc/*/root${secret} /proc/*/cwd/../${secret}`,
    );
    t.notMatch(all.combined.bytes.toString(), 'PRIVATE');
    const home = currentHostFacts().home;
    const found = await scene.run(
      backend,
      `find ${home} -maxdepth 2 ! -type d | grep -v -e ^${home}/.asdf/ -e ^${home}/.pyenv/ -e '/bin$' -e /bin/ -e /shims/ -e /lib/ -e /libexec/; ls -d ${home}/.ssh`,
    );
    t.equal(outputOf(found), '', 'of the real home directory at most tool directories are there');
  });

  t.test(named('a link in the workspace does not let a write out'), async (t) => {
    const scene = openScene(t);
    const outside = path.join(scene.root, 'outside');
    mkdirSync(outside);
    writeFileSync(path.join(outside, 'file'), 'kept');
    symlinkSync(path.join(outside, 'file'), path.join(scene.workspace, 'file'));
    symlinkSync(outside, path.join(scene.workspace, 'directory'));
    symlinkSync('../outside/file', path.join(scene.workspace, 'relative'));
    const result = await scene.run(
      backend,
      'echo x >file; echo x >directory/new; echo x >relative; rm -rf directory/; true',
    );
    t.equal(result.exitCode, 0);
    t.equal(readFileSync(path.join(outside, 'file'), 'utf8'), 'kept');
    t.notOk(existsSync(path.join(outside, 'new')));
  });

  t.test(named('a request whose paths run through links of the workspace is refused'), async (t) => {
    const scene = openScene(t);
    const shared = path.join(scene.root, 'shared');
    const victim = path.join(scene.root, 'victim');
    mkdirSync(shared);
    mkdirSync(victim);
    symlinkSync(victim, path.join(scene.workspace, 'node_modules'));
    const bind = (target: string) => ({ binds: [{ source: shared, target, writable: false }] });
    for (const target of [
      '/workspace/node_modules',
      '/workspace/node_modules/deep',
      '/workspace/./x/../node_modules',
      '/proc/x',
      '/dev',
      '/',
    ]) {
      await t.rejects(scene.run(backend, 'true', bind(target)), { code: 'SANDBOX_UNSAFE' }, target);
    }
    t.strictSame(existsSync(path.join(victim, 'deep')), false);
    const linked = openScene(t);
    symlinkSync(victim, path.join(linked.root, 'git'));
    const workspace = path.join(linked.root, 'other');
    mkdirSync(workspace);
    symlinkSync(victim, path.join(workspace, '.git'));
    await t.rejects(linked.run(backend, 'true', { workspace }), { code: 'SANDBOX_UNSAFE' }, '.git');
    for (const name of ['LD_PRELOAD', 'BASH_ENV', 'ENV', 'PATH', 'HOME', 'a b']) {
      await t.rejects(scene.run(backend, 'true', { env: { [name]: 'x' } }), { code: 'SANDBOX_UNSAFE' }, name);
    }
    await t.rejects(
      scene.run(backend, 'true', { network: 'host' }),
      { code: 'SANDBOX_UNSAFE' },
      'host network',
    );
  });

  t.test(named('a shared directory is there and cannot be changed, a writable one can'), async (t) => {
    const scene = openScene(t);
    const shared = path.join(scene.root, 'sha red\\');
    mkdirSync(path.join(shared, 'sub'), { recursive: true });
    writeFileSync(path.join(shared, 'file'), 'kept');
    const script =
      'cat node_modules/file; echo x >node_modules/file; echo x >node_modules/sub/new; chmod 777 node_modules/file; echo $?';
    const readOnly = { binds: [{ source: shared, target: '/workspace/node_modules', writable: false }] };
    t.equal(outputOf(await scene.run(backend, script, readOnly)), 'kept1');
    t.equal(readFileSync(path.join(shared, 'file'), 'utf8'), 'kept');
    t.notOk(existsSync(path.join(shared, 'sub/new')));
    const writable = { binds: [{ source: shared, target: '/workspace/node_modules', writable: true }] };
    t.equal((await scene.run(backend, 'echo x >node_modules/sub/new', writable)).exitCode, 0);
    t.ok(existsSync(path.join(shared, 'sub/new')));
  });

  t.test(named('processes of the host are neither seen nor reached'), async (t) => {
    const scene = openScene(t);
    const victim = spawn('sleep', [uniqueSleep()], { stdio: 'ignore' });
    t.teardown(() => victim.kill('SIGKILL'));
    const pid = String(victim.pid);
    const script = `
      tr '\\0' ' ' </proc/$VICTIM/cmdline; ls /proc | grep -c '^[0-9]'; kill -9 "$VICTIM"
      if command -v python3 >/dev/null; then
        python3 -c 'import ctypes,sys; print("ptrace", ctypes.CDLL(None).ptrace(16, int(sys.argv[1]), 0, 0))' "$VICTIM"
      else echo ptrace -1; fi`;
    const lines = outputOf(await scene.run(backend, script, { env: { VICTIM: pid } })).split('\n');
    t.equal(lines.length, 2, lines.join(' | '));
    t.ok(Number(lines[0]) < 12, 'only its own processes are listed');
    t.equal(lines[1], 'ptrace -1');
    t.equal(victim.exitCode, null);
    t.equal(victim.signalCode, null);
  });

  t.test(named('the keyring of the person is closed exactly where that is claimed'), async (t) => {
    const scene = openScene(t);
    const script = `if command -v python3 >/dev/null; then python3 -c '
import ctypes, platform
call = 219 if platform.machine() == "aarch64" else 250
libc = ctypes.CDLL(None, use_errno=True)
print("closed" if libc.syscall(call, 0, -3, 1) == -1 and ctypes.get_errno() == 1 else "open")'; else echo unknown; fi`;
    const { enforced } = await backend.probe();
    const claimed = enforced.includes('keyrings');
    const found = outputOf(await scene.run(backend, script));
    t.ok(
      found === 'unknown' || found === (claimed ? 'closed' : 'open'),
      `claimed ${claimed}, found ${found}`,
    );
    if (backend.name === 'bubblewrap') t.equal(claimed, ['x64', 'arm64'].includes(process.arch));
  });

  t.test(named('no variable of ours reaches a command'), async (t) => {
    const scene = openScene(t);
    const before = process.env;
    process.env = {
      ...before,
      ANTHROPIC_API_KEY: 'sk-leaked',
      GITHUB_TOKEN: 'leaked',
      NODE_OPTIONS: '',
    };
    t.teardown(() => {
      process.env = before;
    });
    const result = await scene.run(backend, 'env; cat /proc/*/environ', { env: { CI: 'true', RUN_ID: 'r' } });
    const text = result.combined.bytes.toString();
    t.notMatch(text, 'leaked');
    const names = new Set(
      outputOf(await scene.run(backend, 'env', { env: { CI: 'true' } }))
        .split('\n')
        .map((line) => line.split('=')[0]),
    );
    for (const expected of ['CI', 'HOME', 'PATH', 'TMPDIR']) t.ok(names.delete(expected), expected);
    for (const shell of ['PWD', 'SHLVL', '_']) names.delete(shell);
    t.strictSame([...names], []);
  });

  t.test(named('whatever a command leaves behind is gone when it has exited'), async (t) => {
    const scene = openScene(t);
    const asleep = uniqueSleep();
    const script = `
      setsid sh -c 'trap "" TERM HUP INT; while :; do echo x >>/workspace/beat; sleep 0.01; done' >/dev/null 2>&1 &
      (setsid sleep ${asleep} >/dev/null 2>&1 </dev/null & ) ; nohup sleep ${asleep} >/dev/null 2>&1 &
      (sleep ${asleep} &)
      i=0; while [ $i -lt 150 ]; do sleep ${asleep} & i=$((i+1)); done
      while [ ! -s /workspace/beat ]; do sleep 0.01; done; exit 3`;
    const result = await scene.run(backend, script);
    t.strictSame(processesWith(asleep), []);
    t.equal(result.exitCode, 3);
    const size = statSync(path.join(scene.workspace, 'beat')).size;
    await lookOn(80);
    t.equal(statSync(path.join(scene.workspace, 'beat')).size, size, 'nothing writes any more');
  });

  t.test(named('a time-out and an abort end everything, whatever it ignores'), async (t) => {
    const scene = openScene(t);
    const asleep = uniqueSleep();
    const script = `
      trap '' TERM INT HUP QUIT; (setsid sleep ${asleep} &) ; setsid sh -c 'trap "" TERM; (sleep ${asleep} & ) ; sleep ${asleep}' &
      echo ready; while :; do sleep 0.05; done`;
    const timedOut = await scene.run(backend, script, { timeoutMs: 3_000 });
    t.strictSame(processesWith(asleep), []);
    t.match(timedOut, { timedOut: true, aborted: false, signal: 'SIGKILL' });
    t.notOk('exitCode' in timedOut);
    t.equal(outputOf(timedOut), 'ready');
    t.ok(timedOut.durationMs < 7_300);

    const controller = new AbortController();
    const many = `i=0; while [ $i -lt 150 ]; do sleep ${asleep} & i=$((i+1)); done; echo x >many; ${script}`;
    void until(() => existsSync(path.join(scene.workspace, 'many'))).then(() => controller.abort());
    const aborted = await scene.run(backend, many, { signal: controller.signal });
    t.strictSame(processesWith(asleep), []);
    t.match(aborted, { timedOut: false, aborted: true });
    t.match(
      await scene.run(backend, 'true', { signal: controller.signal }),
      { aborted: true },
      'before the start',
    );
  });

  t.test(named('nothing survives us, however early we die'), async (t) => {
    const scene = openScene(t);
    const module = new URL(`../../../plugins/sandbox/${backend.name}.ts`, import.meta.url);
    const ready = path.join(scene.workspace, 'ready');
    for (const dieAfterMs of [0, 8, undefined]) {
      const asleep = uniqueSleep();
      const script = `
        const [make] = Object.values(await import(${JSON.stringify(module.href)}));
        make().run({ argv: ['/bin/sh', '-c', 'setsid sleep ${asleep} & echo x >ready; sleep ${asleep}'], workspace: ${JSON.stringify(scene.workspace)},
          reports: ${JSON.stringify(scene.reports)}, binds: [], env: {}, network: 'none', timeoutMs: 60000, maxOutputBytes: 1000 });
        setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${dieAfterMs ?? 60_000});`;
      const ours = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' });
      const exited = once(ours, 'exit');
      if (dieAfterMs === undefined) {
        await until(() => existsSync(ready), 'its start');
        t.ok(processesWith(asleep).length >= 3, 'it runs');
        ours.kill('SIGKILL');
      }
      await exited;
      await endOf(asleep);
      t.strictSame(processesWith(asleep), [], `killed after ${dieAfterMs ?? 'the start'}`);
      rmSync(ready, { force: true });
    }
  });

  testOnce(named('output is bounded, counted and kept in order'), async (t) => {
    const scene = openScene(t);
    const flood = await scene.run(backend, 'printf start; head -c 100000000 /dev/zero; printf end', {
      maxOutputBytes: 1000,
    });
    t.equal(flood.exitCode, 0);
    t.equal(flood.stdout.totalBytes, 100_000_008);
    // Behind what is left out a word begins: not in the middle of one.
    t.equal(flood.stdout.bytes.length, 999);
    t.equal(flood.stdout.truncated, true);
    t.equal(flood.stdout.bytes.subarray(0, 5).toString(), 'start');
    t.equal(flood.stdout.bytes.subarray(-3).toString(), 'end');
    const closed = await scene.run(backend, 'exec >&-; echo told >&2; exit 7');
    t.equal(closed.exitCode, 7);
    t.equal(closed.stderr.bytes.toString(), 'told\n');
    t.equal(outputOf(await scene.run(backend, 'cat', { stdin: Buffer.from('given') })), 'given');
    t.equal((await scene.run(backend, 'exec <&-; exit 0', { stdin: Buffer.alloc(1_000_000) })).exitCode, 0);
  });

  t.test(
    named('exit codes come through, and a sandbox that cannot be built is a fault, not an exit code'),
    async (t) => {
      const scene = openScene(t);
      for (const code of [0, 1, 2, 42, 126, 255])
        t.equal((await scene.run(backend, `exit ${code}`)).exitCode, code);
      t.equal((await scene.run(backend, '', { argv: ['writ-no-such-program'] })).exitCode, 127);
      t.equal((await scene.run(backend, 'kill -SEGV $$')).exitCode, 139);
      t.equal(
        outputOf(await scene.run(backend, 'echo $PPID')),
        '1',
        'process 1 stays, to reap what is orphaned',
      );
      const spaced = await scene.run(backend, '', { argv: ['printf', '%s|', 'a b', '', '$HOME', '--', '*'] });
      t.equal(outputOf(spaced), 'a b||$HOME|--|*|');
      const impossible = { binds: [{ source: scene.home, target: '/usr/writ-nowhere', writable: false }] };
      await t.rejects(scene.run(backend, 'true', impossible), { code: 'SANDBOX_FAILED' });
    },
  );

  t.test(named('limits are set, and commands run side by side'), async (t) => {
    const scene = openScene(t);
    const limits = outputOf(await scene.run(backend, 'cat /proc/self/limits; cat /proc/self/oom_score_adj'));
    t.match(limits, /^Max core file size +0 /m);
    t.match(limits, /^Max processes +4096 /m);
    t.match(limits, /^Max file size +17179869184 /m);
    t.match(limits, /^1000$/m);
    const results = await Promise.all(
      Array.from({ length: 6 }, (_, i) => scene.run(backend, `sleep 0.05; echo ${i}`)),
    );
    t.strictSame(results.map(outputOf), ['0', '1', '2', '3', '4', '5']);
  });

  t.test(named('the tools of the person are there, and run from where they are installed'), async (t) => {
    const scene = openScene(t);
    const result = await scene.run(backend, 'node -p process.execPath; pwd; echo "$HOME $TMPDIR"; id -u');
    const [node, pwd, places, uid] = outputOf(result).split('\n');
    t.ok(node?.startsWith('/'));
    t.strictSame([pwd, places, uid], ['/workspace', '/home/check /tmp', String(process.getuid?.())]);
    t.strictSame(backend.pathsInside(scene), { workspace: '/workspace', reports: '/reports' });
  });
}
