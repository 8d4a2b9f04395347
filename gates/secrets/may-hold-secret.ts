import type { PatchFile, PatchSet } from '../../core/contract/patch-set.ts';
import type { AnchorTest } from '../../core/contract/rule.ts';
import { isSecretAt, reachOf } from '../../readers/sensitive/secrets/find-secrets.ts';
import { findSecretAnchors } from '../../readers/sensitive/secrets/secret-places.ts';
import { lineMarks } from '../source/line-marks.ts';

const plus = 43;
const minus = 45;
const space = 32;
const lineFeed = 10;
/** Text that is made of bytes at once, beyond what one anchor needs. */
const moreBytes = 1024;
/** Behind an anchor; when the lines of the base are longer, the file is a candidate. */
const maxBelowBytes = 8 * 1024;

/**
 * Whether a secret may begin at an offset of the diff that holds one of `secretAnchors`, on an added line or on a line
 * of context above one.
 */
export function secretTest(diff: PatchSet['diff'], file: PatchFile): AnchorTest {
  const markAt = lineMarks(diff, file);
  const buffer = Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength);
  let text = '';
  let from = file.start;
  let to = -1;
  return (offset) => {
    const mark = markAt(offset);
    if (mark !== plus && mark !== space) return false;
    const { before, behind } = reachOf(buffer.readInt32LE(offset));
    const first = Math.max(file.start, offset - before);
    const last = Math.min(file.end, offset + behind);
    // When the line is longer, its anchor is not at its end.
    const feed = buffer.subarray(offset, Math.min(last, offset + moreBytes)).indexOf(lineFeed) + offset;
    const goesOn = feed >= offset && feed + 1 < file.end;
    if (mark === space || (goesOn && buffer[feed + 1] === minus))
      return goesOn && mayGoOnBelow(buffer, { first, offset, feed, end: file.end }, behind, mark === plus);
    if (first < from || last > to) {
      from = first;
      // Anchors stand near each other.
      to = Math.min(file.end, last + moreBytes);
      text = buffer.toString('latin1', from, to);
    }
    const at = offset - from;
    return isSecretAt(text, at) || isSecretAt(text, at - 1);
  };
}

/**
 * Whether added lines of a file may hold a secret: anchors are looked for in the bytes of the diff as it is, so that
 * most files are neither cut into lines nor decoded. Says yes too often, never too rarely.
 */
export function mayHoldSecret({ diff }: Pick<PatchSet, 'diff'>, file: PatchFile): boolean {
  const test = secretTest(diff, file);
  let holds = false;
  findSecretAnchors(diff, file.start, file.end, (offset) => {
    holds = test(offset);
    return holds;
  });
  return holds;
}

/** The line of an anchor: what is read of it before the anchor, and where it ends. */
interface AnchorLine {
  readonly first: number;
  readonly offset: number;
  readonly feed: number;
  /** Where the file's part of the diff ends. */
  readonly end: number;
}

/** The same as `isSecretAt` for the candidate's text, when a line of the base is between the anchor and the value. */
function mayGoOnBelow(
  diff: Buffer,
  { first, offset, feed, end }: AnchorLine,
  behind: number,
  isAdded: boolean,
): boolean {
  const parts = [diff.toString('latin1', first, feed)];
  let hasAdded = isAdded;
  for (let start = feed + 1; start < end && start - offset < behind; ) {
    if (start - offset > maxBelowBytes) return true;
    const next = diff.indexOf(lineFeed, start);
    const to = next < 0 || next > end ? end : next;
    const mark = diff[start];
    if (mark === plus) hasAdded = true;
    else if (mark !== space && mark !== minus && start !== to) break;
    if (mark !== minus) parts.push(diff.toString('latin1', start + 1, Math.min(to, start + maxBelowBytes)));
    start = to + 1;
  }
  if (!hasAdded) return false;
  const text = parts.join('\n');
  const at = offset - first;
  return isSecretAt(text, at) || isSecretAt(text, at - 1);
}
