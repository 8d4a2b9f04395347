import type { PatchFile } from '../../core/contract/patch-set.ts';
import type { RuleInput } from '../../core/contract/rule.ts';
import { hunkLines } from '../../readers/diff/hunk-lines.ts';
import { addedBinaryLines } from '../source/binary-text.ts';

/** One line of the joined text: where it begins there, and its number in the candidate. */
export interface AddedLine {
  readonly at: number;
  readonly line: number;
  /** False for a line of context, which may hold the name of an added value. */
  readonly isAdded: boolean;
}

export interface AddedText {
  /** Latin1: offsets are bytes. */
  readonly text: string;
  readonly lines: readonly AddedLine[];
}

/**
 * Added lines and the context around them, so that a key over several lines and a name above its value are whole. A NUL
 * separates lines that are not neighbours. `undefined` for a binary file whose content the diff does not hold.
 */
export function addedText({ patch }: Pick<RuleInput, 'patch'>, file: PatchFile): AddedText | undefined {
  const parts: string[] = [];
  const lines: AddedLine[] = [];
  let length = 0;
  let previous = 0;
  const add = (line: number, text: string, isAdded = true): void => {
    if (line !== previous + 1) {
      parts.push('\0\n');
      length += 2;
    }
    lines.push({ at: length, line, isAdded });
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
      if (kind !== 'removed') add(line, diff.toString('latin1', start, end), kind === 'added');
  }
  return { text: parts.join(''), lines };
}
