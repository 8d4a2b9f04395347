import { spawn } from 'node:child_process';
import { once } from 'node:events';
import t from 'tap';
import type { SandboxBackend } from '../../../core/interfaces/sandbox.ts';
import { bubblewrapSandbox } from '../../../plugins/sandbox/bubblewrap.ts';
import { noSandbox } from '../../../plugins/sandbox/none.ts';
import { unshareSandbox } from '../../../plugins/sandbox/unshare.ts';
import { processesFrom, watchLimits } from '../../../plugins/sandbox/watch-limits.ts';
import { findProgram } from '../../../workspace/process/find-program.ts';
import { openScene, outputOf, processesWith, uniqueSleep } from '../../plugins/sandbox/sandbox-scene.ts';

t.setTimeout(240_000);
const python = findProgram('python3', process.env.PATH ?? '');
const mebibyte = 1_048_576;
const limit = 100 * mebibyte;
const hold = `python3 -c 'import time; held = b"x" * (150 << 20); time.sleep(30)'`;

/** Fills sockets: `pairs` of them, each way. */
const sockets = (pairs: number, how: string): string => `python3 -c '
import resource, socket, time
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
held = []
def fill(one):
    one.setblocking(False)
    held.append(one)
    try:
        while True: one.send(b"x" * 65536)
    except (BlockingIOError, OSError): pass
${how}
for _ in range(${pairs}):
    for one in pair(): fill(one)
print("full", flush=True)
time.sleep(30)'`;

import { casesOf } from '../../rooms/long.ts';

const unixPair = 'pair = socket.socketpair';
const loopbackPair = `server = socket.create_server(("127.0.0.1", 0))
def pair():
    one = socket.create_connection(server.getsockname())
    return one, server.accept()[0]`;

/** Ways to hold 150 MiB; none may live for the 30 seconds that it asks for. */
const hoards: Readonly<Record<string, string>> = {
  'one process': hold,
  'a process that nobody waits for': `(setsid ${hold} >/dev/null 2>&1 &); sleep 30`,
  'three processes together': `for i in 1 2 3; do python3 -c 'import time; held = b"x" * (50 << 20); time.sleep(30)' & done; wait`,
  'a file without a name': `python3 -c '
import os, time
held = os.memfd_create("x")
for _ in range(150): os.write(held, b"x" * (1 << 20))
time.sleep(30)'`,
  'shared memory': `python3 -c '
import mmap, time
held = mmap.mmap(-1, 150 << 20)
for at in range(0, len(held), 4096): held[at] = 1
time.sleep(30)'`,
  'files of /tmp and the home directory': `head -c ${75 * mebibyte} /dev/zero >/tmp/x; head -c ${75 * mebibyte} /dev/zero >"$HOME/x"; sleep 30`,
  'a removed file of /tmp': `exec 5>/tmp/x; rm /tmp/x; head -c ${75 * mebibyte} /dev/zero >&5; head -c ${75 * mebibyte} /dev/zero >/dev/shm/x; sleep 30`,
  'sockets without an address': sockets(600, unixPair),
  'connections to itself': sockets(200, loopbackPair),
};
/** Each costs the kernel about a kibibyte. */
const emptyFiles = `mkdir /tmp/d; python3 -c '
for i in range(40000): open("/tmp/d/%d" % i, "w").close()'; sleep 30`;

const skipOf = async (backend: SandboxBackend): Promise<string | false> => {
  const { works, reason } = await backend.probe();
  if (!works) return reason ?? 'it does not work here';
  return python === undefined && 'there is no python3';
};

