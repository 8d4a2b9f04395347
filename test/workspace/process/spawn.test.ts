import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { execFileBounded, spawnProcess, startProcess } from '../../../workspace/process/spawn.ts';
import { endOf, processesWith, uniqueSleep } from '../../plugins/sandbox/sandbox-scene.ts';
import { long } from '../../rooms/long.ts';
import { instant } from '../../waiting/instant.ts';
import { lookOn } from '../../waiting/look-on.ts';

const env = { PATH: process.env.PATH ?? '/usr/bin:/bin' };
const shell = (script: string) => ({ argv: ['/bin/sh', '-c', script], cwd: '/', env, maxOutputBytes: 4096 });

t.test('exit code, signal and both streams are returned as values', async (t) => {
  const result = await spawnProcess(shell('echo out; echo err >&2; exit 3'));
  t.match(result, { exitCode: 3, timedOut: false, aborted: false, announced: true });
  t.equal(result.stdout.bytes.toString(), 'out\n');
  t.equal(result.stderr.bytes.toString(), 'err\n');
  const killed = await spawnProcess(shell('kill -TERM $$'));
  t.equal(killed.signal, 'SIGTERM');
  t.notOk('exitCode' in killed);
});

t.test('the combined capture keeps the order of arrival', async (t) => {
  const script = 'for i in 1 2 3; do echo a$i; sleep 0.05; echo b$i >&2; sleep 0.05; done';
  const result = await spawnProcess(shell(script));
  t.equal(result.combined.bytes.toString(), 'a1\nb1\na2\nb2\na3\nb3\n');
});

t.test('a process inherits nothing of the environment of its parent', async (t) => {
  process.env.WRIT_SPAWN_TEST = 'leaked';
  t.teardown(() => delete process.env.WRIT_SPAWN_TEST);
  const { stdout } = await spawnProcess({ ...shell('env'), env: { ...env, ONLY: 'this' } });
  t.match(stdout.bytes.toString(), /^ONLY=this$/m);
  t.notMatch(stdout.bytes.toString(), 'leaked');
});

long('half a gigabyte of output is counted and only its head and tail are kept', async (t) => {
  const before = process.memoryUsage().rss;
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 20);
  const result = await spawnProcess({
    ...shell('echo first; head -c 500000000 /dev/zero; echo last'),
    maxOutputBytes: 65_537,
  });
  clearInterval(timer);
  for (const captured of [result.stdout, result.combined]) {
    t.equal(captured.totalBytes, 500_000_011);
    t.ok(captured.bytes.length > 65_000 && captured.bytes.length <= 65_537);
    t.equal(captured.truncated, true);
    t.equal(captured.bytes.subarray(0, 6).toString(), 'first\n');
    t.equal(captured.bytes.subarray(-5).toString(), 'last\n');
  }
  t.ok(most - before < 250_000_000, `grew by ${most - before} bytes`);
});

t.test('output longer than the bound is cut in the middle', async (t) => {
  for (const [bytes, bound, expected] of [
    [10, 10, '0123456789'],
    [10, 11, '0123456789'],
    [10, 9, '01289'],
    [10, 1, '0'],
    [10, 0, ''],
  ] as const) {
    const { stdout } = await spawnProcess({
      ...shell('printf 0123; sleep 0.02; printf 456789'),
      maxOutputBytes: bound,
    });
    t.equal(stdout.bytes.toString(), expected, `${bytes} of ${bound}`);
    t.equal(stdout.totalBytes, bytes);
    t.equal(stdout.truncated, bound < bytes);
  }
});

t.test('a process that ignores its input or closes its output early is no fault', async (t) => {
  t.equal((await spawnProcess({ ...shell('exit 0'), stdin: Buffer.alloc(5_000_000) })).exitCode, 0);
  t.equal(
    (await spawnProcess({ ...shell('exec 0<&-; sleep 0.1; exit 4'), stdin: Buffer.alloc(5_000_000) }))
      .exitCode,
    4,
  );
  const closed = await spawnProcess(shell('exec >&-; echo told >&2; exit 5'));
  t.match(closed, { exitCode: 5 });
  t.equal(closed.stderr.bytes.toString(), 'told\n');
  t.equal(
    (await spawnProcess({ ...shell('cat'), stdin: Buffer.from('all of it') })).stdout.bytes.toString(),
    'all of it',
  );
  t.equal((await spawnProcess(shell('cat'))).exitCode, 0, 'without input it reads an empty one');
});

