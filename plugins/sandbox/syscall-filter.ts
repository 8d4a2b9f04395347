import { endianness } from 'node:os';
import {
  type ArgumentRule,
  absentCalls,
  argumentRules,
  type CallNumbers,
  refusedCalls,
  tracingCalls,
} from './refused-calls.ts';

/** Machines whose call numbers are known to us. */
export type KnownArchitecture = 'x64' | 'arm64';

const auditArchitecture = { x64: 0xc000003e, arm64: 0xc00000b7 };
const x32Bit = 0x40000000;
const [loadWord, jumpIfEqual, jumpIfAbove, jumpIfAtLeast, jumpIfAnyBit, give] = [
  0x20, 0x15, 0x25, 0x35, 0x45, 0x06,
];
/** Where a filter finds what it judges (struct seccomp_data). */
const [callAt, architectureAt, argumentsAt] = [0, 4, 16];
const allow = 0x7fff0000;
const refuseWith = (errno: number): number => 0x00050000 + errno;
const [eperm, enosys] = [1, 38];

type Instruction = readonly [code: number, k: number, ifTrue?: number, ifFalse?: number];

/** Whether calls can be filtered on this architecture. */
export function isKnownArchitecture(architecture: string): architecture is KnownArchitecture {
  return (architecture === 'x64' || architecture === 'arm64') && endianness() === 'LE';
}

/**
 * A classic BPF program (seccomp(2)) that refuses what `refused-calls.ts` lists, its tracing calls where it
 * `isUntraced`, and every call of another architecture's table with ENOSYS. `undefined` where the call numbers are not
 * known to us.
 */
export function syscallFilter(architecture: string, isUntraced = false): Buffer | undefined {
  if (!isKnownArchitecture(architecture)) return undefined;
  const numberOf = ([x64, arm64]: CallNumbers): number => (architecture === 'x64' ? x64 : arm64);
  const refuseCall = (call: CallNumbers, errno: number): readonly Instruction[] => [
    [jumpIfEqual, numberOf(call), 0, 1],
    [give, refuseWith(errno)],
  ];
  const program: Instruction[] = [
    [loadWord, architectureAt],
    [jumpIfEqual, auditArchitecture[architecture], 1, 0],
    [give, refuseWith(enosys)],
    [loadWord, callAt],
    [jumpIfAtLeast, x32Bit, 0, 1],
    [give, refuseWith(enosys)],
    ...Object.values(isUntraced ? { ...refusedCalls, ...tracingCalls } : refusedCalls).flatMap((call) =>
      refuseCall(call, eperm),
    ),
    ...Object.values(absentCalls).flatMap((call) => refuseCall(call, enosys)),
    ...Object.values(argumentRules).flatMap((rule) => {
      const judged = judgeArgument(rule);
      // Past the whole judgement: only its own call loads something else.
      return [[jumpIfEqual, numberOf(rule.call), 0, judged.length] as const, ...judged];
    }),
    [give, allow],
  ];
  return encode(program);
}

/** Loads the argument and ends the program either way. */
function judgeArgument({ argument, must, wide, errno }: ArgumentRule): readonly Instruction[] {
  const low = argumentsAt + 8 * argument;
  const refuse: Instruction = [give, refuseWith(errno)];
  const upper: readonly Instruction[] = wide ? [[loadWord, low + 4], [jumpIfEqual, 0, 1, 0], refuse] : [];
  return [...upper, [loadWord, low], ...testWord(must), refuse, [give, allow]];
}

/** Goes on at the next instruction (refused) or skips it (allowed). */
function testWord(must: ArgumentRule['must']): readonly Instruction[] {
  if ('noneOf' in must) return [[jumpIfAnyBit, must.noneOf, 0, 1]];
  if ('atMost' in must) return [[jumpIfAbove, must.atMost, 0, 1]];
  const values = 'not' in must ? must.not : must.oneOf;
  return values.map((value, index): Instruction => {
    const left = values.length - 1 - index;
    if ('oneOf' in must) return [jumpIfEqual, value, left + 1, 0];
    return [jumpIfEqual, value, left, left === 0 ? 1 : 0];
  });
}

function encode(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, k, ifTrue = 0, ifFalse = 0]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(k, index * 8 + 4);
  }
  return bytes;
}
