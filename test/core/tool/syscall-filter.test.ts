import { closeSync, readFileSync } from 'node:fs';
import t from 'tap';
import { openSyscallFilter, syscallFilter } from '../../../core/tool/sandbox/syscall-filter.ts';

/** What the kernel would do with a call: enough of classic BPF to run the programs that we write. */
function judge(program: Buffer, architecture: number, call: number): number {
  let loaded = 0;
  for (let at = 0; at < program.length / 8; at += 1) {
    const [code, k] = [program.readUInt16LE(at * 8), program.readUInt32LE(at * 8 + 4)];
    const jump = (taken: boolean): number => program.readUInt8(at * 8 + (taken ? 2 : 3));
    if (code === 0x20) loaded = k === 4 ? architecture : call;
    else if (code === 0x15) at += jump(loaded === k);
    else if (code === 0x35) at += jump(loaded >= k);
    else if (code === 0x06) return k;
    else throw new Error(`unknown instruction ${code}`);
  }
  throw new Error('fell off the end');
}
const [allowed, notPermitted, noSuchCall] = [0x7fff0000, 0x00050001, 0x00050026];

t.test(
  'keyring calls are refused, ordinary ones are not, and another table of calls does not exist',
  async (t) => {
    for (const [name, audit, keyctl, openat] of [
      ['x64', 0xc000003e, 250, 257],
      ['arm64', 0xc00000b7, 219, 56],
    ] as const) {
      const program = syscallFilter(name);
      if (program === undefined) throw new Error(name);
      t.equal(judge(program, audit, keyctl), notPermitted);
      t.equal(judge(program, audit, keyctl - 1), notPermitted, 'request_key');
      t.equal(judge(program, audit, openat), allowed);
      t.equal(judge(program, audit, 0), allowed);
      t.equal(judge(program, audit, 0x40000000 + keyctl), noSuchCall, 'x32');
      t.equal(judge(program, 0x40000003, 288), noSuchCall, 'i386');
    }
    t.equal(syscallFilter('riscv64'), undefined);
  },
);

t.test('each reader gets the whole filter', { skip: process.platform !== 'linux' }, async (t) => {
  const expected = syscallFilter(process.arch);
  for (let i = 0; i < 2; i += 1) {
    const descriptor = openSyscallFilter();
    if (descriptor === undefined) {
      t.equal(expected, undefined);
      return;
    }
    t.strictSame(readFileSync(descriptor), expected);
    closeSync(descriptor);
  }
});
