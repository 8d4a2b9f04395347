import { webAssembly } from '../../core/base/web-assembly.ts';

/** Where text lies in the memory of the code, and where what was found; in bytes. */
export const textAt = 0;
export const foundAt = 40_960;
/** Bytes that one call looks at, at most; seventeen more behind them are read. */
export const windowBytes = 32 * 1024;
const pages = 4;

/** A loop in WebAssembly over sixteen bytes of text at a time. */
export interface LineCode {
  readonly memory: ArrayBuffer;
  /**
   * Writes four numbers of 16 bits for each line feed in the first `length` bytes that stands before `@` or `d`: its offset, and how many feeds
   * before it stand before `+`, before `-`, and before a blank or another feed; behind the last one, all such counts. How many there are.
   */
  markLines(length: number): number;
}

type Code = readonly number[];

// WebAssembly core specification 3.0, 5.2 (values), 5.4 (instructions) and 5.5 (modules).
const unsigned = (value: number): Code =>
  value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)];
const signed = (value: number): Code =>
  value >= -64 && value < 64 ? [value & 127] : [(value & 127) | 128, ...signed(value >> 7)];
const sized = (code: Code): Code => [...unsigned(code.length), ...code];
const list = (...items: readonly Code[]): Code => [...unsigned(items.length), ...items.flat()];
const text = (name: string): Code => sized([...Buffer.from(name)]);
const i32 = 0x7f;
const v128 = 0x7b;
const get = (local: number): Code => [0x20, local];
const set = (local: number): Code => [0x21, local];
const number = (value: number): Code => [0x41, ...signed(value)];
const simd = (code: number): Code => [0xfd, ...unsigned(code)];
const store16 = (offset: number): Code => [0x3b, 0, ...unsigned(offset)];
const load128 = (offset: number): Code => [...simd(0), 0, ...unsigned(offset)];
const add = [0x6a];
const subtract = [0x6b];
const and = [0x71];
const shiftLeft = [0x74];
const shiftRight = [0x76];
const isBelow = [0x49];
const isZero = [0x45];
const lowestBit = [0x68];
const countBits = [0x69];
const isSame = simd(0x23);
const bothOf = simd(0x4e);
const eitherOf = simd(0x50);
const bitOfEach = simd(0x64);
const inEach = (character: string): Code => [...number(character.charCodeAt(0)), ...simd(0x0f)];
const loop = (...body: readonly Code[]): Code => [0x03, 0x40, ...body.flat(), 0x0b];
const block = (...body: readonly Code[]): Code => [0x02, 0x40, ...body.flat(), 0x0b];
const leaveIf = (depth: number): Code => [0x0d, depth];
const again: Code = [0x0c, 0];
const increase = (local: number, ...by: readonly Code[]): Code => [
  ...[...get(local), ...by.flat(), ...add, ...set(local)],
];

const code = ((): Code => {
  const [length, at, out, feeds, marks, below, plus, minus, same] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const [plusBits, minusBits, sameBits, isFeed, next] = [9, 10, 11, 12, 13];
  const isNext = (character: string): Code => [...get(next), ...inEach(character), ...isSame];
  const feedsBefore = (...test: readonly Code[]): Code => [
    ...[...get(isFeed), ...test.flat(), ...bothOf, ...bitOfEach],
  ];
  const counts = [
    [plus, plusBits],
    [minus, minusBits],
    [same, sameBits],
  ] as const;
  const forEveryMark = (...body: readonly Code[]): Code =>
    block(
      loop(
        [...get(marks), ...isZero, ...leaveIf(1)],
        ...body,
        [...get(marks), ...get(marks), ...number(1), ...subtract, ...and, ...set(marks)],
        again,
      ),
    );
  return [
    ...list([11, i32], [2, v128]),
    ...[...number(foundAt), ...set(out)],
    ...loop(
      block(
        [...get(at), ...load128(textAt), ...inEach('\n'), ...isSame, ...set(isFeed)],
        [...get(isFeed), ...bitOfEach, ...set(feeds), ...get(feeds), ...isZero, ...leaveIf(0)],
        [...get(at), ...load128(textAt + 1), ...set(next)],
        [...feedsBefore(isNext('+')), ...set(plusBits), ...feedsBefore(isNext('-')), ...set(minusBits)],
        [...feedsBefore(isNext(' '), isNext('\n'), eitherOf), ...set(sameBits)],
        [...feedsBefore(isNext('@'), isNext('d'), eitherOf), ...set(marks)],
        forEveryMark(
          [...get(marks), ...lowestBit, ...set(below)],
          [...get(out), ...get(at), ...get(below), ...add, ...store16(0)],
          [...number(1), ...get(below), ...shiftLeft, ...number(1), ...subtract, ...set(below)],
          ...counts.map(([count, bits], index) => [
            ...[...get(out), ...get(count), ...get(bits), ...get(below), ...and, ...countBits, ...add],
            ...store16(2 * index + 2),
          ]),
          increase(out, number(8)),
        ),
        ...counts.map(([count, bits]) => increase(count, get(bits), countBits)),
      ),
      increase(at, number(16)),
      [...get(at), ...get(length), ...isBelow, ...leaveIf(0)],
    ),
    ...counts.flatMap(([count], index) => [...get(out), ...get(count), ...store16(2 * index + 2)]),
    ...[...get(out), ...number(foundAt), ...subtract, ...number(3), ...shiftRight, 0x0b],
  ];
})();

const sections: readonly (readonly [id: number, code: Code])[] = [
  [1, list([0x60, ...list([i32]), ...list([i32])])],
  [3, list([0])],
  [5, list([1, ...unsigned(pages), ...unsigned(pages)])],
  [7, list([...text('memory'), 2, 0], [...text('markLines'), 0, 0])],
  [10, list(sized(code))],
];

/** The code with a memory of its own, or `undefined` where the processor cannot run it. */
export function createLineCode(): LineCode | undefined {
  const bytes = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...sections.flatMap(([id, part]) => [id, ...sized(part)])];
  try {
    const module = new webAssembly.Module(Uint8Array.from(bytes));
    const { memory, markLines } = new webAssembly.Instance(module).exports;
    return {
      memory: (memory as { readonly buffer: ArrayBuffer }).buffer,
      markLines: markLines as LineCode['markLines'],
    };
  } catch {
    return undefined;
  }
}
