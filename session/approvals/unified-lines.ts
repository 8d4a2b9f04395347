/** Lines that stay around what is changed. */
const around = 3;
/** Pairs of lines that are compared: beyond, what lies between the first and the last change is one change. */
const mostPairs = 1_000_000;

interface Step {
  readonly sign: ' ' | '-' | '+';
  readonly line: string;
}

/** What differs between two texts, as the hunks of a unified diff; nothing where nothing does. Pure. */
export function unifiedLines(before: string, after: string): readonly string[] {
  const steps = stepsOf(linesOf(before), linesOf(after));
  const lines: string[] = [];
  let [old, now, until] = [1, 1, 0];
  for (const [at, { sign, line }] of steps.entries()) {
    if (at >= until && steps.slice(at, at + around + 1).some((one) => one.sign !== ' ')) {
      until = endFrom(steps, at);
      const hunk = steps.slice(at, until);
      lines.push(`@@ -${range(hunk, '+', old)} +${range(hunk, '-', now)} @@`);
    }
    if (at < until) {
      lines.push(`${sign}${line.replace(/\n$/, '')}`);
      if (!line.endsWith('\n')) lines.push('\\ No newline at end of file');
    }
    if (sign !== '+') old += 1;
    if (sign !== '-') now += 1;
  }
  return lines;
}

/** With the end of each, by which the last one may differ alone. */
function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** The end of the hunk that begins there: as many lines as stay behind its last change. */
function endFrom(steps: readonly Step[], from: number): number {
  let end = from;
  for (let at = from; at < steps.length && at <= end + 2 * around; at += 1)
    if (steps[at]?.sign !== ' ') end = at;
  return Math.min(steps.length, end + around + 1);
}

/** Where a side of a hunk stands: a side without lines is behind the line before it. */
function range(hunk: readonly Step[], other: Step['sign'], from: number): string {
  const count = hunk.filter(({ sign }) => sign !== other).length;
  return `${count === 0 ? from - 1 : from},${count}`;
}

function stepsOf(before: readonly string[], after: readonly string[]): readonly Step[] {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < most - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const same = (lines: readonly string[]): readonly Step[] => lines.map((line) => ({ sign: ' ', line }));
  return [
    ...same(before.slice(0, head)),
    ...middle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...same(before.slice(before.length - tail)),
  ];
}

/** By a longest common subsequence. */
function middle(old: readonly string[], now: readonly string[]): readonly Step[] {
  const width = now.length + 1;
  const isShort = (old.length + 1) * width <= mostPairs;
  const lengths = new Uint32Array(isShort ? (old.length + 1) * width : 0);
  const length = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  if (isShort)
    for (let row = old.length - 1; row >= 0; row -= 1)
      for (let column = now.length - 1; column >= 0; column -= 1)
        lengths[row * width + column] =
          old[row] === now[column]
            ? length(row + 1, column + 1) + 1
            : Math.max(length(row + 1, column), length(row, column + 1));
  const steps: Step[] = [];
  let [row, column] = [0, 0];
  while (row < old.length || column < now.length) {
    const [gone = '', come = ''] = [old[row], now[column]];
    if (isShort && row < old.length && column < now.length && gone === come) {
      steps.push({ sign: ' ', line: gone });
      row += 1;
      column += 1;
    } else if (
      row < old.length &&
      (column >= now.length || !isShort || length(row + 1, column) >= length(row, column + 1))
    ) {
      steps.push({ sign: '-', line: gone });
      row += 1;
    } else {
      steps.push({ sign: '+', line: come });
      column += 1;
    }
  }
  return steps;
}
