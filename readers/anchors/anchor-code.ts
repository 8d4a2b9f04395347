import {
  add,
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
  load32,
  loop,
  multiply,
  type NewInstance,
  number,
  set,
  shiftRight,
  store16,
} from './web-assembly-code.ts';

/** Bits of a filter, as a power of two. */
export const filterBits = 17;
/** Keys are spread over a filter by this factor (Knuth, 6.4). */
export const spread = 0x9e3779b1;
/** The same for a second filter, whose false alarms are others (the constants of xxHash). */
export const otherSpread = 0x85ebca77;
/** Where text lies in the memory of the code, behind the byte before it; bytes. */
export const textAt = 16;
/** Bytes that one call looks at, at most; three more behind them are read. */
export const windowBytes = 32 * 1024;
const filterBytes = 1 << (filterBits - 3);
/** Where the filters lie: of three bytes, and twice of four. */
export const threesAt = windowBytes + 1024;
export const foursAt = threesAt + filterBytes;
export const othersAt = foursAt + filterBytes;
/** Where the places lie that were found, 16 bits each. */
export const foundAt = othersAt + filterBytes;
const pages = Math.ceil((foundAt + 2 * windowBytes + 64) / 65_536);
/** Steps that are written out one after the other. */
const unrolled = 8;

/** One bit for each key that may stand: of three bytes, of four, and of four by `otherSpread`. */
export interface AnchorFilters {
  readonly threes: Int32Array;
  readonly fours: Int32Array;
  readonly others: Int32Array;
}

/** A loop in WebAssembly over two bytes of text at a time. */
export interface AnchorCode {
  readonly memory: ArrayBuffer;
  /**
   * Writes each place from -1 on at which every filter lets four bytes pass, plus one, in order; how many there are.
   * Every place before `length - 1` is looked at, and a few behind it.
   */
  findPlaces(length: number): number;
}

const code = ((): Code => {
  const [length, at, out, hash] = [0, 1, 2, 3];
  const bitOf = (filter: number): Code => [
    ...[...get(hash), ...number(32 - filterBits), ...shiftRight, ...set(hash)],
    ...[...get(hash), ...number(3), ...shiftRight, ...number(-4), ...and, ...load32(filter)],
    ...[...get(hash), ...shiftRight, ...number(1), ...and],
  ];
  const spreadBy = (factor: number): Code => [...number(factor | 0), ...multiply, ...set(hash)];
  const take = (place: number): Code =>
    block(
      [
        ...get(at),
        ...load32(textAt + place),
        ...spreadBy(spread),
        ...bitOf(foursAt),
        ...isZero,
        ...leaveIf(0),
      ],
      [...get(at), ...load32(textAt + place), ...spreadBy(otherSpread), ...bitOf(othersAt), ...isZero],
      leaveIf(0),
      [...get(out), ...get(at), ...number(place + 1), ...add, ...store16(foundAt)],
      increase(out, number(2)),
    );
  const step = (place: number): Code =>
    block(
      [...get(at), ...load32(textAt + place), ...number(0xffffff), ...and, ...spreadBy(spread)],
      [...bitOf(threesAt), ...isZero, ...leaveIf(0)],
      take(place - 1),
      take(place),
    );
  return [
    ...list([3, i32]),
    ...loop(
      ...Array.from({ length: unrolled }, (_, index) => step(2 * index)),
      increase(at, number(2 * unrolled)),
      [...get(at), ...get(length), ...isBelow, ...leaveIf(0)],
    ),
    ...[...get(out), ...number(1), ...shiftRight, 0x0b],
  ];
})();

let compiled: { readonly newInstance: NewInstance | undefined } | undefined;

/** The code with a memory of its own, or `undefined` where there is no WebAssembly. */
export function createAnchorCode({ threes, fours, others }: AnchorFilters): AnchorCode | undefined {
  compiled ??= { newInstance: compile({ pages, parameters: 1, body: code }) };
  const instance = compiled.newInstance?.();
  if (instance === undefined) return undefined;
  const { memory, call } = instance;
  new Int32Array(memory, threesAt, threes.length).set(threes);
  new Int32Array(memory, foursAt, fours.length).set(fours);
  new Int32Array(memory, othersAt, others.length).set(others);
  return { memory, findPlaces: call };
}
