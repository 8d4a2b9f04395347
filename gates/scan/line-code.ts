import {
  add,
  again,
  and,
  block,
  type Code,
  compile,
  get,
  i32,
  increase,
  isBelow,
  isZero,
  leaveIf,
  list,
  loop,
  number,
  set,
  shiftLeft,
  shiftRight,
  store16,
  subtract,
  unsigned,
} from '../../readers/anchors/web-assembly-code.ts';

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
   * Writes four numbers of 16 bits for each line feed in the first `length` bytes that stands before `@` or `d`: its
   * offset, and how many feeds before it stand before `+`, before `-`, and before a blank or another feed; behind the
   * last one, all such counts. How many there are.
   */
  markLines(length: number): number;
}

// WebAssembly core specification 3.0, 5.4: what takes sixteen bytes at a time.
const v128 = 0x7b;
const simd = (code: number): Code => [0xfd, ...unsigned(code)];
const load128 = (offset: number): Code => [...simd(0), 0, ...unsigned(offset)];
const lowestBit = [0x68];
const countBits = [0x69];
const isSame = simd(0x23);
const bothOf = simd(0x4e);
const eitherOf = simd(0x50);
const bitOfEach = simd(0x64);
const inEach = (character: string): Code => [...number(character.charCodeAt(0)), ...simd(0x0f)];

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

/** The code with a memory of its own, or `undefined` where the processor cannot run it. */
export function createLineCode(): LineCode | undefined {
  const instance = compile({ pages, parameters: 1, body: code })?.();
  return instance && { memory: instance.memory, markLines: instance.call };
}