t.test('a timeout or an abort ends the whole process group and is reported', async (t) => {
  const asleep = uniqueSleep();
  const script = `trap '' TERM; sleep ${asleep} & echo ready; sleep ${asleep}; sleep ${asleep}`;
  const timedOut = await spawnProcess({ ...shell(script), processGroup: true, timeoutMs: 1500 });
  t.match(timedOut, { timedOut: true, aborted: false, signal: 'SIGKILL' });
  t.equal(timedOut.stdout.bytes.toString(), 'ready\n');
  const controller = new AbortController();
  void instant(300).then(() => controller.abort());
  t.match(await spawnProcess({ ...shell(script), processGroup: true, signal: controller.signal }), {
    timedOut: false,
    aborted: true,
  });
  t.match(await spawnProcess({ ...shell('exit 0'), signal: controller.signal }), { aborted: true });
  t.strictSame(processesWith(asleep), []);
});

t.test('termination is retried until the process has gone', async (t) => {
  const controller = new AbortController();
  let tries = 0;
  const running = spawnProcess({
    ...shell('echo up; sleep 20'),
    processGroup: true,
    signal: controller.signal,
    terminate(pid) {
      tries += 1;
      if (tries > 2) process.kill(-pid, 'SIGKILL');
    },
  });
  await instant(100);
  controller.abort();
  const { aborted, durationMs } = await running;
  t.equal(aborted, true);
  t.equal(tries, 3);
  t.ok(durationMs < 15_000, `${durationMs} ms`);
});

t.test('a command that is aborted before it announces itself never begins', async (t) => {
  const controller = new AbortController();
  const running = spawnProcess({
    ...shell('sleep 0.5; echo >&3 && read -r answer <&3 || exit 1; echo began'),
    announces: true,
    signal: controller.signal,
    // As where it has been started by one that was killed meanwhile.
    terminate: () => {},
  });
  await instant(50);
  controller.abort();
  const { aborted, announced, stdout } = await running;
  t.match({ aborted, announced }, { aborted: true, announced: false });
  t.equal(stdout.bytes.toString(), '');
});

t.test('processes left in the group after the leader exited are ended', async (t) => {
  const asleep = uniqueSleep();
  const result = await spawnProcess({ ...shell(`sleep ${asleep} & exit 2`), processGroup: true });
  t.equal(result.exitCode, 2);
  t.equal(result.timedOut, false);
  t.strictSame(processesWith(asleep), []);
});

t.test('output that a descendant holds open does not delay the end of a process', async (t) => {
  const asleep = uniqueSleep();
  const up = path.join(t.testdir(), 'up');
  const result = await spawnProcess({
    ...shell(
      `setsid sh -c "echo up; : > '${up}'; exec sleep ${asleep}" & while [ ! -e '${up}' ]; do sleep 0.01; done; echo done`,
    ),
    processGroup: true,
    timeoutMs: 20_000,
  });
  for (const pid of processesWith(asleep)) process.kill(pid, 'SIGKILL');
  t.match(result, { exitCode: 0, timedOut: false });
  t.equal(result.stdout.bytes.toString(), 'up\ndone\n');
});

t.test('a program that cannot be started is SPAWN_FAILED and is named', async (t) => {
  const missing = { code: 'SPAWN_FAILED', detail: { program: 'writ-no-such', errno: 'ENOENT' } };
  const options = { cwd: '/', env, maxBytes: 10 };
  await t.rejects(spawnProcess({ ...shell(''), argv: ['writ-no-such'] }), missing);
  await t.rejects(execFileBounded(['writ-no-such'], options), missing);
  await t.rejects(startProcess(['writ-no-such'], options).exited, missing);
  await t.rejects(spawnProcess({ ...shell(''), cwd: '/writ/nowhere' }), { code: 'SPAWN_FAILED' });
  await t.rejects(spawnProcess({ ...shell(''), argv: [] }), { code: 'SPAWN_FAILED' });
  await t.rejects(execFileBounded(['echo', 'a\0b'], options), { code: 'SPAWN_FAILED' });
});

