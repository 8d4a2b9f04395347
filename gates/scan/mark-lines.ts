import { createLineCode, foundAt, type LineCode, textAt, windowBytes } from './line-code.ts';

/**
 * Four numbers for each line that begins with `@` or `d`, in order: where it begins, and how many lines before it begin
 * with `+`, with `-`, and with a blank or at once end. The last four say that of the end. The first line of all is no
 * line here.
 */
export type LineMarks = Uint32Array;

let shared: LineCode | undefined | 'none';

/** Reads every byte of a diff once, sixteen at a time where the processor can. */
export function markLines(diff: Uint8Array): LineMarks {
  shared ??= createLineCode() ?? 'none';
  return shared === 'none' ? markPlainly(diff) : markByCode(diff, shared);
}

function markByCode(diff: Uint8Array, code: LineCode): LineMarks {
  let marks = new Uint32Array(4096);
  let length = 0;
  const source = Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength);
  const target = Buffer.from(code.memory);
  const found = new Uint16Array(code.memory, foundAt);
  let [plus, minus, same] = [0, 0, 0];
  for (let from = 0; from < source.length; from += windowBytes) {
    const most = Math.min(windowBytes, source.length - from);
    // What a feed at the end stands before is decided by one byte more.
    const copied = source.copy(target, textAt, from, Math.min(source.length, from + most + 1));
    target.fill(0, textAt + copied, textAt + most + 32);
    const count = code.markLines(most);
    if (length + 4 * count + 4 > marks.length) {
      const larger = new Uint32Array(2 * (length + 4 * count + 4));
      larger.set(marks.subarray(0, length));
      marks = larger;
    }
    for (let at = 0; at < 4 * count; at += 4) {
      marks[length++] = from + (found[at] as number) + 1;
      marks[length++] = plus + (found[at + 1] as number);
      marks[length++] = minus + (found[at + 2] as number);
      marks[length++] = same + (found[at + 3] as number);
    }
    plus += found[4 * count + 1] as number;
    minus += found[4 * count + 2] as number;
    same += found[4 * count + 3] as number;
  }
  marks.set([source.length, plus, minus, same], length);
  return marks.subarray(0, length + 4);
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
  return Uint32Array.from(marks);
}
