/** What V8 says of one script: functions and the blocks in them, outer before inner. */
export interface ScriptCoverage {
  readonly url: string;
  readonly functions: readonly {
    readonly ranges: readonly {
      readonly startOffset: number;
      readonly endOffset: number;
      readonly count: number;
    }[];
  }[];
}

/** One octet for each character of a text: 1 where it ran. */
export function executedCharacters(length: number, { functions }: ScriptCoverage): Uint8Array {
  const ran = new Uint8Array(length);
  for (const { ranges } of functions)
    for (const { startOffset, endOffset, count } of ranges)
      ran.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  return ran;
}

/** Numbers of the lines of which a character ran that is no blank. */
export function executedLines(text: string, ran: Uint8Array): readonly number[] {
  const lines: number[] = [];
  let at = 0;
  for (const [index, line] of text.split('\n').entries()) {
    const from = at + (line.length - line.trimStart().length);
    const to = at + line.trimEnd().length;
    at += line.length + 1;
    if (from < to && ran.subarray(from, to).includes(1)) lines.push(index + 1);
  }
  return lines;
}
