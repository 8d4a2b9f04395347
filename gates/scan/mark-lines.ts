import { createLineCode, foundAt, type LineCode, textAt, windowBytes } from './line-code.ts';

/**
 * Four numbers for each line that begins with `@` or `d`, in order: where it begins, and how many lines before it begin
 * with `+`, with `-`, and with a blank or at once end. The last four say that of the end. The first line of all is no
 * line here.
 */
export type LineMarks = readonly number[];

let shared: LineCode | undefined | 'none';

/** Reads every byte of a diff once, sixteen at a time where the processor can. */
export function markLines(diff: Uint8Array): LineMarks {
  shared ??= createLineCode() ?? 'none';
  return shared === 'none' ? markPlainly(diff) : markByCode(diff, shared);
}

function markByCode(diff: Uint8Array, code: LineCode): LineMarks {
  const marks: number[] = [];
  const source = Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength);
  const target = Buffer.from(code.memory);
  const found = new Uint16Array(code.memory, foundAt);
  let [plus, minus, same] = [0, 0, 0];
  for (let from = 0; from < source.length; from += windowBytes) {
    const length = Math.min(windowBytes, source.length - from);
    // What a feed at the end stands before is decided by one byte more.
    const copied = source.copy(target, textAt, from, Math.min(source.length, from + length + 1));
    target.fill(0, textAt + copied, textAt + length + 32);
    const count = code.markLines(length);
    for (let at = 0; at < 4 * count; at += 4)
      marks.push(
        from + (found[at] as number) + 1,
        plus + (found[at + 1] as number),
        minus + (found[at + 2] as number),
        same + (found[at + 3] as number),
      );
    plus += found[4 * count + 1] as number;
    minus += found[4 * count + 2] as number;
    same += found[4 * count + 3] as number;
  }
  marks.push(source.length, plus, minus, same);
  return marks;
}

/** The same byte by byte, for processors without such instructions. */
export function markPlainly(diff: Uint8Array): LineMarks {
  const marks: number[] = [];
  let [plus, minus, same] = [0, 0, 0];
  for (let feed = diff.indexOf(10); feed >= 0; feed = diff.indexOf(10, feed + 1)) {
    const first = diff[feed + 1];
    if (first === 43) plus += 1;
    else if (first === 45) minus += 1;
    else if (first === 32 || first === 10) same += 1;
    else if (first === 64 || first === 100) marks.push(feed + 1, plus, minus, same);
  }
  marks.push(diff.length, plus, minus, same);
  return marks;
}
