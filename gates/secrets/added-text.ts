import type { PatchFile } from '../../core/contract/patch-set.ts';
import type { RuleInput } from '../../core/contract/rule.ts';
import { hunkLines } from '../../core/patch/hunk-lines.ts';

/** One added line: where it begins in the joined text, and its number in the candidate. */
export interface AddedLine {
  readonly at: number;
  readonly line: number;
}

export interface AddedText {
  /** Latin1: offsets are bytes. */
  readonly text: string;
  readonly lines: readonly AddedLine[];
}

/** Added lines one after the other, so that a key over several lines is whole; a NUL keeps lines apart that are no neighbours. */
export function addedText({ patch }: Pick<RuleInput, 'patch'>, file: PatchFile): AddedText {
  const diff = Buffer.from(patch.diff.buffer, patch.diff.byteOffset, patch.diff.byteLength);
  const parts: string[] = [];
  const lines: AddedLine[] = [];
  let length = 0;
  let previous = 0;
  for (const { kind, line, start, end } of hunkLines(patch.diff, file)) {
    if (kind !== 'added') continue;
    if (line !== previous + 1) {
      parts.push('\0\n');
      length += 2;
    }
    const part = `${diff.toString('latin1', start, end)}\n`;
    lines.push({ at: length, line });
    parts.push(part);
    length += part.length;
    previous = line;
  }
  return { text: parts.join(''), lines };
}
