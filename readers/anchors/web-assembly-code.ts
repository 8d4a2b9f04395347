import { webAssembly } from './web-assembly.ts';

/** Bytes of a module, an instruction or a part of one. */
export type Code = readonly number[];

// WebAssembly core specification 3.0, 5.2 (values), 5.4 (instructions) and 5.5 (modules).
export const unsigned = (value: number): Code =>
  value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)];
const signed = (value: number): Code =>
  value >= -64 && value < 64 ? [value & 127] : [(value & 127) | 128, ...signed(value >> 7)];
const sized = (code: Code): Code => [...unsigned(code.length), ...code];
export const list = (...items: readonly Code[]): Code => [...unsigned(items.length), ...items.flat()];
const text = (name: string): Code => sized([...Buffer.from(name)]);
export const i32 = 0x7f;
export const get = (local: number): Code => [0x20, local];
export const set = (local: number): Code => [0x21, local];
export const number = (value: number): Code => [0x41, ...signed(value)];
export const load32 = (offset: number): Code => [0x28, 0, ...unsigned(offset)];
export const store16 = (offset: number): Code => [0x3b, 0, ...unsigned(offset)];
export const multiply = [0x6c];
export const add = [0x6a];
export const subtract = [0x6b];
export const and = [0x71];
export const shiftLeft = [0x74];
export const shiftRight = [0x76];
export const isBelow = [0x49];
export const isZero = [0x45];
export const loop = (...body: readonly Code[]): Code => [0x03, 0x40, ...body.flat(), 0x0b];
export const block = (...body: readonly Code[]): Code => [0x02, 0x40, ...body.flat(), 0x0b];
export const leaveIf = (depth: number): Code => [0x0d, depth];
export const again: Code = [0x0c, 0];
export const increase = (local: number, ...by: readonly Code[]): Code => [
  ...[...get(local), ...by.flat(), ...add, ...set(local)],
];

/** A module of one function of 32-bit numbers, with a memory of its own. */
export interface CodeShape {
  readonly pages: number;
  readonly parameters: number;
  readonly body: Code;
}

/** The function with its memory; as often as it is called, each with another one. */
export type NewInstance = () => {
  readonly memory: ArrayBuffer;
  readonly call: (...values: number[]) => number;
};

/** Compiles a function; `undefined` where the processor cannot run it. */
export function compile({ pages, parameters, body }: CodeShape): NewInstance | undefined {
  const sections: readonly (readonly [id: number, code: Code])[] = [
    [1, list([0x60, ...list(...Array.from({ length: parameters }, () => [i32])), ...list([i32])])],
    [3, list([0])],
    [5, list([1, ...unsigned(pages), ...unsigned(pages)])],
    [7, list([...text('memory'), 2, 0], [...text('call'), 0, 0])],
    [10, list(sized(body))],
  ];
  const bytes = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...sections.flatMap(([id, part]) => [id, ...sized(part)])];
  try {
    const module = new webAssembly.Module(Uint8Array.from(bytes));
    return () => {
      const { memory, call } = new webAssembly.Instance(module).exports;
      return {
        memory: (memory as { readonly buffer: ArrayBuffer }).buffer,
        call: call as (...values: number[]) => number,
      };
    };
  } catch {
    return undefined;
  }
}
