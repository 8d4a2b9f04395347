import type { PatchFile } from '../../core/contract/patch-set.ts';
import type { RuleInput } from '../../core/contract/rule.ts';
import { hunkLines } from '../../readers/diff/hunk-lines.ts';
import { addedBinaryLines } from '../source/binary-text.ts';

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

/**
 * Added lines one after the other, so that a key over several lines is whole; a NUL keeps lines apart that are no
 * neighbours. `undefined` for a binary file of which the diff tells nothing.
 */
export function addedText({ patch }: Pick<RuleInput, 'patch'>, file: PatchFile): AddedText | undefined {
  const parts: string[] = [];
  const lines: AddedLine[] = [];
  let length = 0;
  let previous = 0;
  const add = (line: number, text: string): void => {
    if (line !== previous + 1) {
      parts.push('\0\n');
      length += 2;
    }
    lines.push({ at: length, line });
    parts.push(text, '\n');
    length += text.length + 1;
    previous = line;
  };
  if (file.binary) {
    const added = addedBinaryLines(patch.diff, file);
    if (added === undefined) return undefined;
    // A NUL within a word is no part of it: it is there so that the file is not read.
    for (const { line, bytes } of added) add(line, bytes.toString('latin1').replaceAll('\0', ''));
  } else {
    const diff = Buffer.from(patch.diff.buffer, patch.diff.byteOffset, patch.diff.byteLength);
    for (const { kind, line, start, end } of hunkLines(patch.diff, file))
      if (kind === 'added') add(line, diff.toString('latin1', start, end));
  }
  return { text: parts.join(''), lines };
}
