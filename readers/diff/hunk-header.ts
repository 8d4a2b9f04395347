/** What the first line of a hunk says (git, unified diff): first line and number of lines on either side. */
export interface HunkHeader {
  readonly oldLine: number;
  readonly oldCount: number;
  readonly newLine: number;
  readonly newCount: number;
}

const pattern = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** Octets of a line in which its header stands: the same for every reader, or one would see a hunk that another does not. */
export const maxHunkHeaderBytes = 120;

/** The header at the beginning of `line`; `undefined` for any other line. A count that is left out is 1. */
export function readHunkHeader(line: string): HunkHeader | undefined {
  const found = pattern.exec(line);
  if (found === null) return undefined;
  const [, oldLine, oldCount = '1', newLine, newCount = '1'] = found;
  return {
    oldLine: Number(oldLine),
    oldCount: Number(oldCount),
    newLine: Number(newLine),
    newCount: Number(newCount),
  };
}