for (const [, backend] of casesOf({ bubblewrap: bubblewrapSandbox(), unshare: unshareSandbox() }, [
  'bubblewrap',
])) {
  const skip = await skipOf(backend);

  t.test(`${backend.name}: a command that exceeds its memory limit is killed`, { skip }, async (t) => {
    const scene = openScene(t);
    const judge = async ([way, script]: [string, string]): Promise<void> => {
      const result = await scene.run(backend, script, { maxMemoryBytes: limit, timeoutMs: 60_000 });
      t.match(
        result,
        { exceeded: { what: 'memory', limit }, timedOut: false, aborted: false, signal: 'SIGKILL' },
        way,
      );
      t.notOk('exitCode' in result, way);
      // A control group stops just below.
      t.ok((result.exceeded?.found ?? 0) > 0.99 * limit, way);
    };
    await Promise.all(Object.entries(hoards).map(judge));
  });

  t.test(`${backend.name}: empty files in memory count towards the memory limit`, { skip }, async (t) => {
    const maxMemoryBytes = 36 * mebibyte;
    const result = await openScene(t).run(backend, emptyFiles, { maxMemoryBytes, timeoutMs: 60_000 });
    t.match(result, { exceeded: { what: 'memory', limit: maxMemoryBytes } });
  });

  t.test(`${backend.name}: no process of a killed command is left`, { skip }, async (t) => {
    const scene = openScene(t);
    const asleep = uniqueSleep();
    const script = `(setsid sleep ${asleep} &); ${hold}`;
    const result = await scene.run(backend, script, { maxMemoryBytes: limit });
    t.match(result, { exceeded: { what: 'memory' } });
    t.strictSame(processesWith(asleep), []);
  });

  t.test(
    `${backend.name}: a command below the limit is not killed, and shared pages count once`,
    { skip },
    async (t) => {
      const scene = openScene(t);
      const forked = `python3 -c '
import os, time
held = b"x" * (60 << 20)
for _ in range(4):
    if os.fork() == 0: break
time.sleep(1)'; echo done`;
      const result = await scene.run(backend, forked, { maxMemoryBytes: limit });
      t.notOk('exceeded' in result);
      t.equal(outputOf(result), 'done');
    },
  );

  t.test(`${backend.name}: hundreds of idle sockets do not exceed the memory limit`, { skip }, async (t) => {
    const script = `${sockets(10, `${unixPair}\nidle = [pair() for _ in range(200)]`)} & sleep 2; echo done; kill $!`;
    const result = await openScene(t).run(backend, script, { maxMemoryBytes: limit });
    t.notOk('exceeded' in result);
    t.match(outputOf(result), 'done');
  });

  t.test(`${backend.name}: memory file systems are smaller than the memory limit`, { skip }, async (t) => {
    const scene = openScene(t);
    const result = await scene.run(backend, 'df -P -k /tmp /home /dev/shm | awk "NR > 1 { print \\$2 }"', {
      maxMemoryBytes: limit,
    });
    t.strictSame(outputOf(result).split('\n'), ['102400', '102400', '102400']);
  });
}

t.test('without a sandbox the memory limit applies to the process tree', async (t) => {
  const scene = openScene(t);
  const result = await scene.run(noSandbox(), hold, { maxMemoryBytes: limit });
  t.match(result, { exceeded: { what: 'memory', limit } });
});

t.test(
  'processes and threads count towards the task limit',
  { skip: process.platform !== 'linux' },
  async (t) => {
    // How long one looks for what must not be found; what must be found has all the time that a busy machine takes.
    const watched = async (script: string, tasks: number, ms = 60_000): Promise<unknown> => {
      const child = spawn('/bin/sh', ['-c', script], { stdio: 'ignore', detached: true });
      const first = child.pid ?? 0;
      const processes = () => processesFrom(first).map((pid) => `/proc/${pid}`);
      const limits = { memoryBytes: Number.MAX_SAFE_INTEGER, tasks, processes, directories: [] };
      let stop = (): void => {};
      let timer: NodeJS.Timeout | undefined;
      const found = await new Promise((resolve) => {
        stop = watchLimits(limits, resolve);
        timer = setTimeout(resolve, ms);
      });
      clearTimeout(timer);
      stop();
      process.kill(-first, 'SIGKILL');
      await once(child, 'exit');
      return found;
    };
    const many = 'i=0; while [ $i -lt 40 ]; do sleep 30 & i=$((i+1)); done; wait';
    t.match(await watched(many, 30), { what: 'processes', limit: 30 });
    t.equal(await watched(many, 50, 1500), undefined);
    // Node has threads of its own.
    t.match(await watched(`exec ${process.execPath} -e 'setTimeout(() => {}, 30000)'`, 4), {
      what: 'processes',
    });
  },
);
