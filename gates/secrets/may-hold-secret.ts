import type { PatchFile, PatchSet } from '../../core/contract/patch-set.ts';
import type { AnchorTest } from '../../core/contract/rule.ts';
import { findSecrets, isSecretAt } from '../../readers/sensitive/secrets/find-secrets.ts';
import { lineMarks } from '../source/line-marks.ts';
import { type AddedLine, addedText } from './added-text.ts';

const plus = 43;
const minus = 45;
const space = 32;
const lineFeed = 10;

/**
 * Whether a secret may begin at an offset of the diff that holds one of `secretHeads`, on an added line or on a line of
 * context above one. Says yes too often, never too rarely.
 */
export function secretTest(diff: PatchSet['diff'], file: PatchFile): AnchorTest {
  const markAt = lineMarks(diff, file);
  const buffer = Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength);
  let text: string | undefined;
  let holds: boolean | undefined;
  return (offset) => {
    const mark = markAt(offset);
    if (mark !== plus && mark !== space) return false;
    const feed = buffer.indexOf(lineFeed, offset);
    // A line of the base is between the anchor and what may be its value: only the candidate's text tells.
    if (mark === space || (feed >= 0 && feed + 1 < file.end && buffer[feed + 1] === minus)) {
      holds ??= addsSecret(diff, file);
      return holds;
    }
    text ??= buffer.toString('latin1', file.start, file.end);
    return isSecretAt(text, offset - file.start);
  };
}

/** Whether anything that looks like a secret is on added lines. */
function addsSecret(diff: PatchSet['diff'], file: PatchFile): boolean {
  const added = addedText({ patch: { diff } }, file);
  if (added === undefined) return false;
  const { text, lines } = added;
  let index = 0;
  return findSecrets(Buffer.from(text, 'latin1'), text).some(({ start, end }) => {
    while ((lines[index + 1]?.at ?? Number.POSITIVE_INFINITY) <= start) index += 1;
    return touchesAdded(lines, index, end);
  });
}

/** Whether one of the lines from `index` to the offset `end` is added. */
export function touchesAdded(lines: readonly AddedLine[], index: number, end: number): boolean {
  for (let at = index; (lines[at]?.at ?? end) < end; at += 1) if (lines[at]?.isAdded) return true;
  return false;
}
