import { spawnSync } from 'node:child_process';
import { closeSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { launcher, openLauncher, syscallFilter } from '../../../plugins/sandbox/run-in-view.ts';

const here = launcher(process.arch);
const skip = process.platform !== 'linux' || here === undefined ? 'no launcher for this machine' : false;

t.test(
  'runs a command under seccomp with no new privileges and without extra descriptors',
  { skip },
  async (t) => {
    const file = path.join(t.testdir(), 'launcher');
    writeFileSync(file, here ?? '', { mode: 0o755 });
    const script =
      'grep -E "^(NoNewPrivs|Seccomp):" /proc/self/status; ls /proc/self/fd | wc -l; echo "$#/$2/$GIVEN"; exit 7';
    const argv = ['/bin/sh', '-c', script, 'sh', 'a', 'b c'];
    const ran = spawnSync(file, argv, {
      env: { PATH: process.env.PATH, GIVEN: 'kept' },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
    });
    t.equal(ran.stderr.toString(), '');
    // 0, 1, 2, what announces, and the directory that is listed.
    t.same(ran.stdout.toString().split('\n'), ['NoNewPrivs:\t1', 'Seccomp:\t2', '5', '2/b c/kept', '']);
    t.equal(ran.status, 7);
  },
);

t.test('exits with 126 when the program is missing or cannot be started', { skip }, async (t) => {
  const file = path.join(t.testdir(), 'launcher');
  writeFileSync(file, here ?? '', { mode: 0o755 });
  t.equal(spawnSync(file, ['/nowhere/at/all']).status, 126);
  t.equal(spawnSync(file, []).status, 126);
});

t.test('each supported architecture has its own launcher, and an unknown one has none', async (t) => {
  for (const [name, machine, firstCall] of [
    ['x64', 62, 'b89d000000bf26000000'],
    ['arm64', 183, 'c00480d2210080d2'],
  ] as const) {
    const program = launcher(name);
    if (program === undefined) throw new Error(name);
    const filter = syscallFilter(name) ?? Buffer.alloc(0);
    const [start, codeAt] = [program.readBigUInt64LE(24), 64 + 2 * 56];
    t.equal(program.readUInt16LE(18), machine);
    t.equal(start, BigInt(0x400000 + codeAt));
    t.equal(program.subarray(codeAt, codeAt + firstCall.length / 2).toString('hex'), firstCall);
    t.strictSame(program.subarray(-filter.length), filter);
    const describedAt = program.length - filter.length - 16;
    t.equal(program.readUInt16LE(describedAt), filter.length / 8);
    t.equal(program.readBigUInt64LE(describedAt + 8), BigInt(0x400000 + program.length - filter.length));
    t.equal(describedAt % 8, 0, 'the kernel reads it where it lies');
  }
  t.equal(launcher('riscv64'), undefined);
});

t.test('each reader gets the whole launcher program', { skip }, async (t) => {
  for (let i = 0; i < 2; i += 1) {
    const descriptor = openLauncher();
    t.strictSame(readFileSync(descriptor), here);
    closeSync(descriptor);
  }
});