t.test('execFileBounded returns the whole output or fails', async (t) => {
  const options = { cwd: '/', env, maxBytes: 10 };
  t.match(await execFileBounded(['printf', '0123456789'], options), {
    code: 0,
    stdout: Buffer.from('0123456789'),
  });
  await t.rejects(execFileBounded(['printf', '0123456789x'], options), {
    code: 'OUTPUT_TOO_LARGE',
    detail: { maxBytes: 10 },
  });
  t.equal((await execFileBounded(['cat'], { ...options, input: 'abc' })).stdout.toString(), 'abc');
  const failed = await execFileBounded(['sh', '-c', 'echo why >&2; kill -KILL $$'], options);
  t.strictSame([failed.code, failed.stderr.toString()], [137, 'why\n']);
  const controller = new AbortController();
  const reason = new Error('enough');
  void instant(100).then(() => controller.abort(reason));
  await t.rejects(
    execFileBounded(['sleep', uniqueSleep()], { ...options, signal: controller.signal }),
    reason,
  );
  await t.rejects(execFileBounded(['true'], { ...options, signal: controller.signal }), reason);
});

t.test('a started process can be written to and read from until it ends', async (t) => {
  const cat = startProcess(['cat'], { cwd: '/', env });
  cat.stdin.write('one');
  t.equal(String((await once(cat.stdout, 'data'))[0]), 'one');
  cat.stdin.end();
  t.match(await cat.exited, { code: 0 });
  const stuck = startProcess(['sh', '-c', 'echo bad >&2; exec sleep 1000'], { cwd: '/', env });
  stuck.stdout.resume();
  stuck.kill();
  t.equal((await stuck.exited).code, 137);
  stuck.stdin.write('lost');
  const controller = new AbortController();
  const aborted = startProcess(['cat'], { cwd: '/', env, signal: controller.signal });
  aborted.stdout.resume();
  controller.abort();
  t.equal((await aborted.exited).code, 137);
});

t.test('a slow reader of a started process loses no output', async (t) => {
  for (const size of [20_000, 2_000_000]) {
    const started = startProcess(['head', '-c', String(size), '/dev/zero'], { cwd: '/', env });
    // Longer than output is waited for when a process has ended.
    await lookOn(900);
    let bytes = 0;
    for await (const chunk of started.stdout) bytes += (chunk as Buffer).length;
    t.equal(bytes, size);
    t.match(await started.exited, { code: 0 });
  }
});

t.test(
  'files that the parent process left open do not reach a process',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const file = path.join(t.testdir(), 'parents-file');
    writeFileSync(file, '');
    const module = new URL('../../../workspace/process/spawn.ts', import.meta.url).href;
    const script = `
    const { spawnProcess } = await import(${JSON.stringify(module)});
    const of = (announces) => spawnProcess({ argv: ['/bin/bash', '-c', 'echo leak >&3; echo leak >&9; echo leak >&40'], cwd: '/',
      env: ${JSON.stringify(env)}, maxOutputBytes: 1000, announces });
    await of(false);
    console.log((await of(true)).announced);`;
    const launch = 'exec "$0" --input-type=module -e "$1" 3>>"$2" 9>>"$2" 40>>"$2"';
    const child = spawn('/bin/bash', ['-c', launch, process.execPath, script, file], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [chunk] = await once(child.stdout, 'data');
    await once(child, 'close');
    t.equal(String(chunk), 'true\n', 'the announcement takes the place of an inherited descriptor 3');
    t.equal(readFileSync(file, 'utf8'), '');
  },
);

t.test('running processes are ended when the parent exits', async (t) => {
  const asleep = uniqueSleep();
  const module = new URL('../../../workspace/process/spawn.ts', import.meta.url).href;
  const script = `
    const { spawnProcess } = await import(${JSON.stringify(module)});
    spawnProcess({ argv: ['/bin/sh', '-c', 'sleep ${asleep} & echo up; wait'], cwd: '/', env: ${JSON.stringify(env)}, maxOutputBytes: 9, processGroup: true });
    setTimeout(() => process.exit(0), 300);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' });
  await once(child, 'exit');
  await endOf(asleep);
  t.strictSame(processesWith(asleep), []);
});
