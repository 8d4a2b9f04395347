import t from 'tap';
import {
  absentCalls,
  argumentRules,
  refusedCalls,
  tracingCalls,
} from '../../../plugins/sandbox/refused-calls.ts';
import { syscallFilter } from '../../../plugins/sandbox/run-in-view.ts';
import { dangerousCalls } from '../../attack/confinement/probes.ts';

/** What the kernel would do with a call: enough of classic BPF to run the programs that we write. */
function judge(program: Buffer, architecture: number, call: number, words: readonly bigint[] = []): number {
  const word = (at: number): number => {
    if (at < 16) return at === 4 ? architecture : call;
    const wide = words[Math.floor((at - 16) / 8)] ?? 0n;
    return Number(((at - 16) % 8 === 0 ? wide : wide >> 32n) & 0xffffffffn);
  };
  let loaded = 0;
  for (let at = 0; at < program.length / 8; at += 1) {
    const [code, k] = [program.readUInt16LE(at * 8), program.readUInt32LE(at * 8 + 4)];
    const jump = (taken: boolean): number => program.readUInt8(at * 8 + (taken ? 2 : 3));
    if (code === 0x20) loaded = word(k);
    else if (code === 0x15) at += jump(loaded === k);
    else if (code === 0x25) at += jump(loaded > k);
    else if (code === 0x35) at += jump(loaded >= k);
    else if (code === 0x45) at += jump((loaded & k) !== 0);
    else if (code === 0x06) return k;
    else throw new Error(`unknown instruction ${code}`);
  }
  throw new Error('fell off the end');
}
const allowed = 0x7fff0000;
const errno = (number: number): number => 0x00050000 + number;
const [notPermitted, noSuchCall] = [errno(1), errno(38)];
const machines = [
  { name: 'x64', audit: 0xc000003e, of: 0 },
  { name: 'arm64', audit: 0xc00000b7, of: 1 },
] as const;

function filterOf(name: string, isUntraced = false): Buffer {
  const program = syscallFilter(name, isUntraced);
  if (program === undefined) throw new Error(name);
  return program;
}

t.test('refuses listed system calls, allows others and hides foreign call tables', async (t) => {
  for (const { name, audit, of } of machines) {
    const program = filterOf(name);
    for (const [call, numbers] of Object.entries({ ...refusedCalls, ...dangerousCalls }))
      t.equal(judge(program, audit, numbers[of]), notPermitted, `${name} ${call}`);
    for (const [call, numbers] of Object.entries(absentCalls))
      t.equal(judge(program, audit, numbers[of]), noSuchCall, `${name} ${call}`);
    const special = [...Object.values(refusedCalls), ...Object.values(absentCalls)].map((one) => one[of]);
    const judged = Object.values(argumentRules).map(({ call }) => call[of]);
    for (let call = 0; call < 600; call += 1) {
      if (!special.includes(call) && !judged.includes(call))
        t.equal(judge(program, audit, call), allowed, `${name} ${call}`);
    }
    const [keyctl, socket] = [refusedCalls.keyctl?.[of] ?? 0, argumentRules.socket?.call[of] ?? 0];
    t.equal(judge(program, audit, 0x40000000 + keyctl), noSuchCall, 'x32');
    t.equal(judge(program, audit, 0x40000000 + socket, [1n]), noSuchCall, 'x32');
    t.equal(judge(program, 0x40000003, 288), noSuchCall, 'i386');
  }
  t.equal(syscallFilter('riscv64'), undefined);
});

t.test('the untraced filter additionally refuses only calls that inspect other processes', async (t) => {
  t.strictSame(Object.keys(tracingCalls), ['ptrace', 'process_vm_readv', 'process_vm_writev', 'pidfd_getfd']);
  for (const { name, audit, of } of machines) {
    const [usual, untraced] = [filterOf(name), filterOf(name, true)];
    const tracing = Object.values(tracingCalls).map((one) => one[of]);
    for (let call = 0; call < 600; call += 1)
      t.equal(
        judge(untraced, audit, call),
        tracing.includes(call) ? notPermitted : judge(usual, audit, call),
        `${name} ${call}`,
      );
  }
});

t.test('refuses system calls by their arguments', async (t) => {
  const high = 1n << 32n;
  const rows: readonly [call: string, words: readonly bigint[], expected: number][] = [
    ['unshare', [0x200n], allowed],
    ['unshare', [0x10000000n], notPermitted],
    ['unshare', [0x80n], notPermitted],
    ['unshare', [0x200n | 0x40000000n], notPermitted],
    // A thread, a fork, and a fork whose signal shares a bit with the time namespace.
    ['clone', [0x3d0f00n], allowed],
    ['clone', [17n], allowed],
    ['clone', [0x80n], allowed],
    ['clone', [17n | 0x10000000n], notPermitted],
    ['clone', [17n | 0x20000n], notPermitted],
    ['ioctl', [0n, 0x5401n], allowed],
    ['ioctl', [0n, 0x5412n], notPermitted],
    ['ioctl', [0n, high | 0x5412n], notPermitted],
    ['ioctl', [0n, 0x541cn], notPermitted],
    ['ioctl', [0n, 0xc028660fn], notPermitted],
    ['ioctl', [0n, 0xc020f509n], notPermitted],
    ['ioctl', [0n, 0xc0286610n], allowed],
    ['ioctl', [0x5412n, 0x5401n], allowed],
    ['socket', [1n], allowed],
    ['socket', [2n], allowed],
    ['socket', [10n], allowed],
    ['socket', [16n], allowed],
    ['socket', [40n], errno(97)],
    ['socket', [high | 40n], errno(97)],
    ['socket', [17n], errno(97)],
    ['socketpair', [1n], allowed],
    ['socketpair', [30n], errno(97)],
    ['shmget', [0n, 262_144n], allowed],
    ['shmget', [0n, 262_145n], errno(28)],
    ['shmget', [0n, high], errno(28)],
    ['semget', [0n, 256n], allowed],
    ['semget', [0n, 257n], errno(28)],
    ['semget', [0n, 0xffffffffn], errno(28)],
  ];
  for (const { name, audit, of } of machines) {
    const program = filterOf(name);
    for (const [call, words, expected] of rows) {
      const number = argumentRules[call]?.call[of] ?? -1;
      t.equal(judge(program, audit, number, words), expected, `${name} ${call} ${words.join(' ')}`);
    }
  }
  t.strictSame([...new Set(rows.map(([call]) => call))].sort(), Object.keys(argumentRules).sort());
});
