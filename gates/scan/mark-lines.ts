/**
 * Four numbers for each line that begins with `@` or `d`, in order: where it begins, and how many lines before it begin
 * with `+`, with `-`, and with a blank or at once end. The last four say that of the end. The first line of all is no
 * line here.
 */
export type LineMarks = Uint32Array;

/** Reads every byte of a diff once. */
export function markLines(diff: Uint8Array): LineMarks {
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
